// The segmentations: where each token stands in the drawn documents, and where each token of the vocabulary occurs.

// Of ids and how many each document has; `counted` has what is known of all documents, else those that are drawn are counted.
function makeCut({ name, j, ids, per, gaps, widths, counted }) {
  const n = ids.length, starts = new Int32Array(n), ends = new Int32Array(n), hues = new Int8Array(n), drawn = new Int32Array(N);
  let { count, docs, tokens } = counted ?? {};
  const last = docs ? null : new Int32Array(N).fill(-1);
  docs ??= new Int32Array(N);
  for (let d = 0, k = 0, end = 0; d < D; d++) {
    let at = docOff[d], before = -1;
    for (end += per[d]; k < end; k++) {
      const t = ids[k];
      if (gaps) at += gaps[k];
      starts[k] = at;
      at += widths ? widths[k] : A.toklen[t];
      ends[k] = at;
      before = hues[k] = hueAfter(t, before);
      drawn[t]++;
      if (last && last[t] !== d) { last[t] = d; docs[t]++; }
    }
  }
  count ??= drawn;
  tokens ??= n;
  let whole = 0; // what all tokens stand for: more than the documents hold where normalising makes text longer
  for (let t = 0; t < N; t++) whole += count[t] * A.toklen[t];
  whole = Math.max(1, whole, total.symbols);
  return { name, tokens, j, ids, per, gaps, starts, ends, hues, drawn, count, docs, whole, ratio: total.symbols / Math.max(1, tokens), n, docsOf: last ? D : total.documents };
}

// Smaller vocabularies. Every merge is made of earlier ones, so what a smaller vocabulary encodes to by merge rank is what the whole
// one does, with each later token taken apart. A.born: the size from which a token is there.
const SMALLEST = meta.alphabet, LARGEST = meta.alphabet + meta.learned;
// What was merged, the last first; a token and its mirror have one size.
const byBirth = Int32Array.from(A.born ? A.born.keys() : []).filter((t) => A.born[t]).sort((a, b) => A.born[b] - A.born[a]);
// Calls see(count, size) before each token is taken apart; counts become those of the size `least`.
function unmerge(count, least, see) {
  for (const t of byBirth) {
    const c = count[t];
    if (A.born[t] <= least) break;
    see(c, A.born[t]);
    count[t] = 0;
    count[A.left[t]] += c;
    count[A.right[t]] += c;
  }
  return count;
}
function recut(full, size) {
  if (size >= LARGEST) return full;
  const ids = new Int32Array(S), gaps = full.gaps && new Float64Array(S), per = new Int32Array(D), parts = new Array(N);
  const partsOf = (whole) => {
    const made = [];
    for (const stack = [whole]; stack.length;) {
      const t = stack.pop();
      if (A.born[t] <= size) made.push(t); else stack.push(A.right[t], A.left[t]);
    }
    return made;
  };
  let n = 0, { tokens } = full;
  for (let d = 0, k = 0, end = 0; d < D; d++) {
    const before = n;
    for (end += full.per[d]; k < end; k++) {
      if (gaps) gaps[n] = full.gaps[k];
      const t = full.ids[k], of = (parts[t] ??= partsOf(t));
      for (let i = 0; i < of.length; i++) ids[n++] = of[i];
    }
    per[d] = n - before;
  }
  const count = unmerge(Float64Array.from(full.count), size, (c) => { tokens += c; });
  return makeCut({ name: full.name, j: full.j, ids: ids.subarray(0, n), per, gaps: gaps && gaps.subarray(0, n), counted: { count, tokens } });
}

// The occurrences of a token that are drawn: indices of tokens of the segmentation, ascending. Those of the last one are kept.
function occurrences(cut, t) {
  if (cut.of !== t) {
    [cut.of, cut.found] = [t, new Int32Array(cut.drawn[t] ?? 0)];
    for (let k = 0, n = 0; n < cut.found.length; k++) if (cut.ids[k] === t) cut.found[n++] = k;
  }
  return cut.found;
}
// The tokens of a segmentation that are at least partly in [a, b): first and behind the last.
const between = (cut, a, b) => {
  let i = cut.n ? find(cut.starts, a) : 0, j = firstFrom(cut.starts, b);
  while (i < j && cut.ends[i] <= a) i++;
  return [i, Math.max(i, j)];
};
// The token over the symbol x, -1 if none is.
const tokenAt = (cut, x) => {
  if (!cut.n) return -1;
  const k = find(cut.starts, x);
  return cut.starts[k] <= x && x < cut.ends[k] ? k : -1;
};
// What is chosen keeps its own hue wherever it stands, as in the table: its marks tell it from its neighbours.
const hueAt = (cut, k) => (cut.ids[k] === state.token ? hueOf(cut.ids[k]) : cut.hues[k]);
const saved = (cut, t) => cut.count[t] * Math.max(0, A.toklen[t] - 1);
