// Three charts of the whole vocabulary: compression by size, lengths in use, occurrences by rank.

const CHART = 170;
let charts = [];
const tables = {}; // what the charts show, for their tables
function chart(id, xs, ys, names, options = {}) {
  const box = $(id);
  tables[id] = { xs, ys, names };
  if (!xs.length) { box.replaceChildren(element("p", options.without, "dim")); return; }
  box.replaceChildren();
  const fill = options.bars ? palette.hues[0] + "66" : undefined;
  charts.push(new uPlot({
    width: Math.max(160, box.clientWidth), height: CHART, legend: { show: false }, cursor: { show: false },
    scales: { x: { time: false, ...options.x }, y: { ...options.y } },
    axes: [
      axis({ size: 30, space: options.x?.distr ? 30 : 60, values: options.x?.distr && powers }),
      axis({ size: 52, values: (_, ticks) => ticks.map((v) => (v === null || (options.y?.distr && Math.log10(v) % 1) ? "" : shortened(v))) }),
    ],
    series: [{}, { stroke: palette.hues[0], width: 2, fill, paths: options.bars && uPlot.paths.bars({ size: [0.8, 40] }), points: { show: false } }],
    hooks: { draw: [(u) => { if (options.mark) { u.ctx.fillStyle = palette.ink; u.ctx.fillRect(u.valToPos(options.mark, "x", true) - 1, u.bbox.top, 2, u.bbox.height); } }] },
  }, [xs, ys], box));
  box.dataset.mark = options.mark ?? "";
}
// Symbols a token by every size of the vocabulary, at most a thousand of them.
function curve() {
  const { full } = sky, sizes = [], ratios = [];
  if (!full) return [sizes, ratios];
  let { tokens } = full, before = 0;
  const every = Math.ceil(meta.learned / 1000), keep = (size) => { if (size % every === 0 || size === LARGEST || size === SMALLEST) { sizes.unshift(size); ratios.unshift(total.symbols / Math.max(1, tokens)); } };
  unmerge(Float64Array.from(full.count), SMALLEST, (c, size) => {
    if (size !== before) keep(size);
    before = size;
    tokens += c;
  });
  keep(SMALLEST);
  return [sizes, ratios];
}
const powers = (_, ticks) => ticks.map((v) => (v === null || Math.log10(v) % 1 ? "" : shortened(v)));
const shortened = (v) => (v >= 1e6 ? `${+(v / 1e6).toPrecision(3)} M` : v >= 1e4 ? `${+(v / 1e3).toPrecision(3)} k` : String(+v.toPrecision(6)));

function drawCharts() {
  for (const made of charts) made.destroy();
  charts = [];
  const cut = state.cut, fromZero = { range: (_, a, b) => [0, b * 1.06 || 1] };
  const [sizes, ratios] = curve();
  chart("curve", sizes, ratios, ["tokens in the vocabulary", `${unit}s a token`], { y: fromZero, mark: isSky() ? sky.size : null, without: "Not known: smaller vocabularies are encoded by merge rank only." });
  $("curveinfo").textContent = `${unit}s a token, by size of the vocabulary, by merge rank`;
  $("curve").setAttribute("aria-label", sizes.length ? `${unit}s a token rise from ${ratios[0].toFixed(2)} to ${ratios.at(-1).toFixed(2)} at ${format(sizes.at(-1))} tokens` : "not known");

  let top = 0;
  for (let t = 0; t < N; t++) if (cut.count[t] && A.toklen[t] > top) top = A.toklen[t];
  const width = Math.max(1, Math.ceil(top / 60)), bins = new Array(Math.ceil((top + 1) / width)).fill(0);
  for (let t = 0; t < N; t++) if (cut.count[t]) bins[Math.floor(A.toklen[t] / width)] += cut.count[t];
  const xs = bins.map((_, i) => i * width), from = width === 1 ? 1 : 0;
  chart("lengths", cut.tokens ? xs.slice(from) : [], bins.slice(from), [`${unit}s in a token` + (width > 1 ? `, from` : ""), "occurrences"], { x: { range: (_, a, b) => [a - 0.6 * width, b + 0.6 * width] }, y: fromZero, bars: true, without: "There are no tokens." });
  $("lengthsinfo").textContent = `occurrences by ${unit}s in the token, by ${cut.name}`;
  $("lengths").setAttribute("aria-label", cut.tokens ? `tokens of up to ${units(top)} are in use, ${cut.ratio.toFixed(2)} on average` : "no tokens");

  const counts = Array.from(cut.count).filter(Boolean).sort((a, b) => b - a), ranks = [], shown = [];
  for (let i = 0; i < counts.length; i = Math.max(i + 1, Math.floor(i * 1.01))) { ranks.push(i + 1); shown.push(counts[i]); }
  chart("zipf", ranks, shown, ["rank", "occurrences"], { x: { distr: 3 }, y: { distr: 3 }, without: "There are no tokens." });
  $("zipf").setAttribute("aria-label", counts.length ? `${format(counts.length)} tokens are in use, the most frequent ${format(counts[0])} times` : "no tokens");
  for (const name of ["curve", "lengths", "zipf"]) updateAlternative("alt-" + name);
}
