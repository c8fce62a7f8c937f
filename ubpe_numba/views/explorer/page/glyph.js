// A small picture of a token, as SVG: its samples as a line, its notes as dashes, of text and names a cell for each symbol, each in a
// colour of its own.

const svg = (name, attributes) => given(document.createElementNS("http://www.w3.org/2000/svg", name), attributes);
function picture(t, width, height) {
  const a = tokOff[t], n = A.toklen[t], box = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true", class: "glyph" }), heightsOf = Array.from({ length: n }, (_, i) => level(A.arena[a + i]));
  let low = Infinity, high = -Infinity;
  for (const v of heightsOf) { if (v < low) low = v; if (v > high) high = v; }
  const stroke = colourOf(t), Y = (v) => (high > low ? height - 3 - ((height - 6) * (v - low)) / (high - low) : height / 2);
  if (isTextual || isNotes) {
    const w = Math.min(width / n, isNotes ? 10 : 8);
    for (let i = 0; i < Math.min(n, width); i++) {
      const v = heightsOf[i], cell = isNotes ? { y: (Y(v) - 1.5).toFixed(1), height: 3, fill: stroke } : { y: 0, height, fill: palette.hues[(A.arena[a + i] * 5) % palette.hues.length] };
      if (v === v) box.append(svg("rect", { x: (i * w).toFixed(1), width: Math.max(1, w - 0.9).toFixed(1), ...cell }));
    }
    return box;
  }
  if (n === 1) {
    box.append(svg("circle", { cx: width / 2, cy: height / 2, r: 2.5, fill: stroke }));
    return box;
  }
  const step = Math.max(1, Math.floor(n / (2 * width))), points = [];
  for (let i = 0; i < n; i += step) points.push(`${((i * width) / (n - 1)).toFixed(1)},${Y(heightsOf[i]).toFixed(1)}`);
  box.append(svg("polyline", { points: points.join(" "), fill: "none", stroke, "stroke-width": 2, "stroke-linejoin": "round", "stroke-linecap": "round" }));
  return box;
}
