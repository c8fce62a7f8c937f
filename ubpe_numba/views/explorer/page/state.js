// What is chosen and where the page looks; each change says what has to be drawn again.

const cuts = meta.cuts.map(({ name, tokens }, j) => {
  const [ids, per, gaps, widths, count, docs] = ["ids", "per", "gaps", "widths", "count", "docs"].map((part) => A[part + j]);
  return makeCut({ name, j, ids, per, gaps, widths, counted: { count, docs, tokens } });
});
const state = { cut: cuts[0], token: -1, at: 0, range: [0, 1], hover: -1 };
const chosen = () => occurrences(state.cut, state.token);
const current = () => chosen()[state.at] ?? -1;

// Everything that shows the range is drawn at the next frame, once for any number of changes before it.
let pending = 0;
function refresh() {
  if (!pending) pending = requestAnimationFrame(() => { pending = 0; drawRange(); });
}
function drawRange() {
  if (!isTextual) view.draw(); // first: lanes and skyline are below one another with the plot
  drawSky();
  drawOverview();
  drawLanes();
  if (isTextual) later(view.draw);
  later(tableInView);
  remember();
}
const tableInView = () => updateAlternative("alt-view");

// Text and tables, which a browser has to lay out, are drawn when nothing has changed for a moment: a zoom draws pictures at each step,
// these after the last. What comes after a pause is drawn at once.
const MOMENT = 120, put = new Set();
let putting = 0, changed = 0, wait = 0;
function later(...draws) {
  const now = performance.now();
  if (!put.size) wait = now - changed > 2 * MOMENT ? 0 : MOMENT;
  changed = now;
  for (const draw of draws) put.add(draw);
  document.body.ariaBusy = "true";
  clearTimeout(putting);
  putting = setTimeout(putNow, wait);
}
function putNow() {
  for (const draw of put) { put.delete(draw); draw(); }
  document.body.ariaBusy = "false";
}

function go(a, b) {
  const width = clamp(b - a, Math.min(S, 1), S);
  a = clamp(a, 0, Math.max(0, S - width));
  state.range = [a, a + width];
  refresh();
}
function zoom(factor, x = (state.range[0] + state.range[1]) / 2) {
  const [a, b] = state.range;
  go(x - (x - a) * factor, x + (b - x) * factor);
}
function move(part) {
  const [a, b] = state.range;
  go(a + part * (b - a), b + part * (b - a));
}

// Choose a token; `k` is the occurrence that was pointed at, without it the first is shown.
function choose(t, k = -1) {
  state.token = t;
  const all = chosen();
  state.at = k >= 0 ? Math.max(0, firstFrom(all, k)) : nearest(all);
  if (all.length) view.show(all[state.at]);
  refresh();
  drawRows();
  drawChosen();
}
// Of the occurrences the first in view, else the first of all.
function nearest(all) {
  const i = firstFrom(all, between(state.cut, ...state.range)[0]);
  return i < all.length && state.cut.ends[all[i]] <= state.range[1] ? i : 0;
}
function step(direction) {
  const n = chosen().length;
  if (!n) return;
  state.at = (state.at + direction + n) % n;
  view.show(current());
  refresh();
  drawStatus();
  markContext();
}
function drawChosen() {
  drawStatus();
  drawFacts();
  drawContext();
  drawTree();
  for (const name of ["alt-sky", "alt-context"]) updateAlternative(name);
}
function segmentation(j) {
  useCut(j);
  choose(state.token);
}
function useCut(j) {
  state.cut = cuts[j];
  for (const [i, button] of [...$("cuts").children].entries()) {
    given(button, { "aria-checked": i === j, tabindex: i === j ? 0 : -1 });
  }
  drawWhat();
  later(fillList, drawCharts);
}
