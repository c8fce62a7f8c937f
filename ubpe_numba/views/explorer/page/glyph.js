// A small picture of a token, as SVG: its samples as a line, its notes as dashes, of text and names a cell for each symbol, each in a
// colour of its own.

const svg = (name, attributes) => given(document.createElementNS("http://www.w3.org/2000/svg", name), attributes);
function glyph(t, width, height) {
  const a = tokOff[t], n = A.toklen[t], box = svg("g", {});
  if (isTextual) {
    const w = Math.min(width / n, 8);
    for (let i = 0; i < Math.min(n, width); i++) box.append(svg("rect", { x: (i * w).toFixed(1), y: 0, width: Math.max(1, w - 0.8).toFixed(1), height, fill: palette.hues[(A.arena[a + i] * 5) % palette.hues.length] }));
    return box;
  }
  let low = Infinity, high = -Infinity;
  for (let i = 0; i < n; i++) {
    const v = level(A.arena[a + i]);
    if (v < low) low = v;
    if (v > high) high = v;
  }
  const stroke = colourOf(t), Y = (v) => (high > low ? height - 3 - ((height - 6) * (v - low)) / (high - low) : height / 2);
  if (!n || !(low <= high)) return box;
  if (isNotes) {
    const w = Math.min(width / n, 10);
    for (let i = 0; i < Math.min(n, width); i++) {
      const v = level(A.arena[a + i]);
      if (v === v) box.append(svg("rect", { x: (i * w).toFixed(1), y: (Y(v) - 1.5).toFixed(1), width: Math.max(1, w - 1).toFixed(1), height: 3, fill: stroke }));
    }
    return box;
  }
  if (n === 1) {
    box.append(svg("circle", { cx: width / 2, cy: height / 2, r: 2.5, fill: stroke }));
    return box;
  }
  const step = Math.max(1, Math.floor(n / (2 * width))), points = [];
  for (let i = 0; i < n; i += step) points.push(`${((i * width) / (n - 1)).toFixed(1)},${Y(level(A.arena[a + i])).toFixed(1)}`);
  box.append(svg("polyline", { points: points.join(" "), fill: "none", stroke, "stroke-width": 2, "stroke-linejoin": "round", "stroke-linecap": "round" }));
  return box;
}

function picture(t, width, height) {
  const made = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true", class: "glyph" });
  made.append(glyph(t, width, height));
  return made;
}
