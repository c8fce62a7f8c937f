"""The seeds of `fuzz_loaders`: valid models of every class, kind and format, and hostile variants of them."""

from __future__ import annotations

import io
import json
import pathlib
import struct
import sys
import tempfile
import warnings
import zipfile
from typing import Any

from fuzz.fuzz_loaders import CLASSES, LOADERS, to_members

import ubpe_numba
from ubpe_numba import Preprocessing, export

DOCUMENTS: dict[str, list[Any]] = {
    "dense": [[0, 1, 2, 0, 1, 2, 2], [2, 0, 1], [1, 1, 2, 2, 1, 1]],
    "sparse": [[-3, 2**40, -3, 2**40, 7], [7, -3, 2**40], [7, 7, 7, 7]],
    "text": ["abab cab", "ba cab", "ßßß\U0001f600"],
    "surrogates": ["\ud800\udc00a\ud800\udc00", "\udc00\ud800"],
    "bytes": [b"abab\xff\0\xff\0", b"\0abab"],
}


def _input(name: str, form: str, data: bytes) -> bytes:
    return bytes([LOADERS.index((name, form))]) + data


def _models() -> dict[tuple[str, str], Any]:
    """A fitted tokenizer of every class and kind."""
    models = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # every idf is 0
        for name in CLASSES:
            for kind, docs in DOCUMENTS.items():
                n_tokens = 256 + 6 if kind == "bytes" else 14
                models[name, kind] = getattr(ubpe_numba, name)(n_tokens).fit(docs, progress=False)
    return models


def _npy(descr: Any, shape: str, payload: bytes = b"") -> bytes:
    """An array member with the header given."""
    header = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + payload


def _pairs(shape: str, m: int) -> list[list[int]]:
    """Hostile tables of pairs over three symbols."""
    if shape == "cycle":
        return [[0, 3 + (i + 1) % m] for i in range(m)]
    if shape == "itself":
        return [[3, 3]]
    if shape == "chain":  # of a token and its predecessor: m * m / 2 symbols
        return [[0, 1], *([2 + i, i % 3] for i in range(1, m))]
    return [[0, 1], *([2 + i, 2 + i] for i in range(1, m))]  # "doubling": 2**m symbols


def _spoiled(model: dict[str, Any]) -> dict[str, Any]:
    """Hostile variants of a model as JSON has it."""
    out: dict[str, Any] = {}

    def put(label: str, part: str, **fields: Any) -> None:
        out[label] = {**model, part: {**model[part], **fields}}

    for number in (-1, 0, 1.5, True, None, "3", 2**22, 2**31, 2**63, 2**64, 10**400, [], {}):
        shown = str(number)[:24]
        put(f"n_alphabet {shown}", "vocabulary", n_alphabet=number)
        put(f"n_documents {shown}", "vocabulary", n_documents=number)
        put(f"weight {shown}", "vocabulary", weights=[number] * len(model["vocabulary"]["weights"]))
        put(f"count {shown}", "vocabulary", counts=[number] * len(model["vocabulary"]["counts"]))
        for field in ("occurrences", "log_probabilities"):
            put(
                f"{field} {shown}",
                "vocabulary",
                **{field: [number] * len(model["vocabulary"]["occurrences"])},
            )
            put(f"{field} is {shown}", "vocabulary", **{field: number})
        put(f"n_tokens {shown}", "params", n_tokens=number)
        put(f"rules {shown}", "params", rules=number)
        put(f"min_count {shown}", "params", rules={**model["params"]["rules"], "min_count": number})
        put(f"ties {shown}", "params", rules={**model["params"]["rules"], "ties": number})
        put(f"size {shown}", "alphabet", size=number, symbols=None)
        put(f"symbols {shown}", "alphabet", symbols=[number] * 3)
        put(f"kind {shown}", "alphabet", kind=number)
        for field in ("folded_symbols", "folded_ids"):
            folded = {"symbols": [0, 1, 2], "folded_symbols": [7], "folded_ids": [0]}
            put(f"{field} is {shown}", "alphabet", **{**folded, field: number})
            put(f"{field} {shown}", "alphabet", **{**folded, field: [number]})
        out[f"version {shown}"] = {**model, "version": number}
        out[f"tokenizer {shown}"] = {**model, "tokenizer": number}
        out[f"both sizes {shown}"] = {
            **model,
            "alphabet": {"kind": "int", "size": number, "symbols": None},
            "vocabulary": {**model["vocabulary"], "n_alphabet": number},
        }
    for field in ("merges", "symbols", "lengths"):
        if field in model["vocabulary"]:
            for value in (
                [],
                [[]],
                [[0, 1], [0]],
                [[0, 2**70]],
                [[-1, 0]],
                [0, 1],
                [0, [1]],
                [2**63 - 1] * 4,
                {"0": 1},
                None,
            ):
                put(f"{field} {value!s:.24}", "vocabulary", **{field: value})
    for part in ("params", "alphabet", "vocabulary"):
        out[f"{part} gone"] = {k: v for k, v in model.items() if k != part}
        out[f"{part} with more"] = {**model, part: {**model[part], "self": 1}}
        out[f"{part} empty"] = {**model, part: {}}
    if "merges" in model["vocabulary"]:
        for shape, m in (("cycle", 5), ("itself", 1), ("chain", 60), ("chain", 2000), ("doubling", 16), ("doubling", 62),
                         ("doubling", 200)):  # fmt: skip
            zeros = [0] * m
            out[f"{shape} {m}"] = {
                **model,
                "alphabet": {"kind": "int", "size": 3, "symbols": None},
                "vocabulary": {
                    "n_alphabet": 3, "n_documents": 1, "n_symbols": 9, "merges": _pairs(shape, m), "weights": zeros,
                    "counts": zeros, "document_frequencies": zeros,
                },
            }  # fmt: skip
    return out


def _archives(data: bytes) -> dict[str, bytes]:
    """Hostile variants of an archive: offsets beyond anything, members that are compressed, twice there or unknown."""
    out: dict[str, bytes] = {}
    with zipfile.ZipFile(io.BytesIO(data)) as source:
        members = {info.filename: source.read(info) for info in source.infolist()}
    for label, how, more in (
        ("compressed", 8, {}),
        ("unknown", 0, {"x.npy": b""}),
        ("folder", 0, {"a/": b""}),
    ):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", how) as archive:
            for name, content in {**members, **more}.items():
                archive.writestr(name, content)
        out[label] = buffer.getvalue()
    end = data.rfind(b"PK\x05\x06")
    size, at = struct.unpack("<II", data[end + 12 : end + 20])
    body, directory, tail = data[:at], data[at : at + size], data[end:]
    n_name, n_extra, n_comment = struct.unpack("<HHH", directory[28:34])
    rest = directory[46 + n_name + n_extra + n_comment :]
    for big in (2**31, 2**63 - 1, 2**63, 2**64 - 1):
        extra = struct.pack("<HHQ", 1, 8, big)  # zip64: the offset of the first member
        entry = directory[:30] + struct.pack("<H", len(extra)) + directory[32:42] + b"\xff" * 4
        directory_64 = entry + directory[46 : 46 + n_name] + extra + rest
        out[f"offset {big}"] = (
            body + directory_64 + tail[:12] + struct.pack("<I", len(directory_64)) + tail[16:]
        )
        for label, sizes, record in (
            ("start", (size, big), end),
            ("size", (big, at), end),
            ("locator", (size, at), big),
        ):
            record_64 = struct.pack("<4sQHHLLQQQQ", b"PK\x06\x06", 44, 45, 45, 0, 0, 1, 1, *sizes)
            locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, record, 1)
            out[f"{label} {big}"] = data[:end] + record_64 + locator + tail[:10] + b"\xff" * 10 + tail[20:]
    return out


def _headers() -> dict[str, bytes]:
    """Hostile arrays."""
    shapes = [
        "()",
        "(0,)",
        "(0, 0)",
        "(0, 3)",
        "(-1,)",
        "(-1, 0)",
        "(True,)",
        "('a',)",
        "(1.5,)",
        "(None,)",
        "([],)",
        "(1,) * 9",
        f"(0, {2**62})",
        f"(0, {2**63})",
        f"({2**70}, 0)",
        f"({2**31}, {2**33})",
        "(" * 300,
        "9" * 5000,
    ]
    out = {f"shape {shape:.24}": _npy("<i4", shape) for shape in shapes}
    for descr in (
        "<i4",
        "<u8",
        ">i8",
        "<f8",
        "<f2",
        "<f16",
        "O",
        "V0",
        "|S0",
        "<U0",
        "<M8",
        "<c16",
        "",
        "zzz",
        [("a", "<i4")],
        None,
    ):
        out[f"dtype {descr!s:.24}"] = _npy(descr, "(0,)")
        out[f"dtype {descr!s:.24} with bytes"] = _npy(descr, "(2,)", bytes(16))
    return out | {"nothing": b"", "magic only": b"\x93NUMPY", "version 3": b"\x93NUMPY\x03\x00" + b"\xff" * 8}


def _dumps(dump: dict[str, Any]) -> dict[str, Any]:
    """Hostile variants of a dump of the published package."""
    out: dict[str, Any] = {f"{field} gone": {k: v for k, v in dump.items() if k != field} for field in dump}
    n = len(dump["alphabet"])
    for number in (-1, 0, 1.5, True, None, 2**31 - 1, 2**31, 2**64, 10**400, [], {}):
        shown = str(number)[:24]
        out[f"n_tokens {shown}"] = {**dump, "n_tokens": number}
        out[f"ids {shown}"] = {**dump, "alphabet": dict.fromkeys(dump["alphabet"], number)}
        out[f"parts {shown}"] = {**dump, "mapper": {k: [number, 0] for k in dump["mapper"]}}
        out[f"weights {shown}"] = {**dump, "weights": dict.fromkeys(dump["weights"], number)}
    for label, alphabet in (
        ("huge", [str(10**30), "1"]),
        ("twice", ["1", "01"]),
        ("words", ["ab", ""]),
        ("digits", ["٣", "-"]),
    ):
        out[f"symbols {label}"] = {
            **dump,
            "alphabet": {s: i for i, s in enumerate(alphabet)},
            "mapper": {},
            "weights": {},
        }
    for shape, m in (("cycle", 5), ("doubling", 60)):
        mapper = {str(3 + i): pair for i, pair in enumerate(_pairs(shape, m))}
        alphabet_3 = {"0": 0, "1": 1, "2": 2}
        out[shape] = {
            "n_tokens": 99,
            "alphabet": alphabet_3,
            "mapper": mapper,
            "weights": dict.fromkeys(mapper, 0),
        }
    lengths = {str(n): [0] * 300, str(n + 1): []}
    return out | {"lengths": {**dump, "mapper": lengths, "weights": {str(n): 0, str(n + 1): 0}}}


def seeds() -> dict[str, bytes]:
    """Every seed by name, the same each time."""
    out: dict[str, bytes] = {}
    with tempfile.TemporaryDirectory() as folder:
        for (name, kind), tokenizer in _models().items():
            files = {}
            for form in ("json", "npz"):
                path = pathlib.Path(folder, f"model.{form}")
                tokenizer.save(path)
                files[form] = path.read_bytes()
            with zipfile.ZipFile(io.BytesIO(files["npz"])) as archive:
                members = {i.filename.removesuffix(".npy"): archive.read(i) for i in archive.infolist()}
            files["members"] = to_members(members)
            dump = json.loads(export(tokenizer, "ubpe"))
            files |= dict.fromkeys(("published", f"published {'str' if kind in ('text', 'surrogates') else 'int'}"),
                                   export(tokenizer, "ubpe").encode())  # fmt: skip
            for form, data in files.items():
                label = f"{name} {kind} {form}"
                out[label] = _input(name, form, data)
                out[f"{label} by content"] = _input("load", "any", data)
                for end in (0, 1, len(data) // 2, len(data) - 1):
                    out[f"{label} cut at {end}"] = _input(name, form, data[:end])
            if kind == "dense":
                spoiled = {"json": _spoiled(json.loads(files["json"])), "published": _dumps(dump)}
                for form, variants in spoiled.items():
                    for what, variant in variants.items():
                        out[f"{name} {form} {what}"] = _input(name, form, json.dumps(variant).encode())
                for what, data in {
                    "deep": b"[" * 100_000,
                    "nan": b'{"format": NaN}',
                    "utf-16": b"\xff\xfe{\0",
                    "long": b"9" * 5000,
                }.items():
                    for form in ("json", "published"):
                        out[f"{name} {form} {what}"] = _input(name, form, data)
                for what, data in _archives(files["npz"]).items():
                    out[f"{name} npz {what}"] = _input(name, "npz", data)
                for what, data in _headers().items():
                    for member in members:
                        out[f"{name} {member} {what}"] = _input(
                            name, "members", to_members({**members, member: data})
                        )
    splits = json.loads(
        (pathlib.Path(__file__).parents[2] / "tests" / "formats" / "dumps_of_ubpe_0_3.json").read_text()
    )
    for i, case in enumerate(splits):
        name = "UBPEClassic" if case["classic"] else "UBPE"
        out[f"{name} dump {i} that splits documents"] = _input(
            name, f"published {case['kind']}", case["dump"].encode()
        )
    return out | _foreign()


def _foreign() -> dict[str, bytes]:
    """Models for other libraries, whole, cut, and with a text part of our own."""
    out: dict[str, bytes] = {}
    for name in CLASSES[:2]:
        cls = getattr(ubpe_numba, name)
        words = {"special_tokens": ["<s>", "<é>"], "pretokenizer": "gpt2"}
        text = cls.for_text(262, **words).fit(["abab cab<s>", "ba cab"], progress=False)
        letters = cls(12, preprocessing=Preprocessing(**words)).fit(DOCUMENTS["text"], progress=False)
        integers = cls(14, preprocessing=Preprocessing(known_words=[[1, 1]])).fit(
            DOCUMENTS["dense"], progress=False
        )
        files = {
            f"huggingface {kind}": export(tok, "tokenizer.json", unk_token=False).encode()
            for kind, tok in (("text", text), ("letters", letters), ("integers", integers))
        }
        files["tiktoken"] = export(text, "tiktoken")
        files["vocab and merges"] = "\0".join(tuple(export(text, "vocab+merges").values())).encode()
        for form, data in files.items():
            for end in (0, 1, len(data) // 2, len(data) - 1, len(data)):
                loader = form.partition(" ")[0] if form.startswith("huggingface") else form
                out[f"{name} {form} cut at {end}"] = _input(name, loader, data[:end])
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "model.json")
            numbered = cls.for_text(262, special_tokens={"<s>": 300}).fit(
                ["abab cab", "ba cab"], progress=False
            )
            assert numbered.vocabulary.special["<s>"] == 300
            for i, tok in enumerate((text, letters, integers, numbered)):
                tok.save(path)
                out[f"{name} json with text {i}"] = _input(name, "json", path.read_bytes())
    return out


def main() -> None:
    """Write the seeds into the directory given."""
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    made = seeds()
    for i, data in enumerate(made.values()):
        (folder / f"seed-{i:04}").write_bytes(data)
    print(f"{len(made)} seeds in {folder}")


if __name__ == "__main__":
    main()
