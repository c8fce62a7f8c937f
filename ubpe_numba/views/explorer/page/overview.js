// All drawn documents in a strip, with the occurrences of the chosen token and the part in view.

const HIGH = 56;
let strip = null; // of each pixel the lowest and highest: of a signal its samples, of text the lengths of tokens

// The lowest and the highest of the samples a..b - 1 in each of n parts.
function extremes(a, b, n) {
  const low = new Float64Array(n).fill(Infinity), high = new Float64Array(n).fill(-Infinity);
  for (let x = 0; x < n; x++) {
    const first = Math.floor(a + (x * (b - a)) / n), last = Math.min(S, Math.max(first + 1, Math.floor(a + ((x + 1) * (b - a)) / n)));
    let l = Infinity, h = -Infinity;
    for (let i = first; i < last; i++) { const v = heights[i]; if (v < l) l = v; if (v > h) h = v; }
    [low[x], high[x]] = [l, h];
  }
  return { low, high };
}
function makeStrip(width) {
  const of = isTextual ? state.cut : heights;
  if (strip && strip.width === width && strip.of === of) return strip;
  strip = { width, of, a: isTextual ? 0 : lowest, b: isTextual ? 0 : highest, ...extremes(0, isTextual ? 0 : S, width) };
  const { starts, ends, n } = state.cut;
  if (isTextual && n) for (let x = 0; x < width; x++) {
    const i = find(starts, (x * S) / width), j = find(starts, ((x + 1) * S) / width);
    strip.low[x] = 0;
    strip.high[x] = (ends[j] - starts[i]) / (j - i + 1);
    strip.b = Math.max(strip.b, strip.high[x]);
  }
  return strip;
}
function drawOverview() {
  const [g, width] = prepared($("overview").firstChild, HIGH);
  if (!S) return;
  const { low, high, a, b } = makeStrip(Math.round(width)), bottom = HIGH - 14;
  const Y = (v) => bottom - 2 - ((bottom - 6) * (v - a)) / (b - a || 1);
  g.fillStyle = palette.grey;
  g.globalAlpha = 0.75;
  for (let x = 0; x < low.length; x++) if (low[x] <= high[x]) g.fillRect(x, Y(high[x]), 1, Math.max(1, Y(low[x]) - Y(high[x])));
  g.globalAlpha = 1;
  if (state.token >= 0) {
    g.fillStyle = hueOf(state.token) < 0 ? palette.ink : colourOf(state.token);
    let last = -2;
    for (const k of chosen()) {
      const x = (state.cut.starts[k] * width) / S;
      if (x - last >= 1) { g.fillRect(x, bottom + 2, 1.5, 11); last = x; }
    }
  }
  const [from, to] = state.range, x = (from * width) / S, w = Math.max(3, ((to - from) * width) / S);
  g.fillStyle = palette.ink;
  g.globalAlpha = 0.1;
  g.fillRect(x, 0, w, HIGH);
  g.globalAlpha = 1;
  g.strokeStyle = palette.ink;
  g.lineWidth = 1.5;
  g.strokeRect(x + 0.75, 0.75, Math.max(1.5, w - 1.5), HIGH - 1.5);
  given($("overview"), { "aria-valuemax": Math.max(0, Math.round(S - (to - from))), "aria-valuenow": Math.round(from), "aria-valuetext": `${whereOf(from)} to ${whereOf(Math.max(from, to - 1))}` });
}
// A place in words.
function whereOf(x) {
  if (!D) return "no document";
  const d = docAt(Math.min(Math.floor(x), Math.max(0, S - 1)));
  return `document ${docid[d]}, ${unit} ${format(Math.floor(x) - docOff[d])}`;
}
function startOverview() {
  const box = $("overview"), jump = (event) => {
    const w = state.range[1] - state.range[0], x = ((event.clientX - box.getBoundingClientRect().left) / box.clientWidth) * S;
    go(x - w / 2, x + w / 2);
  };
  box.onpointerdown = (event) => { jump(event); box.setPointerCapture(event.pointerId); box.onpointermove = jump; };
  box.onpointerup = box.onpointercancel = () => { box.onpointermove = null; };
  box.onkeydown = (event) => {
    const to = { Home: 0, End: S }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    go(to, to + state.range[1] - state.range[0]);
  };
  $("in").onclick = () => zoom(0.5);
  $("out").onclick = () => zoom(2);
  $("all").onclick = () => go(0, S);
}
