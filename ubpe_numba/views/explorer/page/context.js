// The occurrences of the chosen token with what is around them: superposed, or of text a line each. Never beyond a document.

const MOST_LINES = 400, MOST_POINTS = 200_000, MOST_ROWS = 100, SIDE_LETTERS = 32;

// At most so many of the occurrences, at even distances.
function someOf(all, most) {
  if (all.length <= most) return Array.from(all);
  return Array.from({ length: most }, (_, i) => all[Math.floor((i * all.length) / most)]);
}
// The same, with one of them in any case.
const someWith = (k, all, most) => { const some = someOf(all, most); if (k >= 0 && !some.includes(k)) some[some.length - 1] = k; return some; };
function drawContext() {
  const box = $("context"), all = chosen(), t = state.token;
  $("contextinfo").textContent = t < 0 ? "" : !all.length ? (state.cut.count[t] ? "not in the documents that are drawn" : "") : isTextual ? rowsInfo(all) : "";
  if (!all.length) {
    box.replaceChildren(element("p", t < 0 ? "Choose a token in the table or in the documents." : state.cut.count[t] ? "It occurs in documents that are not drawn." : `By ${state.cut.name} it is never used here.`, "dim"));
    return;
  }
  if (isTextual) drawConcordance(box, all); else drawSuperposed(box, all);
}
const rowsInfo = (all) => (all.length > MOST_ROWS ? `${MOST_ROWS} of ${format(all.length)} places, at even distances` : `all ${format(all.length)} places`);

// A line for each occurrence: what is before, the token, what is after.
function drawConcordance(box, all) {
  const table = element("table", undefined, "concordance", { "aria-label": "Occurrences with what is before and after" }), cut = state.cut;
  for (const k of someOf(all, MOST_ROWS)) {
    const d = docAt(cut.starts[k]), a = cut.starts[k], b = cut.ends[k], row = table.insertRow();
    row.dataset.k = k;
    row.tabIndex = 0;
    const before = lineOf(values, Math.max(docOff[d], a - SIDE_LETTERS), a), after = lineOf(values, b, Math.min(docOff[d + 1], b + SIDE_LETTERS));
    for (const [name, text] of [["before", before], ["match", lineOf(values, a, Math.min(b, a + 80)) + (b > a + 80 ? "…" : "")], ["after", after]]) {
      const cell = row.insertCell();
      cell.className = name;
      cell.append(element("bdi", text));
    }
  }
  table.onclick = (event) => jumpTo(event.target.closest("tr"));
  table.onkeydown = (event) => { if (event.key === "Enter") jumpTo(event.target.closest("tr")); };
  table.style.setProperty("--match", `${Math.min(24, nameOf(state.token).length) + 2}ch`);
  table.style.setProperty("--hue", colourOf(state.token));
  box.replaceChildren(table);
  markContext();
}
function jumpTo(row) {
  if (row) choose(state.token, Number(row.dataset.k));
}
function markContext() {
  if (!isTextual) { drawContext(); return; }
  for (const row of $("context").querySelectorAll("tr")) row.classList.toggle("on", Number(row.dataset.k) === current());
}

// Signals: the lines of all occurrences above one another, the token in its colour; notes likewise.
function drawSuperposed(box, all) {
  let canvas = box.querySelector("canvas");
  if (!canvas) {
    canvas = element("canvas", undefined, "", { role: "img" });
    box.replaceChildren(canvas);
  }
  const [g, w, h] = prepared(canvas, 220), n = A.toklen[state.token], side = isNotes ? Math.max(6, Math.round(n * 0.5)) : Math.max(14, Math.round(n * 0.8));
  // of long tokens fewer, so that there are not more points than can be drawn at once
  const cut = state.cut, some = someWith(current(), all, clamp(Math.floor(MOST_POINTS / (n + 2 * side)), 8, MOST_LINES)), X = (i) => ((i + side) * w) / (n + 2 * side);
  let low = Infinity, high = -Infinity;
  const parts = some.map((k) => {
    const d = docAt(cut.starts[k]), s = cut.starts[k];
    const part = [s, Math.max(docOff[d], s - side), Math.min(docOff[d + 1], s + n + side)];
    for (let x = part[1]; x < part[2]; x++) { const v = heights[x]; if (v < low) low = v; if (v > high) high = v; }
    return part;
  });
  const room = isNotes ? 1 : (high - low) * 0.05 + 0.01, Y = (v) => h - 10 - ((h - 20) * (v - low + room)) / (high - low + 2 * room || 1);
  g.fillStyle = palette.highlight;
  g.fillRect(X(0), 0, X(n) - X(0), h);
  g.lineJoin = g.lineCap = "round";
  g.globalAlpha = clamp(14 / some.length, 0.05, 0.7);
  g.strokeStyle = g.fillStyle = palette.grey;
  g.lineWidth = 1.3;
  const unitWidth = X(1) - X(0), note = Math.max(2, Math.abs(Y(0.4) - Y(-0.4)));
  const trace = (of, from, to, first) => { // of a line, or of notes
    g.beginPath();
    for (let x = from; x < to; x++) {
      const v = of(x);
      if (!isNotes) g.lineTo(X(x - first), Y(v)); else if (v === v) g.rect(X(x - first), Y(v) - note / 2, unitWidth * 0.9, note);
    }
    if (to - from === 1 && !isNotes) g.lineTo(X(from - first) + 2, Y(of(from)));
    if (isNotes) g.fill(); else g.stroke();
  };
  for (const [s, a, b] of parts) trace((x) => heights[x], a, b, s);
  // the place that is shown above, in ink
  const now = parts[some.indexOf(current())];
  g.globalAlpha = 1;
  g.strokeStyle = palette.ink;
  if (now && !isNotes) trace((x) => heights[x], now[1], now[2], now[0]);
  g.strokeStyle = g.fillStyle = hueOf(state.token) < 0 ? palette.ink : colourOf(state.token);
  g.lineWidth = 3.5;
  trace((i) => level(A.arena[tokOff[state.token] + i]), 0, n, 0);
  canvas.dataset.drawn = some.length;
  $("contextinfo").textContent = `${some.length < all.length ? format(some.length) + " of " : ""}${format(all.length)} places, one above the other, ${units(side)} on both sides`;
  canvas.setAttribute("aria-label", `${format(some.length)} occurrences of token ${state.token} (${nameOf(state.token)}), one above the other, with up to ${units(side)} on both sides; never beyond their documents`);
}
