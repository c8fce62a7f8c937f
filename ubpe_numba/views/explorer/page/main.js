// Keys, themes, paper, and the beginning.

const KEYS = [
  ["/", "search tokens", () => $("search").focus()],
  ["n", "next occurrence", () => step(1)],
  ["p", "previous occurrence", () => step(-1)],
  ["ArrowRight", "move to the right", () => move(0.25)],
  ["ArrowLeft", "move to the left", () => move(-0.25)],
  ["+", "zoom in", () => zoom(0.5)],
  ["-", "zoom out", () => zoom(2)],
  ["0", "all that is drawn", () => go(0, S)],
  ["[", "a smaller vocabulary", () => resize(Math.min(sky.size - 1, sky.size / 1.1))],
  ["]", "a larger vocabulary", () => resize(Math.max(sky.size + 1, sky.size * 1.1))],
  ["t", "light or dark", otherTheme],
  ["c", "as Python", showProgram],
  ["Escape", "no token", () => choose(-1)],
  ["?", "this help", () => $("keys").showModal()],
];
const SHOWN = { ArrowRight: "→", ArrowLeft: "←", Escape: "Esc" };
function keyPressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const inside = event.target.tagName;
  if (inside === "INPUT" || inside === "TEXTAREA") { if (event.key === "Escape") $("grid").focus(); return; }
  if (event.target.getAttribute?.("role") === "radio" && event.key.startsWith("Arrow")) return;
  const key = event.key === "=" ? "+" : event.key, found = KEYS.find(([name]) => name === key);
  if (found) { event.preventDefault(); found[2](); return; }
  if (/^[1-9]$/.test(key) && cuts[key - 1]) { event.preventDefault(); segmentation(key - 1); }
}
function makeHelp() {
  const list = element("dl", undefined, "keylist"), add = (key, what) => { const name = element("dt"); name.append(element("kbd", key)); list.append(name, element("dd", what)); };
  for (const [key, what] of KEYS) add(SHOWN[key] ?? key, what);
  add("↑ ↓", "in the table: the token above or below");
  if (cuts.length > 1) add(`1–${cuts.length}`, "segmentation");
  $("keylist").replaceChildren(
    element("p", `The search takes comparisons of ${Object.keys(FIELDS).join(", ")}, such as len>8 docs>=20; an id; ` + (isTextual ? 'text, in quotes if it has spaces or digits ("in the")' : `symbols one after the other, such as ${SYMBOLS}`) + ". All of them have to hold."),
    element("p", `A segmentation is a way to choose among the tokens that fit: ${Object.entries(WAYS).map(([name, way]) => `${name}: ${way}`).join("; ")}.`),
    list,
  );
}
// What the segmentations do, beside their names.
const WAYS = { rank: "repeats the merges of the fit in their order", shortest: "takes the fewest tokens", tfidf: "prefers rare tokens", likelihood: "prefers probable tokens" };
function makeSegmentations() {
  const box = $("cuts");
  box.replaceChildren();
  for (const [j, cut] of cuts.entries()) {
    const ratio = cut.ratio.toFixed(2), button = element("button", undefined, "", {
      type: "button", role: "radio", "aria-label": `${cut.name}, ${ratio} ${unit}s a token`,
      title: `${format(cut.tokens)} tokens, ${ratio} ${unit}s each (${j + 1}): ${WAYS[cut.name] ?? "another way to choose among the tokens that fit"}`,
    });
    button.append(cut.name, " ", element("small", ratio));
    button.onclick = () => segmentation(j);
    box.append(button);
  }
  box.onkeydown = (event) => {
    const d = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!d) return;
    event.preventDefault();
    event.stopPropagation();
    const j = (state.cut.j + d + cuts.length) % cuts.length;
    segmentation(j);
    box.children[j].focus();
  };
}
// Everything in the colours and the sizes of now.
function paint(name = theme) {
  setTheme(name);
  view.make();
  drawRange();
  drawRows();
  drawChosen();
  later(drawCharts);
  putNow();
}
// On paper: light, with the first rows of the table, which is not printed itself.
function preparePaper(begins) {
  if (begins) {
    const rows = listed.slice(0, 25).map((t) => [t, nameOf(t), format(A.toklen[t]), format(state.cut.count[t]), format(state.cut.docs[t]), format(saved(state.cut, t))]);
    $("paper").replaceChildren(tableOf(`The first ${rows.length} of ${format(listed.length)} tokens, by ${state.cut.name}`, ["id", "symbols", "length", "count", "docs", "saves"], rows));
    preparePaper.before = theme;
    paint("light");
  } else {
    $("paper").replaceChildren();
    paint(preparePaper.before);
  }
}

// The token to begin with: the first of the table that occurs often in what is drawn, or at all.
const mostTelling = () => listed.find((t) => state.cut.drawn[t] >= 5) ?? listed.find((t) => state.cut.drawn[t]) ?? -1;

sky.full = A.born ? cuts.find((cut) => cut.name === "rank") : null;
makeSegmentations();
makeHelp();
startTable();
startOverview();
startSky();
startLanes();
startAlternatives();
startTyping();
view.start();
$("code").onclick = showProgram;
$("done").onclick = () => $("python").close();
$("help").onclick = () => $("keys").showModal();
$("close").onclick = () => $("keys").close();
$("prev").onclick = () => step(-1);
$("next").onclick = () => step(1);
addEventListener("keydown", keyPressed);
isDark.addEventListener("change", (event) => paint(event.matches ? "dark" : "light"));
matchMedia("print").addEventListener("change", (event) => preparePaper(event.matches));
let resizing;
addEventListener("resize", () => { clearTimeout(resizing); resizing = setTimeout(() => { if (!matchMedia("print").matches) paint(); }, 120); });
document.body.dataset.kind = meta.kind;
drawFoot();
state.range = [0, Math.max(1, view.first())];
fillList();
view.make();
segmentation(0);
putNow();
choose(mostTelling());
drawRange();
follow();
putNow();
addEventListener("hashchange", follow);
document.body.dataset.ready = String(Math.round(performance.now()));
