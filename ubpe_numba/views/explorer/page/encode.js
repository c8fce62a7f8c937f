// Documents that are typed, pasted or dropped, encoded here by the merges of the model. What cannot be computed here is said.

const TYPED = meta.typing; // of Python: how documents are read and cut, or why that is not done here
const MOST_BYTES = 10_000_000;
// The flags of the characters of a class: which of them are looked at, and what they are. A mark is of both cases, and no letter.
const FLAGS = { "\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}": [1, 1], "\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}": [2, 2], "\\p{L}": [4, 4], "\\p{M}": [7, 3], "\\p{N}": [8, 8], "\\s": [16, 16] };

// A pattern with the characters of each class written out, since versions of Unicode differ on what is a letter.
function patternOf(source) {
  const ranges = {}, point = (c) => `\\u{${c.toString(16)}}`;
  for (const [name, [seen, flags]] of Object.entries(FLAGS)) {
    let made = "", from = -1, at = 0;
    for (const [i, n] of A.classruns.entries()) {
      if ((A.classflags[i] & seen) === flags) { if (from < 0) from = at; } else if (from >= 0) { made += `${point(from)}-${point(at - 1)}`; from = -1; }
      at += n;
    }
    ranges[name] = made + (from >= 0 ? `${point(from)}-${point(0x10ffff)}` : "");
  }
  let inside = false, folded = false, out = ""; // both cases are written out too: Firefox 153 overlooks some of (?i:)?
  const rest = source.replaceAll("[\\s\\S]", "[^]");
  for (let i = 0; i < rest.length;) {
    const name = Object.keys(FLAGS).find((known) => rest.startsWith(known, i)), two = rest.slice(i, i + 2);
    if (rest.startsWith("(?i:", i)) { folded = true; out += "(?:"; i += 4; }
    else if (folded && /[a-z]/.test(rest[i])) { const both = rest[i] + rest[i].toUpperCase() + (rest[i] === "s" ? "\u017f" : ""); out += inside ? both : `[${both}]`; i++; }
    else if (name) { out += inside ? ranges[name] : `[${ranges[name]}]`; i += name.length; }
    else if (two === "\\S") { out += `[^${ranges["\\s"]}]`; i += 2; }
    else if (two[0] === "\\") { out += two; i += 2; }
    else { if (two[0] === "[") inside = true; if (two[0] === "]") inside = false; if (two[0] === ")") folded = false; out += two[0]; i++; }
  }
  return new RegExp(out, "gu");
}
function utf8(text) {
  const out = [];
  for (const ch of text) {
    const c = ch.codePointAt(0), more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3; // a lone surrogate as three bytes
    out.push(more ? ((0xff00 >> (more + 1)) & 0xff) | (c >> (6 * more)) : c);
    for (let i = more - 1; i >= 0; i--) out.push(0x80 | ((c >> (6 * i)) & 63));
  }
  return out;
}

const labelNumber = new Map(meta.labels?.map((label, i) => [TYPED.reads === "words" ? label.slice(0, -1) : label, i]));
const labelled = (name) => {
  const v = labelNumber.get(String(name));
  if (v === undefined) throw new Error(`“${name}” is not in the alphabet of the model`);
  return v;
};
const idOf = new Map(), pairs = new Map(); // of symbols as the page has them, and of two ids what they are merged to
function startEncoder() {
  for (let t = 0; t < N; t++) {
    if (A.kinds[t] === SYMBOL && A.toklen[t] === 1) idOf.set(A.arena[tokOff[t]], t);
    if (A.born[t]) pairs.set(A.left[t] * N + A.right[t], t);
  }
}
// By merge rank: of all pairs that are there that of the earliest merge, and of these the leftmost. O(n log n), by a heap.
function merged(ids) {
  const n = ids.length, next = new Int32Array(n + 1), previous = new Int32Array(n + 1), heap = new Float64Array(2 * n + 1);
  let size = 0;
  const add = (i) => {
    const t = next[i] < n ? pairs.get(ids[i] * N + ids[next[i]]) : undefined;
    if (t === undefined) return;
    const key = A.born[t] * n + i;
    let at = size++;
    for (let up; at && heap[(up = (at - 1) >> 1)] > key; at = up) heap[at] = heap[up];
    heap[at] = key;
  };
  const take = () => {
    const first = heap[0], last = heap[--size];
    let at = 0;
    for (let child; (child = 2 * at + 1) < size; at = child) {
      if (child + 1 < size && heap[child + 1] < heap[child]) child++;
      if (heap[child] >= last) break;
      heap[at] = heap[child];
    }
    heap[at] = last;
    return first;
  };
  for (let i = 0; i < n; i++) [next[i], previous[i]] = [i + 1, i - 1];
  for (let i = 0; i < n; i++) add(i);
  while (size) {
    const key = take(), born = Math.floor(key / n), i = key - born * n, j = next[i];
    // what the heap holds may have gone since
    if (ids[i] < 0 || j >= n) continue;
    const t = pairs.get(ids[i] * N + ids[j]);
    if (t === undefined || A.born[t] !== born) continue;
    ids[i] = t;
    ids[j] = -1;
    next[i] = next[j];
    if (next[i] < n) previous[next[i]] = i;
    add(i);
    if (previous[i] >= 0) add(previous[i]);
  }
  return ids.filter((t) => t >= 0);
}
const known = new Map(); // segments that were encoded
function idsOf(symbols, key) {
  const there = key !== undefined && known.get(key);
  if (there) return there;
  const ids = Int32Array.from(symbols, (v) => {
    const t = idOf.get(v);
    if (t === undefined) throw new Error(`${isTextual ? `“${lineOf([v], 0, 1)}”` : symbolName(v)} is not in the alphabet of the model`);
    return t;
  });
  const made = merged(ids);
  if (key !== undefined) { if (known.size > 100_000) known.clear(); known.set(key, made); }
  return made;
}
// The parts of a text between matches, and the matches: [text, whether it is one].
function* pieces(text, regex) {
  let at = 0;
  for (const { 0: match, index } of text.matchAll(regex)) {
    if (index > at) yield [text.slice(at, index), false];
    yield [match, true];
    at = index + match.length;
  }
  if (at < text.length) yield [text.slice(at), false];
}
// A document as the page has it: [symbols, ids]. Text, or an array of integers. Throws what is wrong with it.
function encoded(doc) {
  if (typeof doc !== "string") {
    const numbers = meta.labels ? Array.from(doc, labelled) : doc;
    return [numbers, idsOf(numbers)];
  }
  const read = { bytes: utf8, characters: (text) => Array.from(text, (c) => c.codePointAt(0)), letters: (text) => Array.from(text, labelled) }[TYPED.reads];
  const values = [], ids = [], put = (text, special) => {
    const symbols = read(text);
    for (const t of special === undefined ? idsOf(symbols, text.length < 64 ? text : undefined) : [special]) ids.push(t);
    for (const v of symbols) values.push(v);
  };
  const words = Object.keys(TYPED.special).sort((a, b) => b.length - a.length).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  for (const [part, isSpecial] of words.length ? pieces(doc, new RegExp(words.join("|"), "gu")) : [[doc, false]]) {
    if (isSpecial) put(part, TYPED.special[part]);
    else if (!TYPED.pattern) put(part);
    else for (const [segment] of pieces(part, (TYPED.regex ??= patternOf(TYPED.pattern)))) put(segment);
  }
  return [values, ids];
}

// What was typed as documents: text, words, or integers.
function documentsOf(text) {
  if (TYPED.reads === "words") return [text.split(/\s+/).filter(Boolean)];
  if (TYPED.reads !== "integers") return [text];
  return text.split(/\n/).map((line) => line.split(/[\s,;[\]]+/).filter(Boolean).map((word) => {
    if (!/^[-+]?\d+$/.test(word)) throw new Error(`${word}: expected integers; the model knows no other numbers: round them as its documents were`);
    return meta.labels ? word.replace("+", "") : Number(word);
  })).filter((line) => line.length);
}
// The rows of a NumPy array of integers, or the samples of a WAV file (16 bits, or 8): arrays of integers.
function fromArray(buffer) {
  const view = new DataView(buffer), long = view.getUint8(6) > 1, from = long ? 12 : 10, begin = from + (long ? view.getUint32(8, true) : view.getUint16(8, true));
  const head = new TextDecoder("latin1").decode(new Uint8Array(buffer, from, begin - from)), [, type] = /'descr': '([^']*)'/.exec(head) ?? [], shape = (/'shape': \(([^)]*)\)/.exec(head)?.[1] ?? "").split(",").filter((n) => n.trim()).map(Number);
  const kind = /^[<|]([iu])([1248])$/.exec(type ?? "");
  if (!kind || /'fortran_order': True/.test(head)) throw new Error(`an array of ${type}: expected integers, little-endian, in C order; round floats as the model's documents were`);
  const n = shape.reduce((a, b) => a * b, 1), bytes = buffer.slice(begin), name = kind[1] + kind[2];
  const all = name[1] === "8" ? Array.from(new (name[0] === "i" ? BigInt64Array : BigUint64Array)(bytes, 0, n), (v) => (meta.labels ? String(v) : Number(v))) : new TYPES[name](bytes, 0, n);
  const row = shape.length > 1 ? n / (shape[0] || 1) : n;
  return Array.from({ length: shape.length > 1 ? shape[0] : 1 }, (_, i) => all.slice(i * row, (i + 1) * row));
}
function fromSound(buffer) {
  const view = new DataView(buffer);
  let bits = 0, channels = 1;
  for (let at = 12; at + 8 <= buffer.byteLength;) {
    const name = view.getUint32(at), size = view.getUint32(at + 4, true);
    if (name === 0x666d7420) { channels = view.getUint16(at + 10, true); bits = view.getUint16(at + 8, true) === 1 ? view.getUint16(at + 22, true) : 0; }
    if (name === 0x64617461) {
      if (channels !== 1 || (bits !== 8 && bits !== 16)) throw new Error("a sound: expected one channel of 8 or 16 bits");
      const bytes = buffer.slice(at + 8, at + 8 + size - (size % (bits / 8)));
      return [bits === 16 ? new Int16Array(bytes) : new Uint8Array(bytes)];
    }
    at += 8 + size + (size % 2);
  }
  throw new Error("a sound without samples");
}
async function fromFile(file) {
  if (file.size > MOST_BYTES) throw new Error(`${file.name}: ${format(file.size)} bytes, expected at most ${format(MOST_BYTES)}`);
  const isNumbers = TYPED.reads === "integers";
  if (/\.(npy|wav)$/i.test(file.name)) {
    if (!isNumbers) throw new Error(`${file.name}: this model reads ${TYPED.reads === "words" ? "words" : "text"}`);
    const buffer = await file.arrayBuffer();
    return /\.npy$/i.test(file.name) ? fromArray(buffer) : fromSound(buffer);
  }
  return documentsOf(await file.text());
}

const ownCuts = [...cuts];
function showDocuments(given, cutsOf) {
  setDocuments(given);
  cuts.splice(0, cuts.length, ...cutsOf());
  sky.full = cuts.find((cut) => cut.name === "rank") ?? null;
  if (sky.size < LARGEST) cuts[sky.full.j] = recut(sky.full, sky.size);
  makeSegmentations();
  state.range = [0, Math.max(1, view.first())];
  state.cut = cuts[0];
  useCut(sky.full?.j ?? 0);
  putNow();
  state.token = chosen().length ? state.token : mostTelling();
  state.at = 0;
  paint();
}
function typed(text) {
  const info = $("typedinfo");
  try {
    if (text.length > MOST_BYTES) throw new Error(`expected at most ${format(MOST_BYTES)} characters`);
    showOwn(documentsOf(text));
    state.typed = text;
  } catch (error) { info.textContent = error.message; }
}
// Show documents, as `documentsOf` makes them, in the place of those of the report; without symbols these again.
function showOwn(docs) {
  const made = docs.map(encoded), ids = Int32Array.from(made.flatMap(([, ids]) => Array.from(ids)));
  const values = (meta.labels ? Int32Array : Float64Array).from(made.flatMap(([values]) => Array.from(values)));
  if (values.length) {
    const total = { symbols: values.length, documents: docs.length, limit: null };
    showDocuments({ values, doclen: made.map(([values]) => values.length), docid: docs.map((_, d) => d), total }, () => [
      makeCut({ name: "rank", j: 0, ids, per: made.map(([, ids]) => ids.length) }),
    ]);
    $("typedinfo").textContent = `${units(S)} are ${format(sky.full.tokens)} tokens of the whole vocabulary by merge rank. ${TYPED.says}`;
  } else {
    showDocuments(OWN, () => ownCuts);
    $("typedinfo").textContent = TYPED.says;
  }
  $("back").disabled = !values.length;
}
function startTyping() {
  if (typeof TYPED === "string") {
    $("typedinfo").textContent = `Documents cannot be typed here: ${TYPED}. In Python, tok.encode(document) does it.`;
    for (const id of ["typed", "file", "back"]) $(id).disabled = true;
    return;
  }
  startEncoder();
  globalThis.encode = (doc) => Array.from(encoded(doc)[1]); // for the console
  $("typedinfo").textContent = TYPED.says;
  let waiting;
  $("typed").oninput = () => { clearTimeout(waiting); waiting = setTimeout(() => typed($("typed").value), 150); };
  const open = async (file) => {
    if (!file) return;
    try {
      const docs = await fromFile(file);
      showOwn(docs);
      state.typed = null;
      $("typedinfo").prepend(`${file.name}: `);
    } catch (error) { $("typedinfo").textContent = error.message; }
    $("own").open = true;
  };
  $("file").onchange = () => open($("file").files[0]);
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", (event) => { event.preventDefault(); open(event.dataTransfer.files[0]); });
  $("back").onclick = () => { $("typed").value = ""; typed(""); };
}
