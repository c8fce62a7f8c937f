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
    const note = document.createElement("p");
    note.className = "dim";
    note.textContent = t < 0 ? "Choose a token in the table or in the documents." : state.cut.count[t] ? "It occurs in documents that are not drawn." : `By ${state.cut.name} it is never used here.`;
    box.replaceChildren(note);
    return;
  }
  if (isTextual) drawConcordance(box, all); else drawSuperposed(box, all);
}
const rowsInfo = (all) => (all.length > MOST_ROWS ? `${MOST_ROWS} of ${format(all.length)} places, at even distances` : `all ${format(all.length)} places`);

// A line for each occurrence: what is before, the token, what is after.
function drawConcordance(box, all) {
  const table = document.createElement("table"), cut = state.cut;
  table.className = "concordance";
  table.setAttribute("aria-label", "Occurrences with what is before and after");
  for (const k of someOf(all, MOST_ROWS)) {
    const d = docAt(cut.starts[k]), a = cut.starts[k], b = cut.ends[k], row = table.insertRow();
    row.dataset.k = k;
    row.tabIndex = 0;
    const before = lineOf(values, Math.max(docOff[d], a - SIDE_LETTERS), a), after = lineOf(values, b, Math.min(docOff[d + 1], b + SIDE_LETTERS));
    for (const [name, text] of [["before", before], ["match", lineOf(values, a, Math.min(b, a + 80)) + (b > a + 80 ? "…" : "")], ["after", after]]) {
      const cell = row.insertCell(), words = document.createElement("bdi");
      cell.className = name;
      words.textContent = text;
      cell.append(words);
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
    canvas = document.createElement("canvas");
    canvas.setAttribute("role", "img");
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
  for (const [s, a, b] of parts) {
    g.beginPath();
    for (let x = a; x < b; x++) {
      if (!isNotes) g.lineTo(X(x - s), Y(heights[x]));
      else if (heights[x] === heights[x] && (x < s || x >= s + n)) g.rect(X(x - s), Y(heights[x]) - note / 2, unitWidth * 0.9, note);
    }
    if (isNotes) g.fill(); else g.stroke();
  }
  // the place that is shown above, in ink
  const now = parts[some.indexOf(current())];
  g.globalAlpha = 1;
  if (now && !isNotes) {
    g.strokeStyle = palette.ink;
    g.beginPath();
    for (let x = now[1]; x < now[2]; x++) g.lineTo(X(x - now[0]), Y(heights[x]));
    g.stroke();
  }
  const hue = colourOf(state.token);
  g.strokeStyle = g.fillStyle = hueOf(state.token) < 0 ? palette.ink : hue;
  g.lineWidth = 3.5;
  g.beginPath();
  for (let i = 0; i < n; i++) {
    const v = level(A.arena[tokOff[state.token] + i]);
    if (!isNotes) g.lineTo(X(i), Y(v)); else if (v === v) g.rect(X(i), Y(v) - note / 2, unitWidth * 0.9, note);
  }
  if (isNotes) g.fill(); else { if (n === 1) g.lineTo(X(0) + 2, Y(level(A.arena[tokOff[state.token]]))); g.stroke(); }
  canvas.dataset.drawn = some.length;
  $("contextinfo").textContent = `${some.length < all.length ? format(some.length) + " of " : ""}${format(all.length)} places, one above the other, ${units(side)} on both sides`;
  canvas.setAttribute("aria-label", `${format(some.length)} occurrences of token ${state.token} (${nameOf(state.token)}), one above the other, with up to ${units(side)} on both sides; never beyond their documents`);
}
