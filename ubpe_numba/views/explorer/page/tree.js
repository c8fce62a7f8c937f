// How a token was merged of others: as many generations as fit.

const NODE = isTextual ? 62 : 50, GENERATION = 50, MOST_DEPTH = 7;
const parentsOf = (t) => (A.left && A.left[t] >= 0 ? [A.left[t], A.right[t]] : null);
const leavesOf = (t, depth) => { const pair = depth > 0 && parentsOf(t); return pair ? leavesOf(pair[0], depth - 1) + leavesOf(pair[1], depth - 1) : 1; };

function drawTree() {
  const box = $("tree"), t = state.token, pair = t >= 0 && parentsOf(t);
  if (!pair) {
    const note = t < 0 ? "Choose a token." : A.kinds[t] === SYMBOL ? "A symbol of the alphabet: nothing was merged." : A.kinds[t] === SPECIAL ? "A special token: it was given, not learned." : "This vocabulary is flat: it knows what its tokens stand for, not of which pairs they were merged.";
    box.replaceChildren(element("p", note, "dim"));
    return;
  }
  const room = Math.max(200, box.clientWidth), nodes = [];
  let depth = 1, leaf = 0;
  while (depth < MOST_DEPTH && leavesOf(t, depth + 1) * NODE <= room && leavesOf(t, depth + 1) > leavesOf(t, depth)) depth++;
  const walk = (id, level) => {
    const kids = level < depth ? parentsOf(id) : null, node = { id, level, kids: kids ? kids.map((kid) => walk(kid, level + 1)) : [] };
    node.x = node.kids.length ? (node.kids[0].x + node.kids[1].x) / 2 : leaf++ + 0.5;
    nodes.push(node);
    return node;
  };
  walk(t, 0);
  const levels = Math.max(...nodes.map((node) => node.level)), width = Math.max(room, leaf * NODE), height = levels * GENERATION + 44;
  const cell = Math.min(width / leaf, 150), X = (node) => node.x * cell, picked = svg("svg", { width: leaf * cell, height, role: "group", "aria-label": `Token ${t} was merged of ${pair[0]} and ${pair[1]}` });
  for (const node of nodes) for (const kid of node.kids) {
    const [x, y, a, b] = [X(node), node.level * GENERATION + 38, X(kid), kid.level * GENERATION + 2];
    picked.append(svg("path", { d: `M${x},${y}C${x},${y + 8} ${a},${b - 8} ${a},${b}`, fill: "none", class: "edge" }));
  }
  for (const node of nodes.sort((a, b) => a.level - b.level || a.x - b.x)) picked.append(treeNode(node, X(node), cell));
  box.replaceChildren(picked);
}
function treeNode(node, x, cell) {
  const { id } = node, y = node.level * GENERATION, more = !node.kids.length && parentsOf(id);
  const group = svg("g", { tabindex: 0, role: "button", "data-token": id, transform: `translate(${x - cell / 2 + 3},${y})` });
  const inside = cell - 6;
  if (!isTextual) group.setAttribute("aria-label", `${id}: ${nameOf(id)}`);
  group.append(svg("rect", { width: inside, height: 40, rx: 6, class: "node" }));
  if (isTextual) {
    const label = svg("text", { x: inside / 2, y: 17, "text-anchor": "middle", class: "word" }), name = nameOf(id), fits = Math.max(3, Math.floor(inside / 7.5));
    label.textContent = [...name].length > fits ? [...name].slice(0, fits - 1).join("") + "…" : name;
    group.append(label, svg("rect", { x: inside / 2 - 10, y: 22, width: 20, height: 2.5, fill: colourOf(id) }));
  } else {
    const w = Math.min(60, inside - 10), small = glyph(id, w, 24);
    small.setAttribute("transform", `translate(${(inside - w) / 2},1)`);
    group.append(small);
  }
  const number = svg("text", { x: inside / 2, y: 36, "text-anchor": "middle", class: "number" });
  number.textContent = id + (more ? " …" : "");
  group.append(number);
  group.onclick = () => choose(id);
  group.onkeydown = (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(id); } };
  return group;
}
