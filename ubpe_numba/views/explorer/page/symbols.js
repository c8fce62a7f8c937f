// Documents and tokens: where each begins, how high a symbol is drawn, and how it reads as text.

const N = meta.size, tokOff = offsetsOf(A.toklen);
const SYMBOL = 0, LEARNED = 1, SPECIAL = 2, GAP = 3;
const isTextual = meta.kind === "text" || meta.kind === "dna", isNotes = meta.kind === "notes";
const unit = meta.unit, units = (n) => `${format(n)} ${unit}${n === 1 ? "" : "s"}`;
const docAt = (x) => clamp(find(docOff, x), 0, D - 1);
const level = A.levels ? (v) => A.levels[v] : (v) => v;

// The documents that are drawn: S symbols of D documents, their numbers, and how many there are in all. How high every symbol is, and
// the lowest and highest of them.
let values, S, docOff, D, docid, total, heights, lowest, highest;
function setDocuments(given) {
  ({ values, docid, total } = given);
  S = values.length;
  D = given.doclen.length;
  docOff = offsetsOf(given.doclen);
  heights = A.levels ? Float64Array.from(values, level) : values;
  [lowest, highest] = [Infinity, -Infinity];
  for (const v of heights) {
    if (v < lowest) lowest = v;
    if (v > highest) highest = v;
  }
  if (!(lowest <= highest)) [lowest, highest] = [0, 1];
}
const OWN = { values: A.values, doclen: A.doclen, docid: A.docid, total: meta };
setDocuments(OWN);

const PITCHES = ["C", "C♯", "D", "D♯", "E", "F", "F♯", "G", "G♯", "A", "A♯", "B"];
const pitchName = (p) => (Number.isInteger(p) ? PITCHES[((p % 12) + 12) % 12] + (Math.floor(p / 12) - 1) : String(p));
const symbolName = (v) => meta.labels ? meta.labels[v] : isNotes ? pitchName(v) : String(v);

// Characters that cannot be seen, or that change how others are seen, are written as escapes.
const isStrange = (c) =>
  c < 32 || (c >= 127 && c < 160) || c === 0xad || (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
  (c >= 0x2060 && c <= 0x206f) || (c >= 0xd800 && c <= 0xdfff) || (c >= 0xfff0 && c <= 0xfffb) || c === 0xfeff || (c >= 0xe0000 && c <= 0xe0fff);
const hex = (c, n) => c.toString(16).padStart(n, "0");
const escaped = (c) => (c < 256 ? "\\x" + hex(c, 2) : c < 65536 ? "\\u" + hex(c, 4) : "\\U" + hex(c, 8));

// The character of well-formed UTF-8 at a: [code point, bytes], or null.
function characterAt(bytes, a, b) {
  const c = bytes[a];
  if (c < 0x80) return [c, 1];
  const n = c >= 0xc2 && c < 0xe0 ? 2 : c >= 0xe0 && c < 0xf0 ? 3 : c >= 0xf0 && c < 0xf5 ? 4 : 0;
  if (!n || a + n > b) return null;
  let point = c & (0xff >> (n + 1));
  for (let i = 1; i < n; i++) {
    if ((bytes[a + i] & 0xc0) !== 0x80) return null;
    point = (point << 6) | (bytes[a + i] & 0x3f);
  }
  if ((n === 3 && point < 0x800) || (n === 4 && (point < 0x10000 || point > 0x10ffff)) || (point >= 0xd800 && point <= 0xdfff)) return null;
  return [point, n];
}

// Calls see(text, isEscape, place) for every character of the symbols a..b-1 of an array; text is one character.
function characters(array, a, b, see) {
  if (meta.labels) {
    for (let i = a; i < b; i++) for (const ch of meta.labels[array[i]]) { const c = ch.codePointAt(0); see(isStrange(c) && c !== 10 ? escaped(c) : ch, isStrange(c) && c !== 10, i); }
    return;
  }
  for (let i = a; i < b;) {
    let c = array[i], n = 1, wrong = false;
    if (meta.utf8) {
      const found = c > 255 ? null : characterAt(array, i, b);
      if (found) [c, n] = found; else wrong = true;
    }
    if (!Number.isInteger(c) || c < 0 || c > 0x10ffff) see(`[${c}]`, true, i);
    else if (wrong || (isStrange(c) && c !== 10 && c !== 9)) see(escaped(c), true, i);
    else see(String.fromCodePoint(c), false, i);
    i += n;
  }
}

// The same for a part of a text, low..high-1: a character of which another part has the first bytes is "", one that ends in
// another part is whole. So text stays readable where tokens divide characters.
function wholeCharacters(array, a, b, low, high, see) {
  if (!meta.utf8 || meta.labels) { characters(array, a, b, see); return; }
  for (let s = a - 1; s >= Math.max(low, a - 3); s--) {
    const found = array[s] > 255 ? null : characterAt(array, s, high);
    if (!found || s + found[1] <= a || found[1] === 1) continue;
    see("", false, a);
    a = Math.min(b, s + found[1]);
    break;
  }
  while (a < b) {
    const found = array[a] > 255 ? null : characterAt(array, a, high), end = Math.min(b, a + (found ? found[1] : 1));
    characters(array, a, found ? a + found[1] : end, (text, isEscape) => see(text, isEscape, a));
    a = end;
  }
}

// The text of symbols for one line: what cannot be seen is marked. `ends`: spaces too, at both ends, and an accent without a letter.
const MARKS = { "\n": "⏎", "\t": "⇥" }, isSpace = (text) => /^\p{Zs}$/u.test(text);
const markOf = (space) => (space === " " ? "␣" : escaped(space.codePointAt(0)));
function lineOf(array, a, b, ends = false) {
  const out = [];
  characters(array, a, b, (text) => out.push(MARKS[text] ?? text));
  if (ends) {
    for (let i = 0; i < out.length && isSpace(out[i]); i++) out[i] = markOf(out[i]);
    for (let i = out.length - 1; i >= 0 && isSpace(out[i]); i--) out[i] = markOf(out[i]);
    if (/^\p{M}/u.test(out[0])) out[0] = "◌" + out[0];
  }
  return out.join("");
}

// The text of a token as a search sees it: with escapes if it looks for one.
const texts = [new Array(N), new Array(N)];
function textOf(t, withEscapes) {
  const known = texts[withEscapes ? 1 : 0];
  if (known[t] === undefined) {
    const out = [];
    characters(A.arena, tokOff[t], tokOff[t + 1], (text, isEscape) => out.push(isEscape && !withEscapes ? "\ufffd" : text));
    known[t] = out.join("");
  }
  return known[t];
}
const includes = (t, word) => textOf(t, word.includes("\\")).includes(word);
// The name of a token for people.
const MOST = 24;
function nameOf(t) {
  const a = tokOff[t], n = A.toklen[t];
  if (isTextual) return lineOf(A.arena, a, Math.min(a + n, a + 4 * MOST), true) + (n > 4 * MOST ? "…" : "");
  const some = Array.from(A.arena.subarray(a, a + Math.min(n, MOST)), symbolName).join(isNotes ? " " : ", ");
  return some + (n > MOST ? ", …" : "");
}

// Of signals and notes: how far up and down a token goes. Flat ones say little. Of text all are alike.
const spread = new Float64Array(N).fill(1);
if (!isTextual) {
  for (let t = 0; t < N; t++) {
    let a = Infinity, b = -Infinity;
    for (let i = tokOff[t]; i < tokOff[t + 1]; i++) {
      const v = level(A.arena[i]);
      if (v < a) a = v;
      if (v > b) b = v;
    }
    spread[t] = b > a ? b - a : 0;
  }
}
