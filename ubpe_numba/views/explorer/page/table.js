// The table of tokens: searched, sorted; only the rows in view are made.

const COLUMNS = [
  ["says", isTextual ? "token" : "motif", "says most first: " + (isTextual ? "symbols saved" : "how far it goes up and down × symbols saved")],
  ["id", "id", "the number of the token"],
  ["len", "length", `${unit}s in the token`],
  ["count", "count", "occurrences in all documents"],
  ["docs", "docs", "documents that hold it"],
  ["saves", "saves", "tokens fewer than without it: count × (length − 1)"],
];
const ROW = 32, MOST_LISTED = 1_000_000; // elements are not higher than 2**25 pixels
let listed = [], sortKey = "says", sortDirection = -1, wrongQuery = "";

function makeHeads() {
  for (const [i, [key, name, title]] of COLUMNS.entries()) {
    const cell = element("div", undefined, "", { role: "columnheader", "aria-colindex": i + 1, "data-key": key }), button = element("button", name, "", { type: "button", title });
    button.onclick = () => sortBy(key);
    cell.append(button);
    $("heads").append(cell);
  }
  const example = isTextual ? "text, id, len>8 docs>=20" : `len>8 docs>=20, id, ${SYMBOLS}`;
  given($("search"), { placeholder: example + "   ( / )", "aria-label": "Search tokens by comparisons, id or " + (isTextual ? "text" : "symbols") });
}
function sortBy(key) {
  [sortKey, sortDirection] = [key, sortKey === key ? -sortDirection : key === "id" ? 1 : -1];
  fillList();
}

function fillList() {
  const query = $("search").value.trim(), [tests, wrong] = parsed(query);
  wrongQuery = wrong;
  listed = wrong ? [] : listedBy(tests, sortKey, sortDirection);
  const n = format(listed.length);
  listed.length = Math.min(listed.length, MOST_LISTED);
  $("search").setAttribute("aria-invalid", String(Boolean(wrong)));
  $("pad").style.height = listed.length * ROW + "px";
  for (const cell of $("heads").children) {
    cell.setAttribute("aria-sort", cell.dataset.key !== sortKey ? "none" : sortDirection < 0 ? "descending" : "ascending");
  }
  given($("grid"), { "aria-rowcount": listed.length + 1, "aria-colcount": COLUMNS.length });
  $("listinfo").textContent = wrong || (query ? `${n} of ${format(N)} tokens found` : `${n} of ${format(N)} tokens: those in use by ${state.cut.name}`);
  if (query || !listed.length) $("grid").scrollTop = 0;
  drawRows();
  remember();
}

function rowOf(t, i) {
  const row = element("div", undefined, "row", { id: "token" + t, "data-token": t, role: "row", "aria-rowindex": i + 2, "aria-selected": t === state.token });
  const shown = isTextual ? element("span") : element("span", undefined, "", { role: "img", "aria-label": nameOf(t) });
  if (isTextual) {
    const word = element("span", nameOf(t), "word");
    word.style.borderColor = colourOf(t);
    shown.append(word);
  }
  shown.append(picture(t, 96, isTextual ? 4 : 26));
  for (const [j, content] of [shown, t, format(A.toklen[t]), format(state.cut.count[t]), format(state.cut.docs[t]), format(saved(state.cut, t))].entries()) {
    const cell = element("div", undefined, "", { role: "gridcell", "aria-colindex": j + 1 });
    cell.append(content);
    row.append(cell);
  }
  return row;
}
function drawRows() {
  const box = $("grid"), a = Math.max(0, Math.floor(box.scrollTop / ROW) - 4);
  const b = Math.min(listed.length, a + Math.ceil(box.clientHeight / ROW) + 8);
  $("rows").style.transform = `translateY(${a * ROW}px)`;
  $("rows").replaceChildren(...listed.slice(a, b).map((t, i) => rowOf(t, a + i)));
  const there = $("token" + state.token);
  if (there) $("grid").setAttribute("aria-activedescendant", there.id); else $("grid").removeAttribute("aria-activedescendant");
}
function scrollToRow(i) {
  const box = $("grid"), top = i * ROW, room = box.clientHeight - ROW; // the heads stay on top
  if (top < box.scrollTop) box.scrollTop = top;
  else if (top + ROW > box.scrollTop + room) box.scrollTop = top + ROW - room;
}

const JUMPS = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20, Home: -Infinity, End: Infinity };
function tableKey(event) {
  const jump = JUMPS[event.key];
  if (!jump || !listed.length || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  event.stopPropagation();
  const i = clamp(listed.indexOf(state.token) + jump, 0, listed.length - 1);
  scrollToRow(i);
  choose(listed[i]);
}
function startTable() {
  makeHeads();
  $("grid").onscroll = drawRows;
  $("grid").onkeydown = tableKey;
  $("rows").onclick = (event) => {
    const row = event.target.closest(".row");
    if (row) choose(Number(row.dataset.token));
  };
  $("search").oninput = fillList;
  $("search").onkeydown = (event) => {
    if (event.key === "Enter" && listed.length) { choose(listed[0]); event.preventDefault(); }
    if (event.key === "ArrowDown") { $("grid").focus(); tableKey(event); }
    if (event.key === "Escape" && $("search").value) { $("search").value = ""; fillList(); event.stopPropagation(); }
  };
}
