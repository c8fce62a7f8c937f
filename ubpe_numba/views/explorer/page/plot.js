// Signals and notes: uPlot has the axes, the line from afar and the selection; tokens are drawn on it.

const TALL = isNotes ? 300 : 280;
const plotBox = { left: 50, width: 100 }; // of the area inside the axes, in pixels of the page
let plot = null;
// Few enough tokens in view to draw each of them.
const isNear = () => {
  const [i, j] = between(state.cut, ...state.range);
  return j - i < plotBox.width && state.range[1] - state.range[0] < 8 * plotBox.width;
};
// The line from afar: the lowest and the highest sample of every half pixel.
function lineFromAfar() {
  const [a, b] = state.range, n = Math.ceil(Math.min(2 * plotBox.width, b - a)), { low, high } = extremes(a, b, n), xs = [], ys = [];
  for (let i = 0; i < n; i++) {
    if (!(low[i] <= high[i])) continue;
    xs.push(a + ((i + 0.25) * (b - a)) / n, a + ((i + 0.75) * (b - a)) / n);
    ys.push(low[i], high[i]);
  }
  return [xs, ys];
}

const isKeyboard = isNotes && highest - lowest <= 256; // of symbols that are no pitches there would be too many keys
const isBlack = (p) => [1, 3, 6, 8, 10].includes(((p % 12) + 12) % 12);
function drawGround(u, left, top, width, height) {
  const g = u.ctx;
  if (isKeyboard) {
    g.fillStyle = palette.grid;
    g.globalAlpha = 0.4;
    for (let p = Math.floor(lowest) - 1; p <= highest + 1; p++) if (isBlack(p)) g.fillRect(left, u.valToPos(p + 0.5, "y", true), width, u.valToPos(p - 0.5, "y", true) - u.valToPos(p + 0.5, "y", true));
    g.globalAlpha = 1;
  }
  const [a, b] = state.range, d0 = docAt(a), d1 = Math.min(D - 1, docAt(b));
  if (d1 - d0 < width / 8) {
    g.strokeStyle = palette.dim;
    g.lineWidth = devicePixelRatio || 1;
    g.setLineDash([4, 4]);
    g.beginPath();
    for (let d = Math.max(1, d0); d <= d1; d++) { const x = u.valToPos(docOff[d], "x", true); g.moveTo(x, top); g.lineTo(x, top + height); }
    g.stroke();
    g.setLineDash([]);
  }
}
// The tokens i..j-1, those of a colour in one path.
function drawTokens(u, cut, i, j, top, height) {
  const g = u.ctx, r = devicePixelRatio || 1, X = (x) => u.valToPos(x, "x", true), Y = (v) => u.valToPos(v, "y", true);
  const paths = new Map(), pixel = X(1) - X(0), note = Math.abs(Y(0.42) - Y(-0.42)), mark = state.token;
  for (let k = i; k < j; k++) {
    const on = cut.ids[k] === mark || cut.ids[k] === state.hover, key = hueAt(cut, k) + (on ? 100 : 0);
    if (!paths.has(key)) paths.set(key, new Path2D());
    const path = paths.get(key), a = cut.starts[k], b = cut.ends[k];
    if (isNotes) {
      for (let x = a; x < b; x++) { const v = heights[x]; if (v === v) path.rect(X(x), Y(v) - note / 2, Math.max(r, pixel * (x === b - 1 ? 0.86 : 1.02)), note); }
      continue;
    }
    // up to the first sample of the next token, but never into the next document
    const last = Math.min(b, docOff[docAt(a) + 1] - 1, S - 1);
    path.moveTo(X(a), Y(heights[a]));
    if (last === a) path.lineTo(X(a) + r, Y(heights[a]));
    for (let x = a + 1; x <= last; x++) path.lineTo(X(x), Y(heights[x]));
  }
  g.lineJoin = g.lineCap = "round";
  for (const [key, path] of paths) {
    const on = key >= 50, hue = on ? key - 100 : key;
    g.globalAlpha = mark >= 0 && !on ? (isNotes ? 0.7 : 0.85) : 1;
    if (isNotes) { g.fillStyle = colour(hue); g.fill(path); continue; }
    g.strokeStyle = colour(hue);
    g.lineWidth = (on ? 3.8 : hue < 0 ? 1.5 : 2.5) * r;
    g.stroke(path);
  }
  g.globalAlpha = 1;
}
function drawOver(u) {
  const g = u.ctx, r = devicePixelRatio || 1, { left, top, width, height } = u.bbox, cut = state.cut, [a, b] = state.range;
  plotBox.left = left / r;
  plotBox.width = width / r;
  const X = (x) => u.valToPos(x, "x", true), [i, j] = between(cut, a, b), all = chosen(), near = isNear();
  g.save();
  g.beginPath();
  g.rect(left, top, width, height);
  g.clip();
  let marked = 0, before = -Infinity;
  for (let m = firstFrom(all, i); m < all.length && all[m] < j; m++) {
    const k = all[m], x = X(cut.starts[k]), w = X(cut.ends[k]) - x;
    marked++;
    if (x + w < before + 0.5) continue; // it would hide behind the one before
    before = x + w;
    g.fillStyle = palette.highlight;
    g.fillRect(x, top, Math.max(2 * r, w), height);
    g.fillStyle = hueOf(cut.ids[k]) < 0 ? palette.ink : colourOf(cut.ids[k]);
    g.fillRect(x, top + height - 5 * r, Math.max(1.5 * r, w), 5 * r);
    if (k === current()) { g.strokeStyle = palette.ink; g.lineWidth = 1.5 * r; g.strokeRect(x, top + r, Math.max(2 * r, w), height - 2 * r); }
  }
  drawGround(u, left, top, width, height);
  if (near) drawTokens(u, cut, i, j, top, height);
  g.restore();
  $("plot").dataset.marked = marked;
  const what = near ? `${format(j - i)} tokens in their colours` : `${format(j - i)} tokens, too many to draw each: zoom in`;
  $("plot").firstChild.setAttribute("aria-label", `${whereOf(a)} to ${whereOf(b - 1)}: ${what}; ${format(marked)} occurrences of the chosen token are marked`);
}

// Symbols as seconds, or minutes and seconds, with as many digits as tell the ticks apart.
const seconds = (x, step) => {
  const s = x / meta.rate, digits = clamp(Math.ceil(-Math.log10(step / meta.rate) - 1e-9), 0, 6);
  return s < 60 ? `${s.toFixed(digits)} s` : `${Math.floor(s / 60)}:${(s % 60).toFixed(digits).padStart(digits ? digits + 3 : 2, "0")}`;
};
// Ticks at round seconds.
function roundSeconds(u, _, a, b) {
  const least = (90 * (b - a)) / Math.max(90, u.bbox.width / (devicePixelRatio || 1)) / meta.rate, size = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((n) => n * size).find((n) => n >= least) * meta.rate, made = [];
  for (let x = Math.ceil(a / step) * step; x <= b; x += step) made.push(x);
  return made;
}
const axis = (more = {}) => ({
  stroke: palette.dim, grid: { stroke: palette.grid, width: 1 }, ticks: { stroke: palette.grid, width: 1 }, font: FONT, labelFont: FONT, ...more,
});
const plotView = {
  start() {
    $("plot").className = "plot";
  },
  make() {
    plot?.destroy();
    const pad = isNotes ? 1.5 : (highest - lowest) * 0.06 + 0.5;
    const x = axis({ size: 34 }), y = axis({ size: 54, grid: { stroke: palette.grid, width: isNotes ? 0 : 1 } });
    if (meta.rate) { x.splits = roundSeconds; x.values = (_, splits) => splits.map((s) => seconds(s, splits.length > 1 ? splits[1] - splits[0] : 1)); }
    if (isKeyboard) { y.splits = () => { const made = []; for (let p = Math.ceil(lowest / 12) * 12; p <= highest; p += 12) made.push(p); return made.length ? made : [lowest]; }; y.values = (_, splits) => splits.map(pitchName); }
    if (meta.base) y.label = "+ " + meta.base;
    plot = new uPlot({
      width: Math.max(200, $("plot").clientWidth), height: TALL, legend: { show: false },
      cursor: { drag: { x: true, y: false, setScale: false }, points: { show: false }, y: false, bind: { dblclick: () => () => go(0, S) } },
      scales: { x: { time: false, auto: false, min: 0, max: 1 }, y: { auto: false, range: [lowest - pad, highest + pad] } },
      axes: [x, y],
      series: [{}, { stroke: () => palette.grey, width: 1, points: { show: false } }],
      hooks: {
        draw: [drawOver],
        setSelect: [(u) => { if (u.select.width > 4) { go(u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x")); u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false); } }],
      },
    }, [[0, 1], [null, null]], $("plot"));
    plot.root.setAttribute("role", "img");
    const over = plot.over, at = (event) => tokenAt(state.cut, plot.posToVal(event.offsetX, "x"));
    over.onmousemove = (event) => tipOf(event, state.cut, at(event));
    over.onmouseleave = hideTip;
    let down = 0;
    over.addEventListener("mousedown", (event) => { down = event.clientX; });
    over.addEventListener("click", (event) => { const k = at(event); if (k >= 0 && Math.abs(event.clientX - down) < 4) choose(state.cut.ids[k], k); });
    over.addEventListener("wheel", (event) => { event.preventDefault(); zoom(event.deltaY > 0 ? 1.25 : 0.8, plot.posToVal(event.offsetX, "x")); }, { passive: false });
  },
  draw() {
    if (!plot) this.make();
    const [a, b] = state.range, line = isNear() ? [[a, b], [null, null]] : lineFromAfar();
    plot.batch(() => {
      plot.setData(line, false);
      plot.setScale("x", { min: a, max: b });
    });
  },
  // Bring a token into view.
  show(k) {
    const [a, b] = state.range, from = state.cut.starts[k], to = state.cut.ends[k], w = b - a;
    if (from < a || to > b) go((from + to - w) / 2, (from + to + w) / 2);
  },
  first() {
    return Math.min(S, isNotes ? 128 : Math.max(200, Math.round(75 * state.cut.ratio)));
  },
};
