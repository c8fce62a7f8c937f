// Text and DNA: the symbols in view as elements, a colour behind each token. DNA stands in lines of one width, with its places.

let LINE = 80; // bases in a line, as many tens as there is room for
const BASE = 9.3; // pixels

function spanOf(cut, k, a, b, low, high) {
  const t = cut.ids[k], span = element("span", undefined, "tok", { "data-k": k });
  if (t === state.token) span.classList.add("on");
  if (k === current()) span.classList.add("here");
  const hue = hueAt(cut, k);
  if (hue >= 0) span.style.setProperty("--hue", `var(--hue${hue})`); else span.classList.add("single");
  putText(span, a, b, low, high);
  return span;
}
// Marks of line feeds and of the rests of characters are drawn by the style, so that copied text is the text.
function putText(box, a, b, low, high) {
  let text = "";
  const flush = () => { if (text) box.append(text); text = ""; };
  wholeCharacters(values, a, b, low, high, (character, isEscape) => {
    if (!isEscape && character !== "\n" && character) { text += character; return; }
    flush();
    box.append(isEscape ? element("i", character) : element("i", undefined, character ? "feed" : "rest"));
    if (character === "\n") text = "\n";
  });
  flush();
}
// The symbols a..b-1 of one document, tokens and what is between them.
function fillLine(box, cut, a, b, low, high) {
  let [k] = between(cut, a, b), at = a, marked = 0;
  while (at < b) {
    const from = k < cut.n ? cut.starts[k] : Infinity;
    if (from >= b) { putText(box, at, b, low, high); break; }
    if (from > at) putText(box, at, from, low, high);
    const start = Math.max(at, from), end = Math.min(b, cut.ends[k]);
    if (end > start) {
      box.append(spanOf(cut, k, start, end, low, high));
      if (cut.ids[k] === state.token && cut.starts[k] >= a) marked++;
      at = end;
    }
    if (cut.ends[k] > b) break;
    k++;
  }
  return marked;
}
// The part of the range that is there as text: elements of more would take too long, and of a range that has more than can be read a
// beginning is enough, which is drawn with every step of a zoom.
const MOST_TEXT = 4000, BEGINNING = 400;
const inText = () => { const [a, b] = [Math.floor(state.range[0]), Math.min(S, Math.ceil(state.range[1]))]; return [a, b - a > MOST_TEXT ? a + BEGINNING : b]; };
const textView = {
  start() {
    const box = $("plot");
    given(box, { class: "text " + meta.kind, tabindex: 0, role: "group" });
    box.onmousemove = (event) => {
      const span = event.target.closest(".tok");
      if (span) tipOf(event, state.cut, Number(span.dataset.k)); else hideTip();
    };
    box.onmouseleave = hideTip;
    box.onclick = (event) => {
      const span = event.target.closest(".tok");
      if (span && getSelection().isCollapsed) choose(state.cut.ids[span.dataset.k], Number(span.dataset.k));
    };
  },
  make() {
    if (meta.kind === "dna") LINE = clamp(Math.floor(($("plot").clientWidth - 120) / BASE / 10) * 10, 20, 120);
  },
  draw() {
    const [a, b] = inText(), cut = state.cut;
    const parts = [];
    let marked = 0;
    for (let d = docAt(a); d < D && docOff[d] < b; d++) {
      const from = Math.max(a, docOff[d]), to = Math.min(b, docOff[d + 1]);
      if (to <= from) continue;
      parts.push(element("div", `document ${docid[d]}` + (from > docOff[d] ? `, from ${unit} ${format(from - docOff[d])}` : ""), "dochead"));
      for (let at = from; at < to;) {
        const end = meta.kind === "dna" ? Math.min(to, docOff[d] + (Math.floor((at - docOff[d]) / LINE) + 1) * LINE) : to;
        const line = element("div", undefined, "line");
        if (meta.kind === "dna") line.dataset.place = format(at - docOff[d]);
        marked += fillLine(line, cut, at, end, docOff[d], docOff[d + 1]);
        parts.push(line);
        at = end;
      }
    }
    const box = $("plot");
    box.replaceChildren(...parts);
    box.dataset.marked = marked;
    const [i, j] = between(cut, a, b);
    box.setAttribute("aria-label", `${whereOf(a)} to ${whereOf(Math.max(a, b - 1))}: ${format(j - i)} tokens; ${format(marked)} occurrences of the chosen token are marked`);
    const here = box.querySelector(".here");
    if (here && shownFor !== current()) {
      shownFor = current();
      // the rectangle of its first line: its offsets are those in its own line, of DNA
      const top = here.getClientRects()[0].top - box.getBoundingClientRect().top;
      if (top < 0 || top > box.clientHeight - 40) box.scrollTop += top - 60;
    }
  },
  show(k) {
    const [a, b] = inText(), from = state.cut.starts[k], to = state.cut.ends[k];
    if (from >= a && to <= b) return;
    const begin = docOff[docAt(from)], column = (from - begin) % LINE, room = Math.max(0, b - a - (to - from));
    // as much before it as is wanted, of a narrow range as much as leaves the token in view
    const wanted = (meta.kind === "dna" ? [column + 2 * LINE, column] : [300]).find((n) => n <= room) ?? Math.floor(room / 2);
    const before = Math.max(begin, from - wanted);
    let start = before;
    if (meta.kind === "text") for (let i = from - 1; i > before; i--) if (values[i] === 10) { start = i + 1; break; }
    go(start, start + (b - a));
  },
  first() {
    return Math.min(S, Math.floor(($("plot").clientWidth - AXIS) / 9)); // so few that skyline and lanes have room for words
  },
};
let shownFor = -2;
const view = isTextual ? textView : plotView;
