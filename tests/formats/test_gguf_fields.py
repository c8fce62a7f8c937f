"""The fields of files of gguf: what is written is read, as by the package gguf, and anything else is refused at once."""

from __future__ import annotations

import pathlib
import struct
import tempfile
from typing import Any

import numpy as np
import pytest
from gguf_files import ARRAY, BOOL, F64, I8, I64, LAYOUTS, STRING, U8, U64, Typed, gguf, string, value_of
from hypothesis import given
from hypothesis import strategies as st
from reference.counted_strings import counted_strings as plain

from ubpe_numba.errors import ModelFormatError
from ubpe_numba.formats import gguf as gguf_module
from ubpe_numba.formats.gguf import read_fields
from ubpe_numba.formats.kernels.counted_strings import counted_strings

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
VALUES = st.one_of(
    TEXT,
    st.booleans(),
    st.integers(0, 2**32 - 1),
    st.floats(width=32, allow_nan=False),
    st.builds(Typed, st.just(I64), st.integers(-(2**63), 2**63 - 1)),
    st.builds(Typed, st.just(STRING), st.lists(TEXT, max_size=8)),
    st.builds(Typed, st.just(U8), st.lists(st.integers(0, 255), max_size=8)),
    st.builds(Typed, st.just(I8), st.lists(st.integers(-128, 127), max_size=8)),
    st.builds(Typed, st.just(F64), st.lists(st.floats(allow_nan=False), max_size=8)),
    st.builds(Typed, st.just(BOOL), st.lists(st.booleans(), max_size=8)),
)


def fields_of(data: bytes, prefix: str = "a.") -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "x")
        path.write_bytes(data)
        return read_fields(path, prefix)


def same(found: Any, value: Any) -> bool:
    value = value.value if isinstance(value, Typed) else value
    if isinstance(found, np.ndarray):
        return bool(found.tolist() == value)
    return type(found) is type(value) and bool(found == value)


@given(st.dictionaries(TEXT, VALUES, max_size=6), st.dictionaries(TEXT, VALUES, max_size=6), st.sampled_from([2, 3]))
def test_what_is_written_is_read(wanted: dict[str, Any], others: dict[str, Any], version: int) -> None:
    rows = [*(("b." + name, value) for name, value in others.items()), *(("a." + name, value) for name, value in wanted.items())]
    found = fields_of(gguf(rows[::2] + rows[1::2], version) + b"tensors")
    assert found.keys() == wanted.keys()
    assert all(same(found[name], wanted[name]) for name in wanted)


def test_numbers_of_every_type() -> None:
    for kind, layout in LAYOUTS.items():
        most = True if layout == "?" else 0.5 if layout in "fd" else (1 << 8 * struct.calcsize(layout) - layout.islower()) - 1
        found = fields_of(gguf([("a.x", Typed(kind, most)), ("a.y", Typed(kind, [most, most])), ("a.z", Typed(kind, []))]))
        assert found["x"] == most and found["y"].tolist() == [most, most] and found["z"].size == 0


def test_only_the_fields_are_read(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open(tmp_path / "x", "wb") as f:
        f.write(gguf([("a.x", ["é", "", "b"] * 9), ("b", Typed(STRING, ["c" * 99] * 9)), ("c", [1] * 99), ("a.y", 5)]))
        f.truncate(1 << 40)
    for piece in (1, 3, 64, 1 << 20):
        monkeypatch.setattr(gguf_module, "_PIECE", piece)
        assert read_fields(tmp_path / "x", "a.") == {"x": ["é", "", "b"] * 9, "y": 5}


def test_the_package_gguf_reads_and_writes_the_same(tmp_path: pathlib.Path) -> None:
    package = pytest.importorskip("gguf")
    writer = package.GGUFWriter(tmp_path / "x", "llama")
    writer.add_token_list(["a", "é", "\U0001d518"])
    writer.add_token_scores([0.5, -1.0, 2.0])
    writer.add_token_types([1, 2, 3])
    writer.add_add_space_prefix(False)
    writer.add_precompiled_charsmap(b"\x00\xff")
    writer.add_unk_token_id(2)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    theirs = package.GGUFReader(tmp_path / "x").fields
    ours = read_fields(tmp_path / "x", "")
    assert ours.keys() == {name for name in theirs if not name.startswith("GGUF.")}
    for name, value in ours.items():
        assert (value.tolist() if isinstance(value, np.ndarray) else value) == theirs[name].contents()


BAD = {
    "ends within the beginning": b"GG",
    "does not begin with GGUF": b"GGML" + bytes(20),
    "ends within the version": b"GGUF\x03",
    "not supported: version 1;": gguf([], 1),
    "not supported: version 0;": gguf([], 0),
    "not supported: the high bytes of its numbers are first": gguf([], 3 << 24),
    "1099511627776 fields; expected at most": gguf([], n_fields=1 << 40),
    "ends within the name of field 0": gguf([], n_fields=1),
    "ends within the name of field 1": gguf([("a.x", 1)], n_fields=2) + struct.pack("<Q", 2**64 - 1) + b"ab",
    "the name of field 0 is not UTF-8": gguf([(b"\xff", 1)]),
    "'a.x' is there twice": gguf([("a.x", 1), ("a.x", 1)]),
    "'b.x' is there twice": gguf([("b.x", 1), ("b.x", "")]),
    "the field 'a.x' has the type 13": gguf([("a.x", bytearray(struct.pack("<I", 13)))]),
    "the field 'a.y' has the type 4294967295": gguf([("a.y", bytearray(b"\xff" * 4))]),
    "the field 'a.x' is an array of the type 9": gguf([("a.x", bytearray(struct.pack("<IIQ", ARRAY, ARRAY, 1) + value_of([1])))]),
    "the field 'b.x' is an array of the type 9": gguf([("b.x", bytearray(struct.pack("<IIQ", ARRAY, ARRAY, 1) + value_of([1])))]),
    "the field 'b.y' is an array of the type 77": gguf([("b.y", bytearray(struct.pack("<IIQ", ARRAY, 77, 1)))]),
    "the file ends within the field 'a.x'": gguf([("a.x", bytearray(struct.pack("<I", STRING) + string("ab")[:-1]))]),
    "the file ends within the field 'b.x'": gguf([("b.x", bytearray(struct.pack("<IQ", STRING, 2**64 - 1)))]),
    "the file ends within the field 'a.1'": gguf([("a.1", bytearray(struct.pack("<IIQ", ARRAY, U8, 2**64 - 1)))]),
    "the file ends within the field 'b.1'": gguf([("b.1", bytearray(struct.pack("<IIQ", ARRAY, U64, 2**61)))]),
    "the field 'a.2' has 18446744073709551615 strings": gguf([("a.2", bytearray(struct.pack("<IIQ", ARRAY, STRING, 2**64 - 1)))]),
    "the file ends within the field 'b.3'": gguf([("b.3", bytearray(struct.pack("<IIQ", ARRAY, STRING, 2**21)))]),
    "the file ends within the field 'b.2'": gguf([("b.2", bytearray(struct.pack("<IIQ", ARRAY, STRING, 3) + string("a") * 2))]),
    "the file ends within the field 'a.3'": gguf([("a.3", bytearray(struct.pack("<IIQQ", ARRAY, STRING, 2, 2**63) + bytes(99)))]),
    "the file ends within the field 'a.4'": gguf(  # the last is whole but for what stands behind it
        [("a.4", bytearray(struct.pack("<IIQ", ARRAY, STRING, 2) + string("abcdefgh") + b"1234567"))]
    ),
    "the field 'a.5': string 0 is not UTF-8": gguf([("a.5", Typed(STRING, b"\xff"))]),
    "the field 'a.6': string 2 is not UTF-8": gguf([("a.6", ["", "b", b"a\xff", "c"])]),
    "the field 'a.7': a string begins within a character": gguf([("a.7", ["", b"\xc3", b"\xa9"])]),
    "the field 'a.8': string 1 is not UTF-8": gguf([("a.8", ["a", b"\xed\xa0\x80"])]),
}


@pytest.mark.parametrize("message", BAD)
def test_what_is_not_valid_is_refused(message: str) -> None:
    with pytest.raises(ModelFormatError) as error:
        fields_of(BAD[message])
    assert message in str(error.value)


def test_other_fields_may_hold_any_bytes() -> None:
    assert fields_of(gguf([("b", Typed(STRING, b"\xff")), ("c", ["a", b"\xff"]), ("a.x", 1)])) == {"x": 1}


def test_fields_of_too_many_bytes_are_refused(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gguf_module, "_MOST_BYTES", 1 << 12)
    (tmp_path / "x").write_bytes(gguf([("a.x", Typed(U8, [1] * 5000))]))
    with pytest.raises(ModelFormatError, match="the field 'a.x' is too large"):
        read_fields(tmp_path / "x", "a.")


def test_a_file_that_is_cut_off_is_refused(tmp_path: pathlib.Path) -> None:
    whole = gguf([("a.x", ["a", "bc"]), ("b", [1.0, 2.0]), ("a.y", 5)])
    for n in range(len(whole)):
        (tmp_path / "x").write_bytes(whole[:n])
        with pytest.raises(ModelFormatError, match="the file ends within"):
            read_fields(tmp_path / "x", "a.")


def refused_or_whole(data: bytes) -> None:
    """Whatever is read are names with numbers, texts, or as many of them as the file can hold."""
    try:
        found = fields_of(data, "")
    except ModelFormatError:
        return
    for name, value in found.items():
        assert isinstance(name, str)
        assert isinstance(value, (bool, int, float)) or len(value) <= len(data), (name, value)


KINDS = st.integers(0, 13)
VALUE_BYTES = st.one_of(  # of a type, of an array of a type, of anything
    st.builds(lambda kind, data: struct.pack("<I", kind) + data, KINDS, st.binary(max_size=9)),
    st.builds(lambda kind, n, data: struct.pack("<IIQ", ARRAY, kind, n) + data, KINDS, st.integers(0, 4), st.binary(max_size=20)),
    st.builds(value_of, VALUES),
    st.binary(max_size=20),
)


@given(st.lists(st.tuples(TEXT, VALUE_BYTES.map(bytearray)), max_size=3), st.integers(0, 4), st.binary(max_size=9))
def test_any_bytes_are_read_or_refused(fields: list[tuple[str, bytearray]], n: int, rest: bytes) -> None:
    refused_or_whole(gguf(fields, n_fields=n) + rest)


@given(st.data())
def test_any_changes_are_read_or_refused(data: st.DataObject) -> None:
    whole = bytearray(gguf([("a.x", ["a", "bc"]), ("b", [1.0, 2.0]), ("a.y", 5), ("a.z", [True])]))
    for _ in range(data.draw(st.integers(1, 3))):
        whole[data.draw(st.integers(8, len(whole) - 1))] = data.draw(st.sampled_from([0, 1, 2, 8, 9, 127, 128, 255]))
    refused_or_whole(bytes(whole))


LENGTHS = st.one_of(st.integers(0, 5), st.sampled_from([2**31, 2**32, 2**63 - 1, 2**63, 2**64 - 8, 2**64 - 1]))


@given(st.lists(st.tuples(LENGTHS, st.binary(max_size=5)), max_size=5), st.integers(0, 6), st.binary(max_size=9), st.data())
def test_strings_are_those_of_the_reference(parts: Any, n: int, rest: bytes, draw: st.DataObject) -> None:
    data = b"".join(struct.pack("<Q", length) + text for length, text in parts) + rest
    begin = draw.draw(st.integers(0, len(data)))
    strings, end = plain(data, begin, n)
    values, text, starts = np.frombuffer(bytearray(data), np.uint8), np.full(len(data), 255, np.uint8), np.zeros(n + 1, np.int64)
    k, at = 0, begin
    for size in [*sorted(draw.draw(st.lists(st.integers(begin, len(data)), max_size=2))), len(data)]:  # as it is read
        k, at = map(int, counted_strings(values[:size], at, text, starts, k))
        assert k == len(plain(data[:size], begin, n)[0])
    assert (k, at) == (len(strings), end)
    assert text[: starts[k]].tobytes() == b"".join(strings) and np.diff(starts[: k + 1]).tolist() == list(map(len, strings))
    assert (text[starts[k] :] == 255).all() and (starts[k + 1 :] == 0).all()


def test_strings_stop_where_the_text_has_no_room() -> None:
    data = np.frombuffer(bytearray(string("ab") + string("") + string("cd")), np.uint8)
    for room, want in ((0, (0, 0)), (1, (0, 0)), (2, (2, 18)), (3, (2, 18)), (4, (3, 28))):
        text, starts = np.zeros(room, np.uint8), np.zeros(4, np.int64)
        assert counted_strings(data, 0, text, starts, 0) == want
        assert text.tobytes() == b"abcd"[: starts[want[0]]].ljust(room, b"\0")
