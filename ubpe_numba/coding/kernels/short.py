"""One short document from Python and back: kernels called by numba, and builtin functions.

The builtin functions read objects through Python's C interface.

Each is given a header (coding/short.py), whose words are named below::

    word    0       1      2       3       4 ...
            places  forms  memory  header                                                    encode
            places  forms  memory  -       two kernels, their memory, tables from `classes`  encode_text
            places  forms  memory  errors  output  slots  starts  arena  gaps                decode

A builtin function gets the array of its header and the arguments of the call. `places` is what `objects.py`
knows of Python, `forms` the kinds of documents that are read. One `memory` is enough for all calls, since no
Python code runs between its first use and its last. The result for anything unusual is None.

`encode_integers`, `encode_bytes` and `decode_ids` are called by numba. They get the array of the header and
others. Each returns how much it has written, or -1 for an unusual document. Two calls of `encode_bytes` must
not run at the same time.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.coding.kernels import c_interface
from ubpe_numba.coding.kernels.addresses import array_at, call_at, copy_bytes, release, table_at, word_at
from ubpe_numba.coding.kernels.decode import LONG, SLOT
from ubpe_numba.coding.kernels.header import ENCODER, begin, ids_at, read_symbols, symbol_at
from ubpe_numba.runtime.compiler import builtin, helper, kernel
from ubpe_numba.runtime.machine import objects
from ubpe_numba.runtime.machine.intrinsics import address, copy_16_bytes, load8, load32

# symbols, bytes or ids of a short document: for more the general reader costs little in comparison
LONGEST = 4096
_PAUSE = 256  # symbols of a document from which on other threads run meanwhile
#: Bytes of `memory`: integers or characters of a document, and the symbols of ids.
MEMORY, ROOM = 8 * LONGEST, 8 * LONGEST - 2 * SLOT

PLACES, FORMS, SCRATCH, HEADER, ERRORS = 0, 1, 2, 3, 3
#: Bits of `forms`: lists, tuples and arrays of integers; bytes; `str`, by code points, or by the bytes of
#: their UTF-8.
INTEGERS, OF_BYTES, POINTS, UTF8 = 1, 2, 4, 8
#: Words of a header of `encode_text`, of tables the first of two.
SPLIT, ENCODE, OFFSETS, SEGMENTS, OUT, CLASSES, TABLES, KEYS, KEY_ENDS, TOKEN_IDS = (
    4,
    5,
    6,
    7,
    8,
    9,
    11,
    47,
    49,
    51,
)
ONLY_ASCII = 16  # a bit of its `forms`
#: Words of a header of `decode`; output next to the number of a dtype.
OUTPUT, SLOTS, STARTS, ARENA, GAPS = 4, 5, 6, 8, 9
TEXT, CODE_POINTS, PLAIN_BYTES = -1, -2, -3


@helper
def _nothing(places):
    """None, for the caller to return."""
    none = word_at(places, objects.NONE)
    c_interface.keep(none)
    return none


@helper
def _is_integer(item, places):
    """Whether an item is an integer whose type is known; a `bool` is not. O(1)."""
    kind = word_at(item, c_interface.TYPE)
    is_one = kind == word_at(places, objects.INT)
    if not is_one:
        for i in range(objects.N_ITEMS):
            is_one |= kind == word_at(places, objects.ITEMS + i)
    return is_one


@helper
def _listed(obj, places, n, to, is_list):
    """Write the integers of a list or a tuple to int64 at an address; whether all were, and fit. O(n)."""
    out = array_at(to, n, np.int64)
    for i in range(n):
        item = c_interface.list_item(obj, i) if is_list else c_interface.tuple_item(obj, i)
        if not _is_integer(item, places):
            return False
        x = c_interface.integer_of(item)
        if x == -1 and c_interface.failed() != 0:
            c_interface.forget()
            return False
        out[i] = x
    return True


@helper
def _read(obj, places, forms, to):
    """The address of an object's symbols, their spacing in bytes, number, and kind as for `encode_at`.

    The number is -1 for unusual objects.

    The symbols stay in place, or are written to the address `to`, of MEMORY bytes. O(n).
    """
    at, stride, n, kind = np.int64(0), np.int64(1), np.int64(-1), np.int64(17)
    of = word_at(obj, c_interface.TYPE)
    is_list = of == word_at(places, objects.LIST)
    if (is_list or of == word_at(places, objects.TUPLE)) and forms & INTEGERS:
        n = c_interface.list_size(obj) if is_list else c_interface.tuple_size(obj)
        if n > LONGEST or not _listed(obj, places, n, to, is_list):
            n = np.int64(-1)
        at, stride, kind = to, np.int64(8), np.int64(8)
    elif of == word_at(places, objects.ARRAY) and forms & INTEGERS:
        dtype = word_at(obj, c_interface.DTYPE)
        order = load8(dtype, np.int64(c_interface.BYTE_ORDER))  # "=" or "|": of this machine
        number = load32(dtype, np.int64(c_interface.NUMBER))
        if (
            (order == 61 or order == 124)
            and 0 <= number < objects.MOST
            and load32(obj, np.int64(8 * c_interface.N_DIMENSIONS)) == 1
        ):
            kind = word_at(places, objects.KINDS + number)
            if kind != 0:
                at, n, stride = (
                    word_at(obj, c_interface.DATA),
                    word_at(word_at(obj, c_interface.SHAPE), 0),
                    word_at(word_at(obj, c_interface.STRIDES), 0),
                )
    elif of == word_at(places, objects.BYTES) and forms & OF_BYTES:
        at, n = c_interface.bytes_data(obj), c_interface.bytes_size(obj)
    elif of == word_at(places, objects.STR) and forms & (POINTS | UTF8):
        n = c_interface.str_size(obj)
        if n <= LONGEST and forms & POINTS:
            c_interface.read_points(obj, to, np.int64(LONGEST))
            at, stride, kind = to, np.int64(4), np.int64(20)
        elif n <= LONGEST:
            at = c_interface.utf8_of(obj, to)
            n = word_at(to, 0)
            if at == 0:  # a part of a character that UTF-8 does not have
                c_interface.forget()
                n = np.int64(-1)
    if n > LONGEST:
        n = np.int64(-1)
    return at, stride, n, kind


@helper
def _new_ids(places, source, n):
    """A new array of n ids, int32, copied from an address.

    If memory is exhausted, 0, and Python's error is set.

    O(n).
    """
    array = c_interface.new_array(
        word_at(places, objects.NEW_ARRAY), word_at(places, objects.ARRAY), np.int64(NUMBER_OF_IDS), n
    )
    if array != 0:
        copy_bytes(word_at(array, c_interface.DATA), source, 4 * n)
    return array


@builtin
def encode(me, args, n_args):
    """The ids of a document of integers, bytes or characters that is encoded as a whole.

    O(n) and the encoder.
    """
    call = word_at(me, c_interface.DATA)
    places, header = word_at(call, PLACES), word_at(call, HEADER)
    if n_args != 1:
        return _nothing(places)
    doc, stride, n, kind = _read(word_at(args, 0), places, word_at(call, FORMS), word_at(call, SCRATCH))
    work = np.int64(0) if n < 0 else begin(header, n)
    if work == 0:
        return _nothing(places)
    w = m = read_symbols(header, work, doc, stride, n, kind)
    if w >= 0:
        state = np.int64(0)
        if n > _PAUSE:
            state = c_interface.leave_gil()
        w = call_at(word_at(header, ENCODER), (header, work, m))
        if n > _PAUSE:
            c_interface.take_gil(state)
    result = _nothing(places) if w < 0 else _new_ids(places, ids_at(work, m), w)
    release(work)
    return result


@kernel
def encode_integers(call, doc, out):
    """Write the ids of a document, int64[n], to int32[n]; returns how many. O(n) and the encoder."""
    header, n = call[HEADER], doc.size
    work = begin(header, n)
    if work == 0:
        return np.int64(-1)
    w = m = read_symbols(header, work, address(doc), np.int64(8), n, np.int64(8))
    if w >= 0:
        w = call_at(word_at(header, ENCODER), (header, work, m))
    if w > 0:
        copy_bytes(address(out), ids_at(work, m), 4 * w)
    release(work)
    return max(w, np.int64(-1))


#: The number of int32 among dtypes.
NUMBER_OF_IDS = np.dtype(np.int32).num


@helper
def _holds(text, n, keys, ends):
    """Whether a text holds one of the keys: key k is `keys[ends[k] : ends[k + 1]]`.

    O(n * keys), more if many places look like the beginning of a key.
    """
    for k in range(ends.size - 1):
        first = keys[ends[k]]
        is_there = False
        for i in range(n):
            is_there |= text[i] == first
        if is_there:
            size = ends[k + 1] - ends[k]
            for i in range(n - size + 1):
                j = np.int64(0)
                while j < size and text[i + j] == keys[ends[k] + j]:
                    j += 1
                if j == size:
                    return True
    return False


@helper
def _cut_and_encode(call, forms, memory, n):
    """Write the ids of a text of n bytes in `memory` to the address `out`. O(n).

    Returns how many, -1 if the text is unusual.
    """
    text = array_at(memory, LONGEST + 64, np.uint8)
    high = np.uint8(0)
    if forms & ONLY_ASCII:
        for i in range(n):
            high |= text[i]
    if high >= 128 or _holds(text, n, table_at(call, KEYS, np.uint8), table_at(call, KEY_ENDS, np.int64)):
        return np.int64(-1)
    bounds = array_at(word_at(call, OFFSETS), 2, np.int64)
    cut = array_at(word_at(call, OFFSETS) + 16, 2, np.int64)
    state = array_at(word_at(call, OFFSETS) + 32, 3, np.int64)
    written = array_at(word_at(call, OFFSETS) + 56, 2, np.int64)
    bounds[1] = n
    cut[:] = 0
    state[:] = 0
    segments, ids = word_at(call, SEGMENTS), array_at(word_at(call, OUT), LONGEST, np.int32)
    ends = array_at(segments + 8, LONGEST, np.int64)
    k = call_at(word_at(call, SPLIT), (text, bounds, table_at(call, CLASSES, np.uint8), cut, ends))
    t = np.int64(TABLES)
    tables = (
        table_at(call, t, np.int32), table_at(call, t + 2, np.int32), table_at(call, t + 4, np.uint64),
        table_at(call, t + 6, np.int32), table_at(call, t + 8, np.int32), table_at(call, t + 10, np.int32),
        table_at(call, t + 12, np.uint64), table_at(call, t + 14, np.int32), table_at(call, t + 16, np.int32),
        table_at(call, t + 18, np.int32), table_at(call, t + 20, np.int32), table_at(call, t + 22, np.int32),
        table_at(call, t + 24, np.uint64), table_at(call, t + 26, np.int32),
    )  # fmt: skip
    caches = table_at(call, t + 28, np.uint64), table_at(call, t + 30, np.uint64)
    scratch, dead = table_at(call, t + 32, np.uint64), table_at(call, t + 34, np.uint8)
    arguments = (
        text,
        bounds,
        array_at(segments, k + 1, np.int64),
        tables,
        caches,
        scratch,
        dead,
        state,
        ids,
        written,
    )
    call_at(word_at(call, ENCODE), arguments)
    token_ids = table_at(call, TOKEN_IDS, np.int32)
    if token_ids.size:
        for i in range(state[1]):
            ids[i] = token_ids[ids[i]]
    return state[1]


@builtin
def encode_text(me, args, n_args):
    """The ids of a text that a pattern splits; a text with special tokens or known words is unusual.

    O(n).
    """
    call = word_at(me, c_interface.DATA)
    places, forms, memory = word_at(call, PLACES), word_at(call, FORMS), word_at(call, SCRATCH)
    if n_args != 1:
        return _nothing(places)
    source, _, n, _ = _read(word_at(args, 0), places, forms, memory)
    if n >= 0:
        copy_bytes(memory, source, n)
        n = _cut_and_encode(call, forms, memory, n)
    return _nothing(places) if n < 0 else _new_ids(places, word_at(call, OUT), n)


@kernel
def encode_bytes(call, doc, out):
    """`encode_text` of uint8[n], n up to LONGEST, to int32[n]; returns how many ids, -1 if it is unusual.

    O(n).
    """
    memory = call[SCRATCH]
    copy_bytes(memory, address(doc), doc.size)
    w = _cut_and_encode(address(call), call[FORMS], memory, np.int64(doc.size))
    if w > 0:
        copy_bytes(address(out), call[OUT], 4 * w)
    return w


@helper
def _symbols_of(call, ids, stride, n, kind, out):
    """Write the symbols of n ids to ROOM bytes at `out`; returns how many bytes, or -1. O(n).

    The ids are given as to `encode_at`.
    """
    slots, arena = word_at(call, SLOTS), word_at(call, ARENA)
    starts, gaps = table_at(call, STARTS, np.int64), table_at(call, GAPS, np.uint8)
    w = np.int64(0)
    for i in range(n):
        t = symbol_at(ids + i * stride, kind & 15, kind >= 16)
        if np.uint64(t) >= np.uint64(starts.size - 1) or (gaps.size and gaps[t] != 0) or w > ROOM:
            return np.int64(-1)
        slot = slots + SLOT * t
        size = load8(slot, np.int64(SLOT - 1))
        if size == LONG:
            size = starts[t + 1] - starts[t]
            if size > ROOM - w:
                return np.int64(-1)
            copy_bytes(out + w, arena + starts[t], size)
        else:
            copy_16_bytes(out + w, slot)
            copy_16_bytes(out + w + 16, slot + 16)
        w += size
    return w


@builtin
def decode(me, args, n_args):
    """The document of some ids, as bytes if None follows them, otherwise as well-formed text.

    Any other result is unusual.

    `errors`: the address of the name of a handler that runs no code of Python, or 0. O(ids + symbols).
    """
    call = word_at(me, c_interface.DATA)
    places, output, memory = word_at(call, PLACES), word_at(call, OUTPUT), word_at(call, SCRATCH)
    if n_args < 1:
        return _nothing(places)
    ids, stride, n, kind = _read(word_at(args, 0), places, np.int64(INTEGERS), memory)
    out = memory + MEMORY
    w = np.int64(-1) if n < 0 else _symbols_of(call, ids, stride, n, kind, out)
    if w < 0:
        return _nothing(places)
    if output == PLAIN_BYTES or (n_args == 2 and word_at(args, 1) == word_at(places, objects.NONE)):
        return c_interface.new_bytes(out, w)
    if output == CODE_POINTS:
        return c_interface.new_text(out, w >> 2)
    if output >= 0:
        width = word_at(places, objects.KINDS + output) & 15
        result = c_interface.new_array(
            word_at(places, objects.NEW_ARRAY), word_at(places, objects.ARRAY), output, w // width
        )
        if result != 0:
            copy_bytes(word_at(result, c_interface.DATA), out, w)
        return result
    result = c_interface.new_str(out, w, word_at(call, ERRORS) if n_args == 1 else np.int64(0))
    if result == 0:
        c_interface.forget()
        return _nothing(places)
    return result


@kernel
def decode_ids(call, ids, out):
    """Write the symbols of ids, int64[n], to uint8[MEMORY]; returns how many bytes, or -1 if unusual.

    O(ids + symbols).
    """
    return _symbols_of(
        address(call), address(ids), np.int64(8), np.int64(ids.size), np.int64(8), address(out)
    )
