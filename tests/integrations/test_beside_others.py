"""Beside others: what users and packages compile by numba is the same with this library imported before, after, after a fit."""

import pathlib

import pytest
from integrations.conftest import needed
from processes import python

#: Runs the files of uses, all in one process, and prints what each prints under its name.
SCRIPT = """
import contextlib, io, pathlib, runpy, sys, warnings
warnings.simplefilter("ignore")
folder, mode = pathlib.Path(sys.argv[1]), sys.argv[2]
if mode == "before":
    from ubpe_numba import BPE
import numba
if mode in ("after", "after a fit"):
    from ubpe_numba import BPE
if mode == "after a fit":
    tok = BPE(8).fit([[0, 1, 2, 0, 1, 2, 1, 0] * 3] * 3, progress=False)
    for _ in range(20):
        tok.decode(tok.encode([0, 1, 2]))
for path in sorted(folder.glob("*.py")):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        runpy.run_path(str(path), run_name="__main__")
    print(path.stem, printed.getvalue())
"""
USE = """
import numba, numpy as np
from numba import njit
{imports}
rng = np.random.default_rng(1)
a = rng.normal(size=300)
{body}
"""

#: Imports of a use, and the use, which prints results.
USES = {
    "parallel": ("from numba import prange", """
@njit(parallel=True, cache=True)
def f(a):
    total = 0
    for i in prange(a.size):
        total += np.int64(a[i] * 1000)
    return total
print(f(a), f(a[:7]))"""),
    "cache": ("", """
@njit(cache=True)
def f(a):
    return np.sort(a)[:3].sum(), [x for x in a if x > 2]
print(f(a), f(a.astype(np.float32)))"""),
    "vectorize": ("from numba import vectorize", """
@vectorize(["f8(f8, f8)", "i8(i8, i8)"], cache=True)
def f(x, y):
    return x * y + 1
print(f(a, 2.0).sum(), f.reduce(np.arange(5)), f.accumulate(np.arange(5)))"""),
    "guvectorize": ("from numba import guvectorize", """
@guvectorize(["(f8[:], f8, f8[:])"], "(n),()->(n)", cache=True)
def f(x, y, out):
    for i in range(x.size):
        out[i] = x[i] + y
print(f(a.reshape(3, 100), 2.0).sum())"""),
    "stencil": ("from numba import stencil", """
@stencil
def kernel(x):
    return 0.25 * (x[-1] + x[1] + 2 * x[0])

@njit(cache=True)
def f(x):
    return kernel(x)
print(f(a).sum())"""),
    "jitclass": ("from numba.experimental import jitclass", """
@jitclass([("n", numba.int64), ("values", numba.float64[:])])
class Bag:
    def __init__(self, values):
        self.n, self.values = 0, values
    def add(self, x):
        self.n += 1
        return self.values.sum() + x
bag = Bag(a)
print(bag.add(1.0), bag.add(2.0), bag.n)"""),
    "typed containers": ("from numba import typed", """
@njit(cache=True)
def f(n):
    d, l = typed.Dict(), typed.List()
    for i in range(n):
        d[str(i)] = i * 0.5
        l.append(i)
    return d["7"], len(d), sum(l)
d = typed.Dict.empty(numba.types.unicode_type, numba.types.int64)
d["a"] = 1
print(f(9), dict(d), list(typed.List([1, 2])))"""),
    "linear algebra": ("", """
@njit(cache=True)
def f(m, v):
    return np.linalg.solve(m, v), np.dot(m, v), m @ m, np.linalg.svd(m)[1]
m = a[:100].reshape(10, 10)
print([np.round(x, 6).sum() for x in f(m, a[:10])])"""),
    "cfunc": ("import ctypes\nfrom numba import cfunc", """
@cfunc("f8(f8)", cache=True)
def f(x):
    return x * 2 + 1
print(f.ctypes(2.0), ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(f.address)(3.0))"""),
    "threads and the collector": ("import gc, threading", """
@njit(nogil=True, cache=True)
def f(x):
    return (x * x).sum()
out = [0.0] * 4
threads = [threading.Thread(target=lambda i=i: out.__setitem__(i, f(a[i:]))) for i in range(4)]
[t.start() for t in threads], [t.join() for t in threads]
print(out, gc.isenabled())"""),
    "stumpy": ("import stumpy", "profile = stumpy.stump(a, 20)\n"
    "print(np.round(profile[:, 0].astype(float), 6).sum(), profile[:9, 1])"),
    "pynndescent": ("import pynndescent", """
index = pynndescent.NNDescent(a.reshape(60, 5), n_neighbors=4, random_state=1)
print(np.round(index.neighbor_graph[1], 6).sum(), index.neighbor_graph[0][:3])"""),
    "sparse": ("import sparse", """
x = sparse.COO(np.where(a > 1, a, 0).reshape(30, 10))
print(x.nnz, np.round((x @ x.T).sum().todense(), 6), sparse.GCXS(x).dot(x.T).nnz)"""),
    "awkward": ("import awkward as ak", """
@njit
def f(rows):
    total = 0.0
    for row in rows:
        for x in row:
            total += x
    return total
print(f(ak.Array([[1.0, 2.0], [], [3.5]])))"""),
}  # fmt: skip
PACKAGES = {"stumpy", "pynndescent", "sparse", "awkward"}
#: The uses of one process, and the orders of imports; each group has a cache of its own, which the first one fills. Packages
#: compile for a minute, and are asked once without this library and once after a fit.
GROUPS = {
    "numba": (sorted(USES.keys() - PACKAGES), (("alone", "after", "after a fit"), ("before", "alone"))),
    **{name: ([name], (("alone", "after a fit"),)) for name in PACKAGES},
}


def files(folder: pathlib.Path) -> dict[str, int]:
    return {str(path.relative_to(folder)): path.stat().st_mtime_ns for path in folder.rglob("*.nb?")}


@pytest.mark.parametrize("group", GROUPS)
def test_the_same_results_and_hits_of_the_cache(group: str, tmp_path: pathlib.Path) -> None:
    """What one order has compiled into numba's cache, another finds there: it writes no file."""
    if group in PACKAGES:
        needed(group)
    names, orders = GROUPS[group]
    uses = tmp_path / "uses"
    uses.mkdir()
    for name in names:
        imports, body = USES[name]
        (uses / f"{name}.py").write_text(USE.format(imports=imports, body=body))
    results = set()
    for first, *others in orders:
        cache = tmp_path / first
        cache.mkdir()
        results.add(python(SCRIPT, str(uses), first, NUMBA_CACHE_DIR=str(cache)))
        written = files(cache)
        assert written or group != "numba"
        for mode in others:
            results.add(python(SCRIPT, str(uses), mode, NUMBA_CACHE_DIR=str(cache)))
            assert files(cache) == written, (mode, set(files(cache)) ^ set(written))
    assert len(results) == 1 and results != {""}, results
