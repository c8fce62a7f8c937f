// Words: what this is, what is chosen, its figures, the tip beside the pointer.

const WHAT = {
  signal: "a run of samples that the signal repeats",
  text: "a string of characters that the text repeats",
  dna: "a string of bases that the sequence repeats",
  notes: "a run of notes that the music repeats",
};
function drawWhat() {
  const what = WHAT[meta.kind], cut = state.cut, lost = S < total.symbols;
  const [grey, ...chips] = ["grey", "hue2", "hue5", "hue3"].map((name) => { const chip = element("span", "", "chip"); chip.style.background = `var(--${name})`; return chip; });
  const drawn = lost ? ` Drawn are ${units(S)}${total.limit === null ? ` in ${format(D)} documents at even distances` : ": the beginning"}; all figures are of everything.` : "";
  $("what").replaceChildren(
    "A ", element("b", "token"), ` is one number that stands for ${what}. Where the colour changes `, ...chips, ` the next token begins (several tokens share a colour); grey `, grey, ` are ${unit}s that stand alone. `,
    "Here ", element("b", units(total.symbols)), ` in ${format(total.documents)} document${total.documents === 1 ? "" : `s${isTextual ? "" : ", which no token crosses,"}`} became `,
    element("b", `${format(cut.tokens)} tokens`), ` of a vocabulary of ${format(N - (isSky() ? LARGEST - sky.size : 0))}: ${cut.ratio.toFixed(2)} ${unit}s each.`, drawn,
  );
}
function drawStatus() {
  const box = $("status"), t = state.token, cut = state.cut;
  box.dataset.found = chosen().length;
  $("prev").disabled = $("next").disabled = chosen().length < 2;
  if (t < 0) {
    box.replaceChildren("No token is chosen: click one in the documents or in the table.");
    return;
  }
  const all = chosen(), k = current(), n = cut.count[t], count = element("span", format(n), "", { id: "count" });
  const name = element("b", isTextual ? `${t} “${nameOf(t)}”` : `Token ${t}`);
  const where = k < 0 ? "" : ` · ${format(state.at + 1)} of ${format(all.length)}${all.length < n ? " drawn" : ""}: ${whereOf(cut.starts[k])}`;
  box.replaceChildren(name, `, ${units(A.toklen[t])}: `, count, ` occurrence${n === 1 ? "" : "s"} in ${format(cut.docs[t])} of ${format(cut.docsOf)} documents by ${cut.name}${where}`);
}
function drawFacts() {
  const t = state.token, cut = state.cut;
  $("h-facts").textContent = t < 0 ? "Facts" : `Token ${t}`;
  if (t < 0) { $("facts").replaceChildren(); return; }
  const facts = [[isTextual ? "text" : isNotes ? "notes" : "samples", nameOf(t)], ["length", units(A.toklen[t])]];
  for (const other of cuts) facts.push([`by ${other.name}`, `${format(other.count[t])} in ${format(other.docs[t])} document${other.docs[t] === 1 ? "" : "s"}`]);
  facts.push(["covers", `${((100 * cut.count[t] * A.toklen[t]) / cut.whole).toFixed(2)} % of all ${unit}s`], ["saves", `${format(saved(cut, t))} tokens`]);
  if (A.kinds[t] === LEARNED) {
    facts.push(["idf", A.idf[t].toFixed(3)]);
    if (A.merged[t]) facts.push(["when merged", `${format(A.merged[t])} times`]);
  } else facts.push(["is", A.kinds[t] === SPECIAL ? "a special token" : "a symbol of the alphabet"]);
  if (A.logp) facts.push(["ln probability", A.logp[t].toFixed(3)]);
  $("facts").replaceChildren(...facts.flatMap(([name, value]) => [element("dt", name), element("dd", value)]));
}

function showTip(event, t, start, more) {
  if (!(t >= 0)) { hideTip(); return; }
  const tip = $("tip");
  tip.textContent = `${isTextual ? "“" + nameOf(t) + "” · " : ""}token ${t} · ${units(A.toklen[t])} · ${more} · ${whereOf(start)}`;
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = clamp(event.clientX + 14, 4, innerWidth - box.width - 8) + "px";
  tip.style.top = (event.clientY > 60 ? event.clientY - 38 : event.clientY + 20) + "px";
  if (!isTextual && state.hover !== t) { state.hover = t; refresh(); }
}
const tipOf = (event, cut, k) => showTip(event, cut.ids[k], cut.starts[k], `${format(cut.count[cut.ids[k]])} times`);
function hideTip() {
  $("tip").hidden = true;
  if (state.hover >= 0) { state.hover = -1; refresh(); }
}
function drawFoot() {
  $("foot").textContent = `Made by ubpe-numba with ${meta.tokenizer}, fingerprint ${meta.fingerprint}. The charts are drawn by uPlot (MIT licence, in this file). Nothing is loaded from elsewhere.`;
}
