// Colours: of ubpe_numba/views/colours.py, whose values and rule the page is given. They are there before the data are.

const $ = (id) => document.getElementById(id);
const meta = JSON.parse($("data").textContent);
const hueOf = (t) => A.hue[t];
// From the left: a token takes its own hue, or the next one if the token before it was given that.
function hueAfter(t, before) {
  const own = A.hue[t];
  return own >= 0 && own === before ? (own + 1) % palette.hues.length : own;
}
let theme = "light", palette = meta.colours.light;
const colour = (hue) => (hue < 0 ? palette.grey : palette.hues[hue]);
const colourOf = (t) => colour(hueOf(t));

function setTheme(name) {
  theme = name;
  palette = meta.colours[name];
  const root = document.documentElement;
  root.dataset.theme = name;
  for (const key of ["paper", "ink", "dim", "grid", "highlight", "grey"]) root.style.setProperty("--" + key, palette[key]);
  palette.hues.forEach((hue, i) => root.style.setProperty(`--hue${i}`, hue));
}
const isDark = matchMedia("(prefers-color-scheme: dark)");
setTheme(isDark.matches ? "dark" : "light");
function otherTheme() {
  const other = theme === "dark" ? "light" : "dark";
  if (document.body.dataset.ready) paint(other); else setTheme(other);
}
$("theme").onclick = otherTheme;

const FONT = "12px system-ui, sans-serif";

// A canvas of its width on the page and a given height, with a context that counts in pixels of the page.
function prepared(canvas, height) {
  const r = devicePixelRatio || 1, width = Math.max(1, canvas.clientWidth), [w, h] = [Math.round(width * r), Math.round(height * r)];
  if (canvas.width !== w || canvas.height !== h) { [canvas.width, canvas.height] = [w, h]; canvas.style.height = height + "px"; }
  const g = canvas.getContext("2d");
  if (g.reset) g.reset(); else canvas.width = w; // all that was set and drawn goes
  g.setTransform(r, 0, 0, r, 0, 0);
  return [g, width, height];
}
