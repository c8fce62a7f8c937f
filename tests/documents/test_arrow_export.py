"""A `Ragged` handed out as an Arrow array: what consumers may do with the structs, and that all is given back once."""

from __future__ import annotations

import ctypes
import gc
import sys
import threading
import weakref
from typing import Any

import numpy as np
import pytest
from arrow_producers import Array, Moved, Schema, pointer_in
from processes import python

from ubpe_numba import Ragged

_RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Watched:
    """Memory of an array that can be referred to weakly."""

    def __init__(self, array: np.ndarray) -> None:
        self.array, self.__array_interface__ = array, array.__array_interface__


def made() -> tuple[Ragged, list[weakref.ref[Any]]]:
    """A batch, and references that die with its two arrays."""
    values, offsets = Watched(np.array([1, 2, 3], np.int32)), Watched(np.array([0, 2, 2, 3]))
    return Ragged._trusted(np.asarray(values), np.asarray(offsets)), [weakref.ref(values), weakref.ref(offsets)]


def alive(references: list[weakref.ref[Any]]) -> list[bool]:
    gc.collect()
    return [reference() is not None for reference in references]


def test_what_the_structs_say() -> None:
    batch = Ragged(np.arange(5, dtype=np.int32), np.array([1, 3, 3]))
    schema_capsule, array_capsule = batch.__arrow_c_array__()
    schema = Schema.from_address(pointer_in(schema_capsule, "arrow_schema"))
    array = Array.from_address(pointer_in(array_capsule, "arrow_array"))
    assert (schema.format, schema.name, schema.flags, schema.n_children, schema.dictionary) == (b"+L", b"", 2, 1, None)
    assert (array.length, array.null_count, array.offset, array.n_buffers, array.n_children) == (2, 0, 0, 2, 1)
    buffers = (ctypes.c_void_p * 2).from_address(array.buffers)
    assert list(buffers) == [None, batch.offsets.ctypes.data]
    (place,) = (ctypes.c_void_p * 1).from_address(array.children)
    child = Array.from_address(place)
    assert (child.length, child.n_buffers, child.n_children) == (5, 2, 0)
    assert list((ctypes.c_void_p * 2).from_address(child.buffers)) == [None, batch.values.ctypes.data]
    (place,) = (ctypes.c_void_p * 1).from_address(schema.children)
    assert (Schema.from_address(place).format, Schema.from_address(place).name) == (b"i", b"item")


def test_a_requested_schema_that_was_released_is_not_read() -> None:
    batch, _ = made()
    wanted = batch.__arrow_c_array__()[0]
    assert pointer_in(batch.__arrow_c_array__(wanted)[1], "arrow_array")
    Moved(Schema, pointer_in(wanted, "arrow_schema"))  # and released at once
    with pytest.raises(ValueError, match="requested_schema: what the capsule held was taken or released before"):
        batch.__arrow_c_array__(wanted)
    with pytest.raises(TypeError):
        batch.__arrow_c_array__("int32")


def test_a_struct_that_was_moved_is_released_once() -> None:
    batch, references = made()
    schema, array = batch.__arrow_c_array__()
    del batch
    moved = Moved(Array, pointer_in(array, "arrow_array"))
    del schema, array  # the struct where it was is freed
    assert alive(references) == [True, True]
    assert moved.struct.release and moved.struct.length == 3
    again = Moved(Array, moved.address)
    del moved
    assert alive(references) == [True, True]
    _RELEASE(again.struct.release)(again.address)
    assert again.struct.release is None and alive(references) == [False, False]


@pytest.mark.parametrize("kind", ["array", "schema"])
def test_a_child_that_was_moved_outlives_its_parent(kind: str) -> None:
    batch, references = made()
    struct = Array if kind == "array" else Schema
    capsule = batch.__arrow_c_array__()[kind == "array"]
    parent = Moved(struct, pointer_in(capsule, f"arrow_{kind}"))
    (place,) = (ctypes.c_void_p * 1).from_address(parent.struct.children)
    child = Moved(struct, place)
    del parent, capsule, batch
    assert alive(references) == [kind == "array"] * 2  # nanoarrow keeps the buffers of both
    if kind == "array":
        values = (ctypes.c_int32 * 3).from_address((ctypes.c_void_p * 2).from_address(child.struct.buffers)[1])
        assert list(values) == [1, 2, 3]
    else:
        assert child.struct.format == b"i" and child.struct.name == b"item"
    del child
    assert alive(references) == [False, False]


def test_sharing_again_and_again_leaks_nothing() -> None:
    """Capsules that nobody takes hold the arrays, and are freed."""
    batch, references = made()
    counts = [sys.getrefcount(batch.values), sys.getrefcount(batch._offsets)]
    for _ in range(100):
        capsules = batch.__arrow_c_array__()
        assert Ragged.from_arrow(batch) == batch
        assert pointer_in(capsules[1], "arrow_array")
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
    failed: list[BaseException] = []
    references: list[weakref.ref[Any]] = []

    def work() -> None:
        try:
            for _ in range(100):
                batch, mine = made()
                references.extend(mine)
                array = pa.array(batch)
                del batch
                back = Ragged.from_arrow(array.slice(1))
                del array
                assert back.to_lists() == [[], [3]]
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed and not any(alive(references))


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
