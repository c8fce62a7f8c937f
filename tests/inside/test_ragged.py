"""`Ragged` in compiled functions: length, items, slices, iteration, construction, without copies; and caches on disk of users."""

import pathlib
from typing import Any

import numpy as np
from hypothesis import given, strategies as st
from numba import njit
from processes import python
from tables import refuses

from ubpe_numba import Ragged
from ubpe_numba.kernels import register

register()


@njit
def item(r: Any, i: Any) -> Any:
    return r[i]


@njit
def all_ways(r: Any) -> Any:
    """The length, and the sum of all values by iteration, by indices, and by the arrays."""
    a = b = c = 0
    for doc in r:
        a += doc.sum()
    for i in range(len(r)):
        b += r[i].sum()
    c = r.values[r.offsets[0] : r.offsets[-1]].sum()
    return len(r), a, b, c


@njit
def made(values: Any, offsets: Any) -> Any:
    return Ragged(values, offsets)


@njit
def write(r: Any) -> Any:
    r[0][0] = 7
    return r


documents = st.lists(st.lists(st.integers(0, 9), max_size=5), max_size=6)


@given(documents, st.integers(-8, 8), st.integers(-8, 8))
def test_as_in_python(docs: list[list[int]], first: int, last: int) -> None:
    r = Ragged.from_lists(docs)
    total = sum(map(sum, docs))
    assert all_ways(r) == (len(docs), total, total, total)
    part = item(r, slice(first, last))
    assert isinstance(part, Ragged) and part == r[first:last] and all_ways(part)[0] == len(part)
    for i in (first, last):
        if -len(docs) <= i < len(docs):
            assert item(r, i).tolist() == docs[i]
        else:
            refuses(IndexError, "no such document", item, r, i)
    refuses(ValueError, "the step 1", lambda: item(r, slice(None, None, 2)))


def test_values_are_not_copied_and_read_only_ones_stay_so() -> None:
    r = Ragged.from_lists([[1, 2], [3]])
    assert np.shares_memory(write(r).values, r.values) and r[0].tolist() == [7, 2]
    values, offsets = r.values, r.offsets
    back = made(values, offsets)
    assert np.shares_memory(back.values, values) and back.offsets.tolist() == offsets.tolist()
    frozen = Ragged(values.copy(), offsets.copy())
    frozen.values.setflags(write=False)
    assert all_ways(frozen) == all_ways(r) and not item(frozen, 0).flags.writeable


def test_wrong_offsets_are_an_error_in_python_and_stay_within_values_in_compiled_code() -> None:
    values = np.arange(4, dtype=np.int32)
    refuses(ValueError, "offsets", made, values, np.array([0, 9]))

    @njit
    def beyond(values: Any, offsets: Any) -> Any:
        return Ragged(values, offsets)[0].sum()

    assert beyond(values, np.array([0, 99])) == 6


def test_only_those_who_compile_a_ragged_load_the_types() -> None:
    script = (
        "import sys; from ubpe_numba import Ragged; import numba; r = Ragged.from_lists([[1]]); "
        "print([name for name in sys.modules if name.startswith('ubpe_numba.inside')]); numba.typeof(r); "
        "print('ubpe_numba.inside.native' in sys.modules)"
    )
    assert python(script).split() == ["[]", "True"]


CACHED = """
import sys
sys.path.insert(0, {folder!r})
import numpy as np
if {changed}:
    from ubpe_numba.runtime.compiler import cache
    import pathlib
    extra = pathlib.Path({folder!r}) / "kernel.py"
    sources = cache.kernel_sources
    cache.kernel_sources = lambda: [*sources(), extra]
from ubpe_numba import BPE, Ragged
from users import of_kernels, of_ragged

tok = BPE.from_merges([[0, 1]], alphabet=3)
found = of_kernels(tok.kernels, np.array([0, 1])), of_ragged(Ragged.from_lists([[1]]))
print(found, *(sum(f.stats.cache_hits.values()) for f in (of_kernels, of_ragged)))
"""


def test_functions_that_users_cache_miss_once_kernels_change(tmp_path: pathlib.Path) -> None:
    (tmp_path / "users.py").write_text(
        "from numba import njit\n\n\n@njit(cache=True)\ndef of_kernels(k, doc):\n    return k.count(doc)\n\n\n"
        "@njit(cache=True)\ndef of_ragged(r):\n    return len(r)\n"
    )
    (tmp_path / "kernel.py").write_text("changed = 1\n")
    cache = str(tmp_path / "cache")
    scripts = [CACHED.format(folder=str(tmp_path), changed=changed) for changed in (False, False, True)]
    outputs = [python(script, options=("-W", "ignore"), NUMBA_CACHE_DIR=cache) for script in scripts]
    assert outputs == ["(1, 1) 0 0", "(1, 1) 1 1", "(1, 1) 0 0"]
