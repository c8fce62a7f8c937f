// The segmentations one below the other, below one another with the skyline and the plot.

const LANE = 26;

function drawLanes() {
  const canvas = $("lanes"), [g, w] = prepared(canvas, cuts.length * LANE + 2), [a, b] = state.range, { left, width } = skyBox(w), said = [];
  let marks = 0;
  for (const [j, cut] of cuts.entries()) {
    const y = j * LANE + 2, isHere = cut === state.cut, [i, end] = between(cut, a, b), all = occurrences(cut, state.token), marked = firstFrom(all, end) - firstFrom(all, i);
    g.textBaseline = "middle";
    g.textAlign = "right";
    g.font = isHere ? "bold " + FONT : FONT;
    g.fillStyle = isHere ? palette.ink : palette.dim;
    g.fillText(cut.name, left - 8, y + 11, left - 10);
    g.textAlign = "center";
    g.font = SMALL;
    columns(cut, width, (k, from, to) => {
      const t = cut.ids[k], x = left + from, wide = to - from, isOn = t === state.token, hue = hueAt(cut, k);
      g.fillStyle = colour(hue);
      g.globalAlpha = isOn ? 0.7 : hue < 0 ? 0.2 : 0.4;
      g.fillRect(x + 0.5, y, Math.max(1, wide - 1), 22);
      g.globalAlpha = 1;
      g.fillStyle = g.strokeStyle = palette.ink;
      g.lineWidth = 2;
      if (isOn) g.strokeRect(x + 1, y + 1, Math.max(1, wide - 2), 20);
      label(g, isTextual ? nameOf(t) : String(t), x, wide, y + 12);
    });
    marks += marked;
    said.push(`${cut.name} ${format(end - i)} tokens, ${format(marked)} of them the chosen one`);
  }
  $("lanestitle").textContent = cuts.length > 1 ? "The same place, as each segmentation cuts it" : "The tokens here";
  canvas.dataset.marked = marks;
  canvas.setAttribute("aria-label", `From ${whereOf(a)}: ${said.join("; ")}`);
}
function laneAt(event) {
  const { left, width } = skyBox($("lanes").clientWidth), cut = cuts[Math.floor(event.offsetY / LANE)], [a, b] = state.range;
  return [cut, cut && event.offsetX >= left ? tokenAt(cut, a + ((event.offsetX - left) * (b - a)) / width) : -1];
}
function startLanes() {
  const canvas = $("lanes");
  canvas.onmousemove = (event) => { const [cut, k] = laneAt(event); if (k >= 0) tipOf(event, cut, k); else hideTip(); };
  canvas.onmouseleave = hideTip;
  canvas.onclick = (event) => {
    const [cut, k] = laneAt(event);
    if (k < 0) return;
    if (cut !== state.cut) segmentation(cut.j);
    choose(cut.ids[k], k);
  };
}
