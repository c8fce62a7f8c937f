// The skyline: over each place the tokens that hold it, each from the size of the vocabulary at which it is made to the size at which
// a larger one takes it in. A level line is the encoding by the vocabulary of that size. By merge rank only, where tokens nest.

const SKY = 200, AXIS = 60, SMALL = "10px ui-monospace, monospace";
const sky = { full: null, size: LARGEST, sizes: [], rows: null, boxes: [] };
const isSky = () => Boolean(sky.full) && state.cut.j === sky.full.j;
// How far up a size is, 0 to 1; sizes are born ones, and one more is above all.
const up = (size) => Math.log(size / SMALLEST) / Math.log((LARGEST + 1) / SMALLEST);
// Where symbols are on the canvas: below one another with the plot, of text from the left.
const skyBox = (width) => (isTextual ? { left: AXIS, width: width - AXIS } : plotBox);

// Calls see(k, from, to) for the tokens over the middles of columns of the range, from..to - 1 of W: any number of symbols takes as long.
const columnOf = (x, W) => clamp(Math.ceil(((x - state.range[0]) * W) / (state.range[1] - state.range[0]) - 0.5), 0, W);
function columns(cut, W, see) {
  const [a, b] = state.range;
  for (let c = 0, end; c < W; c = end) {
    const k = tokenAt(cut, a + ((c + 0.5) * (b - a)) / W);
    end = k < 0 ? c + 1 : Math.max(c + 1, columnOf(cut.ends[k], W));
    if (k >= 0) see(k, c, end);
  }
}
// A name in the middle of a box, if it has room.
const widths = new Map();
function label(g, name, x, wide, y) {
  if (wide < 7) return;
  if (!widths.has(name)) widths.set(name, [...name].reduce((n, c) => n + (c > "\u2e80" ? 2 : 1), 0));
  if (widths.get(name) * 6 + 2 < wide) g.fillText(name, x + wide / 2, y);
}
// Of each column of pixels the tokens over its middle, as pixels: [W, H] of them.
function skyPixels(g, left, W, H, r) {
  const { ids, starts } = sky.full;
  const image = g.createImageData(W, H), pixels = new Uint32Array(image.data.buffer), rgba = new Map();
  const inks = (t) => {
    const key = t === state.token ? -2 : hueOf(t);
    if (!rgba.has(key)) {
      const [paper, ink, amount] = [palette.paper, key === -2 ? colourOf(t) : colour(key), key === -2 ? 0.75 : key < 0 ? 0.25 : 0.45];
      const [p, q] = [paper, ink].map((hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)));
      const [x, y, z] = p.map((v, i) => Math.round(v + (q[i] - v) * amount));
      rgba.set(key, (255 << 24) | (z << 16) | (y << 8) | x);
    }
    return rgba.get(key);
  };
  if (sky.rows?.H !== H) sky.rows = { H, of: Int16Array.from({ length: LARGEST + 2 }, (_, size) => (size <= SMALLEST ? H : Math.round(H * (1 - up(size))))) };
  const rows = sky.rows.of;
  sky.boxes = [];
  const fill = (t, s, from, to, top) => {
    for (;;) {
      const born = A.born[t], bottom = rows[born], wide = to - from, edge = wide >= 4 * r ? Math.round(r) : 0, cap = bottom - top >= 4 * r ? Math.round(r) : 0, ink = inks(t);
      for (let y = top + cap; y < bottom; y++) for (let p = y * W + from, last = y * W + to - edge; p < last; p++) pixels[p] = ink;
      if (wide >= 18 * r && bottom - top >= 12 * r) sky.boxes.push([t, left + from / r, top / r, wide / r, (bottom - top) / r]);
      if (!born) return;
      const middle = s + A.toklen[A.left[t]], split = clamp(columnOf(middle, W), from, to);
      if (from < split && split < to) { fill(A.left[t], s, from, split, bottom); [t, s, from] = [A.right[t], middle, split]; }
      else if (from < split) t = A.left[t];
      else [t, s] = [A.right[t], middle];
      top = bottom;
    }
  };
  columns(sky.full, W, (k, from, to) => fill(ids[k], starts[k], from, to, 0));
  g.putImageData(image, Math.round(left * r), 0);
}
function drawSky() {
  $("sky").hidden = !isSky();
  if (!isSky()) return;
  const [g, w] = prepared($("skyline"), SKY), r = devicePixelRatio || 1, { left, width } = skyBox(w);
  skyPixels(g, left, Math.max(1, Math.round(width * r)), Math.round(SKY * r), r);
  g.font = SMALL;
  g.textBaseline = "middle";
  g.textAlign = "center";
  g.fillStyle = palette.ink;
  if (isTextual || isNotes) for (const [t, x, y, wide, high] of sky.boxes) label(g, nameOf(t), x, wide, y + high / 2);
  // the axis, and the line of the size that is chosen
  g.font = FONT;
  g.textAlign = "right";
  const y = SKY * (1 - up(sky.size)), line = clamp(sky.size === LARGEST ? 1 : y, 1, SKY - 1);
  g.fillStyle = palette.dim;
  for (let size = SMALLEST, last = Infinity; size <= LARGEST; size = size === SMALLEST ? 2 ** Math.ceil(Math.log2(SMALLEST + 1)) : size * 2) {
    const at = clamp(SKY * (1 - up(size)), 8, SKY - 8);
    if (last - at >= 16 && Math.abs(at - clamp(line, 8, SKY - 8)) >= 15) { g.fillText(shortened(size), left - 6, at); last = at; }
  }
  g.fillStyle = palette.ink;
  g.fillText(shortened(sky.size), left - 6, clamp(line, 8, SKY - 8));
  g.fillRect(left - 4, line - 0.75, width + 4, 1.5);
  const [a, b] = state.range, [i, j] = between(state.cut, a, b), [p, q] = between(sky.full, a, b);
  $("skyline").dataset.size = sky.size;
  $("skyline").setAttribute("aria-label", `Skyline of ${whereOf(a)} to ${whereOf(Math.max(a, b - 1))}: ${format(Math.round(b - a))} ${unit}s are ${format(j - i)} tokens with a vocabulary of ${format(sky.size)}, and ${format(q - p)} with all ${format(LARGEST)}`);
  $("size").value = Math.max(0, firstFrom(sky.sizes, sky.size));
  const said = `${format(sky.size)} of ${format(LARGEST)}: ${format(state.cut.tokens)} tokens, ${state.cut.ratio.toFixed(2)} ${unit}s each`;
  $("size").setAttribute("aria-valuetext", said);
  $("sizeis").textContent = said;
}
// Everything that is shown by a vocabulary of another size; the page looks where it looked.
function resize(size) {
  size = clamp(Math.round(size), SMALLEST, LARGEST);
  if (!sky.full || (size === sky.size && isSky())) return;
  if (size !== sky.size) cuts[sky.full.j] = recut(sky.full, size);
  sky.size = size;
  useCut(sky.full.j);
  state.at = nearest(chosen());
  drawStatus();
  later(drawChosen);
  refresh();
}
// The tokens over a symbol, the largest first: [token, its first symbol, the size at which a larger one takes it in].
function over(x) {
  const k = tokenAt(sky.full, x), found = [];
  if (k < 0) return found;
  let t = sky.full.ids[k], s = sky.full.starts[k], until = LARGEST + 1;
  for (;;) {
    found.push([t, s, until]);
    if (!A.born[t]) return found;
    until = A.born[t];
    const middle = s + A.toklen[A.left[t]];
    if (x < middle) t = A.left[t]; else [t, s] = [A.right[t], middle];
  }
}
function skyAt(event) {
  const { left, width } = skyBox($("skyline").clientWidth), [a, b] = state.range;
  const x = a + ((event.offsetX - left) * (b - a)) / width, size = SMALLEST * ((LARGEST + 1) / SMALLEST) ** clamp(1 - event.offsetY / SKY, 0, 1);
  const found = over(x).find(([t]) => A.born[t] <= size);
  return { x, size: Math.floor(size), token: found ? found[0] : -1, start: found ? found[1] : 0, until: found ? found[2] : 0 };
}
function startSky() {
  if (!sky.full || LARGEST === SMALLEST) { sky.full = null; return; }
  sky.sizes = [...new Set(Array.from({ length: 1001 }, (_, i) => Math.round(SMALLEST * (LARGEST / SMALLEST) ** (i / 1000))))];
  const slider = $("size"), canvas = $("skyline");
  slider.max = sky.sizes.length - 1;
  let wanted = 0;
  slider.oninput = () => { if (!wanted) wanted = requestAnimationFrame(() => { wanted = 0; resize(sky.sizes[slider.value]); }); };
  let down = null;
  canvas.onpointerdown = (event) => { down = { x: event.clientX, range: [...state.range], moved: false }; canvas.setPointerCapture(event.pointerId); };
  canvas.onpointermove = (event) => {
    const { token, start, until } = skyAt(event);
    if (down && (down.moved ||= Math.abs(event.clientX - down.x) > 4)) {
      const [a, b] = down.range, d = ((down.x - event.clientX) * (b - a)) / skyBox(canvas.clientWidth).width;
      go(a + d, b + d);
    } else showTip(event, token, start, `from a vocabulary of ${format(A.born[token] || SMALLEST)}` + (until <= LARGEST ? ` to ${format(until - 1)}` : " on"));
  };
  canvas.onpointerup = (event) => {
    const was = down;
    down = null;
    if (!was || was.moved) return;
    const { x, size, token } = skyAt(event);
    if (token < 0) return;
    resize(size);
    choose(token, tokenAt(state.cut, x));
  };
  canvas.onpointercancel = () => { down = null; };
  canvas.onmouseleave = hideTip;
  canvas.addEventListener("wheel", (event) => { event.preventDefault(); zoom(event.deltaY > 0 ? 1.25 : 0.8, skyAt(event).x); }, { passive: false });
}
