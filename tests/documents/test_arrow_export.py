"""A `Ragged` handed out as an Arrow array: shared, and given back once, by any thread."""

import gc
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from processes import python
from tables import refuses

from ubpe_numba import BPE, Ragged
from ubpe_numba.documents.ragged import trusted


class Watched:
    """Memory of an array that can be referred to weakly."""

    def __init__(self, array: np.ndarray) -> None:
        self.array, self.__array_interface__ = array, array.__array_interface__


def made() -> tuple[Ragged, list[weakref.ref[Any]]]:
    """A batch, and references that die with its two arrays."""
    values, offsets = Watched(np.array([1, 2, 3], np.int32)), Watched(np.array([0, 2, 2, 3]))
    return trusted(np.asarray(values), np.asarray(offsets)), [weakref.ref(values), weakref.ref(offsets)]


def alive(references: list[weakref.ref[Any]]) -> list[bool]:
    gc.collect()
    return [reference() is not None for reference in references]


def test_a_requested_schema_that_was_released_is_not_read() -> None:
    batch, _ = made()
    wanted = batch.__arrow_c_array__()[0]
    assert batch.__arrow_c_array__(wanted)  # which takes it
    refuses(ValueError, "Cannot import released ArrowSchema", batch.__arrow_c_array__, wanted)
    refuses(TypeError, "", batch.__arrow_c_array__, "int32")


def test_sharing_again_and_again_leaks_nothing() -> None:
    """Capsules that nobody takes hold the arrays, and are freed."""
    batch, references = made()
    counts = [sys.getrefcount(batch.values), sys.getrefcount(batch._offsets)]
    for _ in range(100):
        capsules = batch.__arrow_c_array__()
        assert Ragged.from_arrow(batch) == batch
    del capsules
    gc.collect()
    assert [sys.getrefcount(batch.values), sys.getrefcount(batch._offsets)] == counts
    capsules = batch.__arrow_c_array__()
    del batch
    assert alive(references) == [True, True]
    del capsules
    assert alive(references) == [False, False]


def test_own_arrays_come_back() -> None:
    batch = Ragged.from_lists([[9], [1, 2], [], [3]])
    for given in (batch, batch[1:], batch[2:2], Ragged.from_lists([]), Ragged.from_lists([[], []])):
        back = Ragged.from_arrow(given)
        assert back == given == Ragged.from_arrow(back)
        assert not given.total or back.values.ctypes.data == given.values.ctypes.data + 4 * given.offsets[0]
    texts = ["low lower é", "", "lowest 低"]
    tok = BPE.for_text(262, pretokenizer="gpt2").fit(texts, progress=False)
    ids = tok.encode_batch(texts)
    # read-only memory
    assert tok.decode_batch(ids.to_arrow()) == tok.decode_batch(Ragged.from_arrow(ids)) == texts


def test_an_exception_on_its_way_is_kept() -> None:
    """What is dropped while it is raised is released: with a callback that is Python code, pyarrow would end the process."""
    pa = pytest.importorskip("pyarrow")
    batch, references = made()
    for get in (pa.array, Ragged.__arrow_c_array__, lambda shared: shared.__arrow_c_array__()[0]):
        with pytest.raises(TypeError, match=r"int\(\) argument must be"):
            int(get(batch))
    del batch
    assert alive(references) == [False, False]


def test_it_is_released_by_any_thread() -> None:
    """Threads share, read, slice and drop at the same time, the last reference to the arrays included."""
    pa = pytest.importorskip("pyarrow")
    references: list[weakref.ref[Any]] = []

    def work(_: int) -> None:
        for _ in range(100):
            batch, mine = made()
            references.extend(mine)
            array = pa.array(batch)
            del batch
            back = Ragged.from_arrow(array.slice(1))
            del array
            assert back.to_lists() == [[], [3]]

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert not any(alive(references))


def test_it_is_released_without_the_gil() -> None:
    """By a thread that Python does not know and that holds no GIL: the pool of pyarrow drops the last reference."""
    pa = pytest.importorskip("pyarrow")
    compute = pytest.importorskip("pyarrow.compute")
    references: list[weakref.ref[Any]] = []
    for _ in range(20):
        batch, mine = made()
        references += mine
        table = pa.table({"ids": pa.chunked_array([pa.array(batch)] * 20)})
        del batch
        assert table.filter(compute.greater(compute.list_value_length(table["ids"]), 0)).num_rows == 40
        del table
    assert not any(alive(references))


def test_what_is_left_when_the_interpreter_ends() -> None:
    pytest.importorskip("pyarrow")
    python(
        """
import builtins, pyarrow
from ubpe_numba import Ragged
batch = Ragged.from_lists([[1, 2], [3]])
builtins.back = Ragged.from_arrow(pyarrow.array([[1]] * 1000, pyarrow.large_list(pyarrow.int32())))
builtins.array = pyarrow.array(batch)
array, capsules = pyarrow.array(batch), batch.__arrow_c_array__()
""",
        options=("-X", "faulthandler"),
    )
