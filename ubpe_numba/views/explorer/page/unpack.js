// The arrays of the page, which pack.py deflated.

const TYPES = {
  u1: Uint8Array, i1: Int8Array, u2: Uint16Array, i2: Int16Array, u4: Uint32Array, i4: Int32Array, f4: Float32Array, f8: Float64Array,
};

const fromBase64 = (text) => Uint8Array.fromBase64?.(text) ?? Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

async function unpack({ t, n, c, d }) {
  const stream = new Blob([fromBase64(d)]).stream().pipeThrough(new DecompressionStream("deflate"));
  const planes = new Uint8Array(await new Response(stream).arrayBuffer());
  const width = TYPES[t].BYTES_PER_ELEMENT;
  let bytes = planes;
  if (width > 1) {
    bytes = new Uint8Array(n * width);
    for (let p = 0; p < width; p++) for (let i = 0, j = p, k = p * n; i < n; i++, j += width, k++) bytes[j] = planes[k];
  }
  const array = new TYPES[t](bytes.buffer, 0, n);
  if (c) for (let i = 1; i < n; i++) array[i] += array[i - 1]; // modulo the width of the type, as the differences are
  return array;
}

const A = {};
await Promise.all(Object.entries(meta.arrays).map(async ([name, made]) => { A[name] = await unpack(made); made.d = ""; }));

const offsetsOf = (lengths) => {
  const made = new Float64Array(lengths.length + 1);
  for (let i = 0; i < lengths.length; i++) made[i + 1] = made[i] + lengths[i];
  return made;
};

// The first index whose element is at least x.
const firstFrom = (ascending, x) => {
  let a = 0, b = ascending.length;
  while (a < b) {
    const m = (a + b) >> 1;
    if (ascending[m] < x) a = m + 1; else b = m;
  }
  return a;
};
// The last index whose element is at most x, of ascending integers; 0 if there is none.
const find = (ascending, x) => Math.max(0, firstFrom(ascending, Math.floor(x) + 1) - 1);
// An element, or one that is there, with these attributes.
const given = (made, attributes) => { for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value); return made; };
function element(name, text, className, attributes = {}) {
  const made = given(document.createElement(name), attributes);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}
const format = (x) => x.toLocaleString("en-US");
const clamp = (x, low, high) => Math.max(low, Math.min(high, x));
