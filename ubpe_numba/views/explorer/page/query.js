// The search: comparisons such as len>8 docs>=20, ids, symbols of a signal (3,4,5) or notes (C4,E4), text. All of them have to hold.

const isNamed = isNotes && !meta.labels, SYMBOLS = isNamed ? "C4,E4" : "3,4,5"; // an example

const FIELDS = {
  id: (t) => t,
  len: (t) => A.toklen[t],
  count: (t) => state.cut.count[t],
  docs: (t) => state.cut.docs[t],
  idf: (t) => A.idf[t],
  saves: (t) => saved(state.cut, t),
  says: (t) => (state.cut.count[t] < 2 ? 0 : spread[t] * saved(state.cut, t)), // as motif_choice.py has it: what occurs once is no motif
  merged: (t) => A.merged[t],
};
const SAME = { length: "len", documents: "docs", tokens: "saves" };
const TESTS = {
  ">": (a, b) => a > b, "<": (a, b) => a < b, ">=": (a, b) => a >= b, "<=": (a, b) => a <= b, "=": (a, b) => a === b, "!=": (a, b) => a !== b,
};

const fieldOf = (name) => {
  const known = name.toLowerCase(), same = Object.hasOwn(SAME, known) ? SAME[known] : known;
  return Object.hasOwn(FIELDS, same) ? FIELDS[same] : undefined;
};
// Spaces around a comparison are left out, but not in quotes: len > 8 is len>8. So are those between symbols, as tokens are shown with.
const COMPARISON = /("[^"]*"?)|\b([a-z]+)\s*(>=|<=|!=|>|<|=)\s*(-?[\d.])/gi;
const tightened = (query) => (isTextual ? query : query.replace(/,\s+/g, ",")).replace(COMPARISON, (all, quoted, name, sign, digit) => (quoted || !fieldOf(name) ? all : name + sign + digit));

// Tests of a token, and what is wrong with the query, "" if nothing is.
function parsed(query) {
  const tests = [];
  for (const [word, quoted] of tightened(query).matchAll(/"([^"]*)"?|\S+/g)) {
    const found = /^([a-z]+)(>=|<=|!=|>|<|=)(.*)$/i.exec(word);
    if (quoted !== undefined) {
      if (!isTextual) return [[], "this report has no text to search"];
      if (quoted) tests.push((t) => includes(t, quoted));
    } else if (found && (fieldOf(found[1]) || !isTextual)) {
      const field = fieldOf(found[1]), value = Number(found[3]);
      if (!field) return [[], `${found[1]}: expected one of ${Object.keys(FIELDS).join(", ")}`];
      if (found[3] === "" || Number.isNaN(value)) return [[], `${word}: expected a number`];
      const test = TESTS[found[2]];
      tests.push((t) => test(field(t), value));
    } else if (/^\d+$/.test(word)) {
      const id = Number(word);
      tests.push((t) => t === id);
    } else if (isTextual) {
      tests.push((t) => includes(t, word));
    } else {
      const names = word.split(",").filter(Boolean);
      if (names.length < 2) return [[], `${word}: expected a comparison such as len>8, an id, or symbols such as ${SYMBOLS}`];
      tests.push((t) => holds(t, names));
    }
  }
  return [tests, ""];
}

// Notes are called by their numbers too, and ♯ is hard to type.
const isCalled = (v, name) => symbolName(v) === name || (isNamed && (String(v) === name || symbolName(v) === name.toUpperCase().replace("#", "♯")));
function holds(t, names) {
  const a = tokOff[t], n = A.toklen[t] - names.length;
  outer: for (let i = 0; i <= n; i++) {
    for (let j = 0; j < names.length; j++) if (!isCalled(A.arena[a + i + j], names[j])) continue outer;
    return true;
  }
  return false;
}

// The tokens that a query finds, in order; without a query those that occur, and are no single symbols if there are others.
function listedBy(tests, key, direction) {
  const made = [], cut = state.cut, field = FIELDS[key], keys = new Float64Array(N);
  let least = SYMBOL;
  for (let t = 0; t < N && least === SYMBOL; t++) if (cut.count[t]) least = Math.max(least, A.kinds[t]);
  for (let t = 0; t < N; t++) {
    if (A.kinds[t] === GAP || (!tests.length && ((least > SYMBOL && A.kinds[t] === SYMBOL) || !cut.count[t]))) continue;
    let all = true;
    for (const test of tests) if (!test(t)) { all = false; break; }
    if (all) made.push(t);
  }
  for (const t of made) keys[t] = field(t);
  return made.sort((a, b) => direction * (keys[a] - keys[b]) || cut.count[b] - cut.count[a] || a - b);
}
