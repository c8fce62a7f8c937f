// Texts that can be seen and whose contrast with their ground is too low: [text, ratio, colour, ground], the worst first.
() => {
  const parse = (css) => {
    const srgb = css.match(/^color\(srgb ([^)]*)\)$/);
    const numbers = (srgb ? srgb[1] : css).match(/[\d.]+/g).map(Number);
    const [r, g, b] = srgb ? numbers.slice(0, 3).map((x) => x * 255) : numbers;
    return [r, g, b, numbers.length > 3 ? numbers[3] : 1];
  };
  const over = ([r, g, b, a], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a), 1];
  const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((v) => ((v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const ground = (element) => {
    const layers = [];
    for (let e = element; e; e = e.parentElement) {
      const colour = parse(getComputedStyle(e).backgroundColor);
      if (colour[3] > 0) layers.push(colour);
      if (colour[3] === 1) break;
    }
    return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255, 1]);
  };
  const opacity = (element) => (element ? Number(getComputedStyle(element).opacity) * opacity(element.parentElement) : 1);
  const found = new Map();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let seen = 0;
  while (walker.nextNode()) {
    const text = walker.currentNode.data.trim();
    const element = walker.currentNode.parentElement;
    if (!text || element.closest("script, style, noscript, svg, .visually-hidden, .skip-to-content")) continue;
    if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const box = element.getBoundingClientRect();
    if (box.width < 2 || box.height < 2) continue;
    seen += 1;
    const style = getComputedStyle(element);
    const below = ground(element);
    const [r, g, blue, alpha] = parse(style.color);
    const [a, b] = [luminance(over([r, g, blue, alpha * opacity(element)], below)), luminance(below)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const key = `${style.color} on ${below.map(Math.round).slice(0, 3)}`;
    if (ratio < (large ? 3 : 4.5) && !found.has(key)) found.set(key, [text.slice(0, 40), Math.round(ratio * 100) / 100, key]);
  }
  return { seen, low: [...found.values()].sort((x, y) => x[1] - y[1]) };
}
