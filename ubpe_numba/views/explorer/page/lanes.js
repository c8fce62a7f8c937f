// The segmentations one below the other: of signals and notes aligned with the plot, of text the symbols around the chosen place.

const LANE = 26, LETTER = 11;

// The first and last symbol, and where on the canvas they are.
function laneFrame(width) {
  if (!isTextual) return { a: state.range[0], b: state.range[1], left: plotBox.left, width: plotBox.width };
  const left = 84, n = Math.max(8, Math.floor((width - left) / LETTER)), k = current();
  const middle = k >= 0 ? (state.cut.starts[k] + state.cut.ends[k]) / 2 : (state.range[0] + n / 2);
  const d = D ? docAt(Math.min(S - 1, middle)) : 0, from = docOff[d] ?? 0, to = docOff[d + 1] ?? 0;
  const a = Math.round(clamp(middle - n / 2, from, Math.max(from, to - n)));
  return { a, b: a + n, end: Math.min(a + n, to), left, width: n * LETTER };
}
function drawLanes() {
  const canvas = $("lanes"), [g, w] = prepared(canvas, cuts.length * LANE + 2), frame = laneFrame(w), { a, b, left, width } = frame;
  const X = (x) => left + ((x - a) * width) / (b - a || 1), found = [];
  g.textBaseline = "middle";
  for (const [j, cut] of cuts.entries()) {
    const y = j * LANE + 2, [i, k1] = between(cut, a, frame.end ?? b);
    g.font = FONT;
    g.textAlign = "right";
    g.fillStyle = cut === state.cut ? palette.ink : palette.dim;
    if (cut === state.cut) g.font = "bold " + FONT;
    g.fillText(cut.name, left - 8, y + 11, left - 10);
    g.save();
    g.beginPath();
    g.rect(left, y - 2, width, LANE);
    g.clip();
    g.textAlign = "center";
    let marked = 0;
    if (k1 - i > width) drawFarLane(g, cut, i, k1, left, width, X, y);
    else for (let k = i; k < k1; k++) marked += drawLaneToken(g, cut, k, X, y);
    if (k1 - i > width) { const all = occurrences(cut, state.token); marked = firstFrom(all, k1) - firstFrom(all, i); }
    if (hasLetters) drawLetters(g, a, frame.end, X, y);
    g.restore();
    found.push(marked);
  }
  $("lanestitle").textContent = (cuts.length > 1 ? "The same place, as each segmentation cuts it" : "The tokens here") + (!isTextual && !isNear() ? " · too many tokens to draw each: zoom in to see them" : "");
  canvas.dataset.marked = found.reduce((x, y) => x + y, 0);
  canvas.setAttribute("aria-label", `From ${whereOf(a)}: ` + cuts.map((cut, j) => { const [i, k] = between(cut, a, frame.end ?? b); return `${cut.name} ${format(k - i)} tokens, ${found[j]} of them the chosen one`; }).join("; "));
}
// Whether a symbol has room in its own width: names of several letters have not.
const hasLetters = isTextual && !(meta.labels ?? []).some((label) => label.trimEnd().length > 2);
// Too many tokens to draw each: only the occurrences of the chosen one.
function drawFarLane(g, cut, i, j, left, width, X, y) {
  g.fillStyle = palette.grid;
  g.fillRect(left, y, width, 22);
  g.fillStyle = palette.ink;
  const all = occurrences(cut, state.token);
  let before = -Infinity;
  for (let m = firstFrom(all, i); m < all.length && all[m] < j; m++) {
    const x = X(cut.starts[all[m]]);
    if (x - before >= 1) { g.fillRect(x, y, 1.5, 22); before = x; }
  }
}
function drawLaneToken(g, cut, k, X, y) {
  const t = cut.ids[k], x = X(cut.starts[k]), w = X(cut.ends[k]) - x, on = t === state.token, hue = hueAt(cut, k);
  g.fillStyle = colour(hue);
  g.globalAlpha = isTextual ? (hue < 0 ? 0.12 : on ? 0.6 : 0.3) : hue < 0 ? 0.3 : on ? 0.7 : 0.5;
  g.fillRect(x + 0.5, y, Math.max(0.7, w - 1), 22);
  g.globalAlpha = 1;
  if (on) {
    g.strokeStyle = palette.ink;
    g.lineWidth = 2;
    g.strokeRect(x + 1, y + 1, Math.max(1, w - 2), 20);
  }
  if (!hasLetters && w > 38 && hue >= 0) { g.font = FONT; g.fillStyle = palette.ink; g.fillText(t, x + w / 2, y + 12); }
  return on ? 1 : 0;
}
function drawLetters(g, a, b, X, y) {
  g.font = MONO;
  g.fillStyle = palette.ink;
  characters(values, a, b, (text, isEscape, place) => {
    if (isEscape) { g.globalAlpha = 0.6; g.fillText("·", X(place + 0.5), y + 12); g.globalAlpha = 1; }
    else if (text !== " ") g.fillText(MARKS[text] ?? text, X(place + 0.5), y + 12);
  });
}
function laneAt(event) {
  const canvas = $("lanes"), frame = laneFrame(canvas.clientWidth), cut = cuts[Math.floor(event.offsetY / LANE)];
  const x = frame.a + ((event.offsetX - frame.left) * (frame.b - frame.a)) / frame.width;
  return cut && x >= frame.a && x < frame.b ? [cut, tokenAt(cut, x)] : [null, -1];
}
function startLanes() {
  const canvas = $("lanes");
  canvas.onmousemove = (event) => { const [cut, k] = laneAt(event); if (cut) tipOf(event, cut, k); else hideTip(); };
  canvas.onmouseleave = hideTip;
  canvas.onclick = (event) => {
    const [cut, k] = laneAt(event);
    if (k < 0) return;
    if (cut !== state.cut) segmentation(cut.j);
    choose(cut.ids[k], k);
  };
}
