// What is shown, in the address of the page: a link shows the same.

const MOST_LINKED = 2000; // characters of a typed document
let linking = 0;
function remember() {
  clearTimeout(linking);
  linking = setTimeout(() => {
    const [a, b] = state.range, query = $("search").value, said = { by: state.cut.name };
    if (sky.full && sky.size < LARGEST) said.size = sky.size;
    if (state.token >= 0) Object.assign(said, { token: state.token, at: state.at });
    Object.assign(said, { from: +a.toFixed(3), to: +b.toFixed(3), sort: (sortDirection < 0 ? "-" : "") + sortKey });
    if (query) said.find = query;
    if (state.typed && state.typed.length <= MOST_LINKED) said.text = state.typed;
    try { history.replaceState(null, "", "#" + new URLSearchParams(said)); } catch { /* a frame without an address of its own */ }
  }, 250);
}
function follow() {
  const said = new URLSearchParams(location.hash.slice(1)), number = (name, high) => { const v = parseFloat(said.get(name)); return v >= 0 && v <= high ? v : null; };
  if (!said.has("by")) return;
  if (said.has("text") && typeof TYPED !== "string" && said.get("text") !== state.typed) { $("own").open = true; $("typed").value = said.get("text"); typed(said.get("text")); }
  const [, sign, key] = /^(-?)(\w+)$/.exec(said.get("sort") ?? "") ?? [];
  if (COLUMNS.some(([name]) => name === key)) [sortKey, sortDirection] = [key, sign ? -1 : 1];
  $("search").value = said.get("find") ?? "";
  if (number("size", LARGEST)) resize(number("size", LARGEST)); else resize(LARGEST);
  useCut(Math.max(0, cuts.findIndex((cut) => cut.name === said.get("by"))));
  state.token = number("token", N - 1) ?? -1;
  state.at = Math.min(number("at", S) ?? 0, Math.max(0, chosen().length - 1));
  const [from, to] = [number("from", S), number("to", S)];
  if (from < to) go(from, to);
  refresh();
  drawRows();
  drawChosen();
}

// What is shown as a program, copied where the browser lets it be.
function showProgram() {
  const lines = ["import ubpe_numba", "", `tok = ubpe_numba.load("model.npz")  # fingerprint ${meta.fingerprint}`], isOwn = values === OWN.values;
  if (state.cut.name !== "rank" || meta.tokenizer !== "BPE") lines.push(`tok = tok.with_objective(${JSON.stringify(state.cut.name)})`);
  if (isSky() && sky.size < LARGEST) lines.push(`tok = tok.truncate(${sky.size})`);
  if (isOwn) lines.push("ids = tok.encode_batch(docs)  # the documents of this report");
  else if (state.typed && state.typed.length <= MOST_LINKED) lines.push(...documentsOf(state.typed).map((doc) => `ids = tok.encode(${JSON.stringify(typeof doc === "string" ? doc : Array.from(doc))})`));
  else lines.push("ids = tok.encode_batch(docs)  # the file");
  if (state.token >= 0) lines.push(`tok.vocabulary[${state.token}], tok.usage(${isOwn || !state.typed ? "ids=ids" : "ids=[ids]"}).counts[${state.token}]  # ${nameOf(state.token)}: ${format(state.cut.count[state.token])}`);
  $("program").value = lines.join("\n") + "\n";
  $("python").showModal();
  $("program").select();
  $("copied").textContent = document.execCommand("copy") ? "Copied." : "Copy it by the keys of your system.";
}
