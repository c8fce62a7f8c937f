"""One short document from Python and back: builtin functions that read objects, encode or decode, and make the result.

Each is given the array of its header (coding/short.py), whose words are named below, and the arguments of the call::

    word    0       1      2       3       4 ...
            places  forms  memory  header                                                                      encode
            places  forms  memory  -       addresses of two kernels, their memory, and from `classes` on tables   encode_text
            places  forms  memory  busy    output  slots  starts  arena  gaps                                  decode

`places` is what `machine/objects.py` knows of Python, `forms` the kinds of documents that are read. One `memory` is enough for
all calls: no Python code runs between its first use and its last, but for handlers of errors in `decode`, hence `busy`. The
result for anything unusual is None.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.coding.kernels.decode import LONG, SLOT
from ubpe_numba.coding.kernels.header import ENCODER, begin, ids_at, read_symbols, symbol_at
from ubpe_numba.runtime.compiler import builtin, helper
from ubpe_numba.runtime.machine import objects
from ubpe_numba.runtime.machine.addresses import array_at, call_at, copy_bytes, release, table_at, word_at
from ubpe_numba.runtime.machine.intrinsics import copy_16_bytes, load8, load16, load32, load64

LONGEST = 4096  # symbols, bytes or ids of a short document: for more the general reader costs little in comparison
_PAUSE = 256  # symbols of a document from which on other threads run meanwhile
#: Bytes of `memory`: integers or characters of a document, and the symbols of ids.
MEMORY, ROOM = 8 * LONGEST, 8 * LONGEST - 2 * SLOT

PLACES, FORMS, SCRATCH, HEADER, BUSY = 0, 1, 2, 3, 3
#: Bits of `forms`: lists, tuples and arrays of integers; bytes; `str`, by code points, or by the bytes of their UTF-8.
INTEGERS, OF_BYTES, POINTS, UTF8 = 1, 2, 4, 8
#: Words of a header of `encode_text`, of tables the first of two.
SPLIT, ENCODE, OFFSETS, SEGMENTS, OUT, CLASSES, TABLES, KEYS, KEY_ENDS, TOKEN_IDS = 4, 5, 6, 7, 8, 9, 11, 47, 49, 51
ONLY_ASCII = 16  # a bit of its `forms`
#: Words of a header of `decode`; output beside the number of a dtype.
OUTPUT, SLOTS, STARTS, ARENA, GAPS = 4, 5, 6, 8, 9
TEXT, TEXT_OR_NOT, CODE_POINTS, PLAIN_BYTES = -1, -2, -3, -4
_REPLACE = np.uint64(int.from_bytes(b"replace\0", "little"))


@helper
def _nothing(places):
    """None, for the caller to return."""
    none = word_at(places, objects.NONE)
    objects.keep(none)
    return none


@helper
def _is_integer(item, places):
    """Whether an item is an integer whose type is known; a `bool` is not. O(1)."""
    kind = word_at(item, objects.TYPE)
    found = kind == word_at(places, objects.INT)
    if not found:
        for i in range(objects.N_ITEMS):
            found |= kind == word_at(places, objects.ITEMS + i)
    return found


@helper
def _listed(obj, places, n, to, is_list):
    """Write the integers of a list or a tuple to int64 at an address; whether all were, and fit. O(n)."""
    out = array_at(to, n, np.int64)
    for i in range(n):
        item = objects.list_item(obj, i) if is_list else objects.tuple_item(obj, i)
        if not _is_integer(item, places):
            return False
        x = objects.integer_of(item)
        if x == -1 and objects.failed() != 0:
            objects.forget()
            return False
        out[i] = x
    return True


@helper
def _utf8(source, n, width, to):
    """Write n characters of `width` bytes as UTF-8, a lone surrogate as three bytes; returns how many, -1 for no room. O(n)."""
    out = array_at(to, 8 * LONGEST, np.uint8)
    w = np.int64(0)
    for i in range(n):
        if w > 8 * LONGEST - 4:
            return np.int64(-1)
        at = np.int64(i) * width
        c = load8(source, at) if width == 1 else load16(source, at) if width == 2 else load32(source, at)
        if c < 0x80:
            out[w] = c
            w += 1
            continue
        if c < 0x800:
            out[w] = 0xC0 | (c >> 6)
            w += 1
        else:
            if c < 0x10000:
                out[w] = 0xE0 | (c >> 12)
                w += 1
            else:
                out[w] = 0xF0 | (c >> 18)
                out[w + 1] = 0x80 | ((c >> 12) & 0x3F)
                w += 2
            out[w] = 0x80 | ((c >> 6) & 0x3F)
            w += 1
        out[w] = 0x80 | (c & 0x3F)
        w += 1
    return w


@helper
def _read(obj, places, forms, to):
    """Where the symbols of an object are, bytes between two, how many, and their kind as for `encode_at`; n -1 for unusual ones.

    They stay where they are, or are written to the address `to`, of MEMORY bytes. O(n).
    """
    address, stride, n, kind = np.int64(0), np.int64(1), np.int64(-1), np.int64(17)
    of = word_at(obj, objects.TYPE)
    is_list = of == word_at(places, objects.LIST)
    if (is_list or of == word_at(places, objects.TUPLE)) and forms & INTEGERS:
        n = objects.list_size(obj) if is_list else objects.tuple_size(obj)
        if n > LONGEST or not _listed(obj, places, n, to, is_list):
            n = np.int64(-1)
        address, stride, kind = to, np.int64(8), np.int64(8)
    elif of == word_at(places, objects.ARRAY) and forms & INTEGERS:
        dtype = word_at(obj, objects.DTYPE)
        order = load8(dtype, np.int64(objects.BYTE_ORDER))  # "=" or "|": of this machine
        number = load32(dtype, np.int64(objects.NUMBER))
        if (order == 61 or order == 124) and 0 <= number < objects.MOST and load32(obj, np.int64(8 * objects.N_DIMENSIONS)) == 1:
            kind = word_at(places, objects.KINDS + number)
            if kind != 0:
                address, n, stride = (
                    word_at(obj, objects.DATA),
                    word_at(word_at(obj, objects.SHAPE), 0),
                    word_at(word_at(obj, objects.STRIDES), 0),
                )
    elif of == word_at(places, objects.BYTES) and forms & OF_BYTES:
        address, n = objects.bytes_data(obj), objects.bytes_size(obj)
    elif of == word_at(places, objects.STR) and forms & (POINTS | UTF8):
        address = objects.read_str(obj, to)
        n = word_at(to, 0)
        width = load32(to, np.int64(8))
        if forms & POINTS:
            stride, kind = width, width + 16
        elif load32(to, np.int64(12)) == 0:  # not ASCII
            n = np.int64(-1) if n > LONGEST else _utf8(address, n, width, to)
            address = to
    if n > LONGEST:
        n = np.int64(-1)
    return address, stride, n, kind


@builtin
def encode(me, args, n_args):
    """The ids of one document of integers, bytes or characters that is encoded as a whole. O(n) and the encoder."""
    call = word_at(me, objects.DATA)
    places, header = word_at(call, PLACES), word_at(call, HEADER)
    doc, stride, n, kind = _read(word_at(args, 0), places, word_at(call, FORMS), word_at(call, SCRATCH))
    if n < 0 or n_args != 1:
        return _nothing(places)
    work = begin(header, n)
    if work == 0:
        return _nothing(places)
    w = read_symbols(header, work, doc, stride, n, kind)
    made = np.int64(-1)
    if w >= 0:
        m = w
        state = np.int64(0)
        if n > _PAUSE:
            state = objects.leave_gil()
        w = call_at(word_at(header, ENCODER), (header, work, m))
        if n > _PAUSE:
            objects.take_gil(state)
        if w >= 0:
            made = objects.new_array(
                word_at(places, objects.NEW_ARRAY), word_at(places, objects.ARRAY), np.int64(NUMBER_OF_IDS), w
            )
            if made != 0:
                copy_bytes(word_at(made, objects.DATA), ids_at(work, m), 4 * w)
    release(work)
    return _nothing(places) if made == -1 else made


#: The number of int32 among dtypes.
NUMBER_OF_IDS = np.dtype(np.int32).num


@helper
def _holds(text, n, keys, ends):
    """Whether a text holds one of the keys: key k is `keys[ends[k] : ends[k + 1]]`. O(n * keys), where they begin more."""
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


@builtin
def encode_text(me, args, n_args):
    """The ids of one text that a pattern cuts; one that may hold special tokens or known words is unusual. O(n)."""
    call = word_at(me, objects.DATA)
    places, forms, memory = word_at(call, PLACES), word_at(call, FORMS), word_at(call, SCRATCH)
    source, _, n, _ = _read(word_at(args, 0), places, forms, memory)
    if n < 0 or n_args != 1:
        return _nothing(places)
    if source != memory:
        copy_bytes(memory, source, n)
    text = array_at(memory, LONGEST + 64, np.uint8)
    high = np.uint8(0)
    if forms & ONLY_ASCII:
        for i in range(n):
            high |= text[i]
    if high >= 128 or _holds(text, n, table_at(call, KEYS, np.uint8), table_at(call, KEY_ENDS, np.int64)):
        return _nothing(places)
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
    given = text, bounds, array_at(segments, k + 1, np.int64), tables, caches, scratch, dead, state, ids, written
    call_at(word_at(call, ENCODE), given)
    w = state[1]
    token_ids = table_at(call, TOKEN_IDS, np.int32)
    made = objects.new_array(word_at(places, objects.NEW_ARRAY), word_at(places, objects.ARRAY), np.int64(NUMBER_OF_IDS), w)
    if made != 0:
        if token_ids.size:
            out = array_at(word_at(made, objects.DATA), w, np.int32)
            for i in range(w):
                out[i] = token_ids[ids[i]]
        else:
            copy_bytes(word_at(made, objects.DATA), word_at(call, OUT), 4 * w)
    return made


@builtin
def decode(me, args, n_args):
    """The document of some ids: `ids, errors`, of which the second is None for bytes. O(ids + symbols)."""
    call = word_at(me, objects.DATA)
    places, output, memory = word_at(call, PLACES), word_at(call, OUTPUT), word_at(call, SCRATCH)
    busy = array_at(call + 8 * BUSY, 1, np.int64)
    if n_args != 2 or busy[0] != 0:
        return _nothing(places)
    ids, stride, n, kind = _read(word_at(args, 0), places, np.int64(INTEGERS), memory)
    slots, arena, out = word_at(call, SLOTS), word_at(call, ARENA), memory + MEMORY
    starts, gaps = table_at(call, STARTS, np.int64), table_at(call, GAPS, np.uint8)
    w = np.int64(0)
    for i in range(n):
        t = symbol_at(ids + i * stride, kind & 15, kind >= 16)
        if np.uint64(t) >= np.uint64(starts.size - 1) or (gaps.size and gaps[t] != 0) or w > ROOM:
            return _nothing(places)
        slot = slots + SLOT * t
        size = load8(slot, np.int64(SLOT - 1))
        if size == LONG:
            size = starts[t + 1] - starts[t]
            if size > ROOM - w:
                return _nothing(places)
            copy_bytes(out + w, arena + starts[t], size)
        else:
            copy_16_bytes(out + w, slot)
            copy_16_bytes(out + w + 16, slot + 16)
        w += size
    if n < 0:
        return _nothing(places)
    errors = word_at(args, 1)
    if output == PLAIN_BYTES or errors == word_at(places, objects.NONE):
        return objects.new_bytes(out, w)
    if output == CODE_POINTS:
        return objects.new_text(out, w >> 2)
    if output >= 0:
        width = word_at(places, objects.KINDS + output) & 15
        made = objects.new_array(word_at(places, objects.NEW_ARRAY), word_at(places, objects.ARRAY), output, w // width)
        if made != 0:
            copy_bytes(word_at(made, objects.DATA), out, w)
        return made
    handler = objects.characters_of(errors, np.int64(0))
    if output == TEXT_OR_NOT and load64(handler, np.int64(0)) == _REPLACE:
        handler = np.int64(0)  # strict
    busy[0] = 1
    made = objects.new_str(out, w, handler)
    busy[0] = 0
    if made == 0:
        objects.forget()
        return _nothing(places)
    return made


@helper
def _or_general(found, me, args, n_args, names, places, general):
    """The result of a short way, or that of the method of Python, the word `general` of `places`, where it is 0 or None."""
    if found != 0:
        if found != word_at(places, objects.NONE):
            return found
        objects.drop(found)
    elif objects.failed() != 0:
        return found
    method = objects.method_of(word_at(places, general), me)
    if method != 0:
        found = objects.call_object(method, args, n_args, names)
        objects.drop(method)
    return found


@helper
def _short_way(me, places, name, args, n_args):
    """Call the function `name` among the plans of a tokenizer; 0 if there is none. O(1) and the function."""
    found = np.int64(0)
    attributes = objects.attributes_of(me, np.int64(0))
    if attributes == 0:
        return found
    plans = objects.entry_of(attributes, word_at(places, objects.PLANS))
    objects.drop(attributes)  # the tokenizer has it
    short = plans if plans == 0 else objects.entry_of(plans, word_at(places, name))
    if short != 0 and short != word_at(places, objects.NONE):
        objects.keep(short)
        found = objects.call_object(short, args, n_args, np.int64(0))
        objects.drop(short)
    return found


@builtin
def encode_here(me, args, n_args, names):
    """The method `encode` of tokenizers: one document without options goes the short way. O(n) and the encoder."""
    places = objects.here()
    found = np.int64(0)
    if n_args == 1 and names == 0:
        found = _short_way(me, places, np.int64(objects.SHORT), args, n_args)
    return _or_general(found, me, args, n_args, names, places, np.int64(objects.ENCODING))


@builtin
def decode_here(me, args, n_args, names):
    """The method `decode` of tokenizers: ids without options go the short way. O(ids + symbols)."""
    places = objects.here()
    found = np.int64(0)
    if n_args == 1 and names == 0:
        given = objects.two(word_at(args, 0), word_at(places, objects.REPLACE))
        found = _short_way(me, places, np.int64(objects.DECODE), given, np.int64(2))
    return _or_general(found, me, args, n_args, names, places, np.int64(objects.DECODING))


#: Methods by their names: the kernel, and the word of `places` that has the method of Python.
METHODS = {"encode": (encode_here, objects.ENCODING), "decode": (decode_here, objects.DECODING)}
