// How a token was merged of others: as many generations as fit, each token above the two that it was merged of.

const NODE = isTextual ? 62 : 50, MOST_DEPTH = 7;
const parentsOf = (t) => (A.left && A.left[t] >= 0 ? [A.left[t], A.right[t]] : null);
const leavesOf = (t, depth) => { const pair = depth > 0 && parentsOf(t); return pair ? leavesOf(pair[0], depth - 1) + leavesOf(pair[1], depth - 1) : 1; };

function drawTree() {
  const box = $("tree"), t = state.token;
  if (t < 0 || !parentsOf(t)) {
    const note = t < 0 ? "Choose a token." : A.kinds[t] === SYMBOL ? "A symbol of the alphabet: nothing was merged." : A.kinds[t] === SPECIAL ? "A special token: it was given, not learned." : "This vocabulary is flat: it knows what its tokens stand for, not of which pairs they were merged.";
    box.replaceChildren(element("p", note, "dim"));
    return;
  }
  const room = Math.max(200, box.clientWidth);
  let depth = 1;
  while (depth < MOST_DEPTH && leavesOf(t, depth + 1) * NODE <= room && leavesOf(t, depth + 1) > leavesOf(t, depth)) depth++;
  const branch = (id, level) => {
    const made = element("div", undefined, "branch"), pair = parentsOf(id), node = element("button", undefined, "node", { type: "button", "data-token": id, "aria-label": `${id}: ${nameOf(id)}` });
    const name = element("span", isTextual ? nameOf(id) : undefined, "word");
    name.style.borderColor = colourOf(id);
    node.append(isTextual ? name : picture(id, 44, 24), element("small", id + (pair && !level ? " …" : "")));
    node.onclick = () => choose(id);
    made.style.flexGrow = leavesOf(id, level);
    made.append(node);
    if (pair && level) {
      const both = element("div", undefined, "pair");
      both.append(...pair.map((part) => branch(part, level - 1)));
      made.append(both);
    }
    return made;
  };
  box.replaceChildren(branch(t, depth));
}
