// The segmentations: where each token stands in the drawn documents, and where each token of the vocabulary occurs.

function makeCut({ name, tokens }, j) {
  const ids = A["ids" + j], per = A["per" + j], gaps = A["gaps" + j], widths = A["widths" + j], n = ids.length;
  const starts = new Float64Array(n), ends = new Float64Array(n), hues = new Int8Array(n), bounds = offsetsOf(per);
  for (let d = 0, k = 0; d < D; d++) {
    let at = docOff[d], before = -1;
    for (; k < bounds[d + 1]; k++) {
      if (gaps) at += gaps[k];
      starts[k] = at;
      at += widths ? widths[k] : A.toklen[ids[k]];
      ends[k] = at;
      before = hues[k] = hueAfter(ids[k], before);
    }
  }
  const first = new Int32Array(N + 1), where = new Int32Array(n);
  for (let k = 0; k < n; k++) first[ids[k] + 1]++;
  for (let t = 0; t < N; t++) first[t + 1] += first[t];
  const next = first.slice(0, N);
  for (let k = 0; k < n; k++) where[next[ids[k]]++] = k;
  const count = A["count" + j], docs = A["docs" + j];
  let whole = 0; // what all tokens stand for: more than the documents hold where normalising makes text longer
  for (let t = 0; t < N; t++) whole += count[t] * A.toklen[t];
  whole = Math.max(1, whole, meta.symbols);
  return { name, tokens, j, ids, starts, ends, hues, bounds, first, where, count, docs, whole, ratio: meta.symbols / Math.max(1, tokens), n };
}

// The occurrences of a token that are drawn: indices of tokens of the segmentation, ascending.
const occurrences = (cut, t) => (t < 0 ? cut.where.subarray(0, 0) : cut.where.subarray(cut.first[t], cut.first[t + 1]));
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
