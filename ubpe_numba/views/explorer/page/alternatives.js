// What pictures show, as tables; made when they are opened, and again when that changes.

const MOST_CELLS = 200;
function tableOf(caption, heads, rows) {
  const table = element("table", undefined, "data");
  table.append(element("caption", caption));
  const head = table.createTHead().insertRow();
  for (const name of heads) { const cell = element("th", name); cell.scope = "col"; head.append(cell); }
  const body = table.createTBody();
  for (const row of rows) { const line = body.insertRow(); for (const value of row) line.insertCell().textContent = value; }
  return table;
}
const ALTERNATIVES = {
  "alt-sky"() {
    const k = current(), x = k < 0 ? Math.floor(state.range[0]) : state.cut.starts[k];
    const rows = !isSky() ? [] : over(x).map(([t, s, until]) => [A.born[t] ? format(A.born[t]) : "the alphabet", format(until - 1), t, nameOf(t), whereOf(s)]);
    return tableOf(`The tokens over ${whereOf(x)}, by size of the vocabulary`, ["from", "to", "token", "symbols", "first symbol"], rows);
  },
  "alt-view"() {
    const cut = state.cut, [i, j] = between(cut, ...state.range), rows = [];
    for (let k = i; k < Math.min(j, i + MOST_CELLS); k++) rows.push([whereOf(cut.starts[k]), cut.ids[k], nameOf(cut.ids[k]), A.toklen[cut.ids[k]], format(cut.count[cut.ids[k]])]);
    return tableOf(`The first ${rows.length} of ${format(j - i)} tokens in view, by ${cut.name}`, ["place", "token", "symbols", "length", "occurrences"], rows);
  },
  "alt-context"() {
    const cut = state.cut, all = chosen(), rows = [];
    for (const k of someOf(all, MOST_CELLS)) {
      const d = docAt(cut.starts[k]), a = cut.starts[k], b = cut.ends[k], side = isTextual ? 24 : 8;
      const read = (from, to) => (isTextual ? lineOf(values, from, to) : Array.from(values.subarray(from, to), symbolName).join(" "));
      rows.push([whereOf(a), read(Math.max(docOff[d], a - side), a), read(b, Math.min(docOff[d + 1], b + side))]);
    }
    return tableOf(`${rows.length} of ${format(all.length)} occurrences that are drawn`, ["place", "before", "after"], rows);
  },
};
for (const name of ["curve", "lengths", "zipf"]) {
  ALTERNATIVES["alt-" + name] = () => {
    const { xs, ys, names } = tables[name], every = Math.max(1, Math.ceil(xs.length / MOST_CELLS));
    return tableOf(names.join(", "), names, xs.map((x, i) => [format(x), format(+Number(ys[i]).toPrecision(6))]).filter((_, i) => i % every === 0));
  };
}
function updateAlternative(id) {
  const box = $(id);
  if (box.open) box.lastElementChild.replaceChildren(ALTERNATIVES[id]());
}
function startAlternatives() {
  for (const id of Object.keys(ALTERNATIVES)) $(id).ontoggle = () => updateAlternative(id);
}
