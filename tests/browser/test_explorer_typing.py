"""Documents typed, pasted or dropped into the explorer are encoded there as Python encodes them; links to what is shown."""

import io
import json
import pathlib
import wave
from typing import Any

import numpy as np
import pytest
from explorer_page import choose, in_view, press, rows_of, search, settle
from explorer_reports import Made, dna as dna_of, made
from tables import each

from ubpe_numba import BPE

#: What patterns and UTF-8 tell apart: letters of all cases and of new versions of Unicode, marks, numbers,
#: spaces, ends of lines.
LETTERS = "abcde\u017fstmlTHEéßǅʰא語\u0301\U00016ea0\U000105c0😀0127²Ⅷ٣ \t\n\r\x85\u2028\u3000\ufeff'\u2019.,-/!€\ud800\udfff\0"
WORDS = [
    "the",
    "The",
    "it's",
    "I'LL",
    "we'\u017f",
    " 12345",
    "don't",
    "\r\n\r\n",
    "   x",
    "...\n\n",
    "naïve",
    "<|end|>",
    "<|end",
]


def _texts(n: int, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    parts = [*LETTERS, *WORDS]
    made = ("".join(parts[i] for i in rng.integers(0, len(parts), rng.integers(0, 25))) for _ in range(n))
    # two halves are one there
    return [text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass") for text in made]


def _model(name: str) -> tuple[Any, list[Any], list[Any]]:
    """A tokenizer, the documents of its report, and 800 documents to type."""
    rng = np.random.default_rng(5)
    if name == "integers":
        docs = [rng.integers(-4, 5, rng.integers(1, 60)).tolist() for _ in range(800)]
        return BPE(300, alphabet=range(-4, 5)).fit(docs[:200], progress=False), docs[:3], docs
    if name == "letters":
        tok, values, _ = dna_of()
        docs = [rng.integers(0, 4, rng.integers(1, 60)).tolist() for _ in range(800)]
        return tok, [values], docs
    if name == "words":
        docs = [[WORDS[i] for i in rng.integers(0, 5, rng.integers(1, 30))] for _ in range(800)]
        return BPE(60).fit(docs, progress=False), docs[:3], docs
    fitted, docs = [*_texts(300, 1), *(w * 3 for w in WORDS)], _texts(800, 2)
    if name == "characters":
        return BPE(200).fit([*fitted, LETTERS], progress=False), fitted[:5], docs
    special = ["<|end|>"] if name == "bytes" else None
    cut = None if name == "bytes" else name
    return (
        BPE.for_text(420, pretokenizer=cut, special_tokens=special).fit(fitted, progress=False),
        fitted[:5],
        docs,
    )


PATTERNS = ["gpt2", "cl100k", "llama3", "o200k", "starcoder", "qwen2", "qwen35", "tekken"]


@each("name", ["bytes", "characters", "integers", "letters", "words", *PATTERNS])
def test_ids_are_those_of_python(visit: Any, tmp_path: pathlib.Path, name: str) -> None:
    tok, shown, docs = _model(name)
    report = made(
        tmp_path / "a.html",
        tok,
        shown,
        kind={"letters": "dna", "words": "auto", "integers": "auto"}.get(name, "text"),
    )
    page = visit(report.path)
    typed = ["".join("ACGT"[i] for i in doc) for doc in docs] if name == "letters" else docs
    found = page.evaluate("(docs) => JSON.parse(docs).map(encode)", json.dumps(typed))
    expected = tok.encode_batch(docs, allowed_special="all").to_lists()
    wrong = [i for i, ids in enumerate(expected) if found[i] != ids]
    assert not wrong, (len(wrong), docs[wrong[0]], found[wrong[0]], expected[wrong[0]])


def test_what_is_typed_is_shown_until_it_is_taken_back(visit: Any, text: Made) -> None:
    page = visit(text.path)
    before = page.inner_text("#what")
    page.click("#own summary")
    page.fill("#typed", "the face of the deep")
    _says(page, "20 bytes are")
    ids = text.tok.encode("the face of the deep").tolist()
    assert [int(row[1]) for row in rows_of(page, "alt-view")] == ids
    assert f"20 bytes are {len(ids)} tokens of the whole vocabulary by merge rank" in page.inner_text(
        "#typedinfo"
    )
    press(page, "[", "[")
    size = int(page.get_attribute("#skyline", "data-size"))
    short = text.tok.truncate(size).encode("the face of the deep").tolist()
    assert [int(row[1]) for row in rows_of(page, "alt-view")] == short and len(short) > len(ids)
    press(page, "]", "]")
    page.click("#back")
    assert (
        page.inner_text("#what") == before
        and page.is_disabled("#back")
        and page.locator("#cuts button").count() == 3
    )


def _says(page: Any, text: str) -> None:
    """Wait until this is said of what was typed."""
    page.locator("#typedinfo", has_text=text).wait_for(state="attached")


def _array(values: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, values)
    return file.getvalue()


def _sound(values: np.ndarray) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        sound.writeframes(values.astype("<i2").tobytes())
    return file.getvalue()


def test_files_are_read_or_refused_by_name(visit: Any, ecg: Made) -> None:
    page, values = visit(ecg.path), ecg.docs[:400]
    ids = ecg.tok.with_objective("rank").encode(values).tolist()
    for name, data in (
        ("a.npy", _array(values)),
        ("b.NPY", _array(values.astype(np.int16))),
        ("c.wav", _sound(values)),
        ("d.csv", ",".join(map(str, values)).encode()),
    ):
        page.set_input_files("#file", [{"name": name, "mimeType": "", "buffer": data}])
        _says(page, f"{name}: ")
        assert f"400 samples are {len(ids)} tokens of the whole" in page.inner_text("#typedinfo")
        assert "shortest, is not computed here" in page.inner_text("#typedinfo")
        press(page, "0")
        assert [int(row[1]) for row in rows_of(page, "alt-view")] == ids[:200]
    for name, data, says in (
        ("e.npy", _array(values / 2), "an array of <f8: expected integers"),
        ("f.npy", _array(values + 10_000), "is not in the alphabet of the model"),
        ("g.csv", b"1, 2, x", "x: expected integers"),
        ("h.csv", b"1 " * 6_000_000, "expected at most 10,000,000"),
        ("i.wav", b"RIFF" + bytes(60), "a sound without samples"),
    ):
        page.set_input_files("#file", [{"name": name, "mimeType": "", "buffer": data}])
        _says(page, f"{says}")
    dropped = "new DataTransfer(); given.items.add(new File(['20 20 21'], 'j.csv'))"
    page.evaluate(f"const given = {dropped}; dispatchEvent(new DragEvent('drop', {{ dataTransfer: given }}))")
    _says(page, "j.csv: 3 samples")


def test_what_is_not_computed_in_the_page_is_said(visit: Any, tmp_path: pathlib.Path, dna: Made) -> None:
    verses = ["in the beginning", "the deep"]
    for i, (tok, says) in enumerate(
        (
            (
                BPE.for_text(280, pretokenizer="deepseek").fit(verses, progress=False),
                "the pattern by which the model cuts text",
            ),
            (
                BPE.for_text(280, pretokenizer="whitespace").fit(verses, progress=False),
                "the pattern by which the model cuts text",
            ),
            (
                BPE.for_text(280, normalizer=["Lowercase"]).fit(verses, progress=False),
                "the model changes text before",
            ),
        )
    ):
        page = visit(made(tmp_path / f"{i}.html", tok, verses).path)
        assert says in page.text_content("#typedinfo") and page.locator("#typed").is_disabled()
    page = visit(dna.path)
    page.click("#own summary")
    page.fill("#typed", "ACGTX")
    _says(page, "“X” is not in the alphabet")


@each("kind", ["text", "ecg", "notes"])
def test_a_link_shows_the_same(visit: Any, kind: str, request: pytest.FixtureRequest) -> None:
    report = request.getfixturevalue(kind)
    page = visit(report.path)
    page.click("#cuts button:has-text('rank')")
    press(page, "[", "[", "+", "ArrowRight")
    choose(page, report.tok._model.vocabulary.n_alphabet + 2)
    press(page, "n", "+")
    search(page, "len>1")
    page.click('#heads [data-key="count"] button')
    if kind == "text":
        page.click("#own summary")
        page.fill("#typed", "the heaven and <|end|> & = # é")
        _says(page, "bytes are")
        press(page, "+")
    page.wait_for_timeout(400)  # an address is written a quarter of a second after the last change
    said = ("#status", "#what", "#sizeis", "#listinfo", "#rows", "#typedinfo")
    seen, at = [page.inner_text(each) for each in said], in_view(page)
    other = visit(page.url)
    settle(other)
    assert "by=rank" in page.url and "size=" in page.url
    assert [other.inner_text(each) for each in said] == seen and in_view(other) == at
    other.evaluate(
        "location.hash = '#by=rank&size=1e99&token=-5&from=x&to=9e9&at=3&sort=__proto__&find=len>0'"
    )
    settle(other)
    assert "No token is chosen" in other.inner_text("#status")


def test_it_is_said_as_a_program(visit: Any, text: Made) -> None:
    page = visit(text.path)
    press(page, "[", "c")
    program, size = page.input_value("#program"), int(page.get_attribute("#skyline", "data-size"))
    assert f".truncate({size})" in program and text.tok.fingerprint in program
    assert page.evaluate("getSelection().toString() || document.activeElement.value") == program
    page.keyboard.press("Escape")
    page.click("#own summary")
    page.fill("#typed", 'the "deep"\\')
    _says(page, "bytes are")
    page.click("#code")
    lines = page.input_value("#program").replace('ubpe_numba.load("model.npz")', "given").splitlines()
    names: dict[str, Any] = {"given": text.tok}
    exec("\n".join(lines), names)
    assert names["ids"].tolist() == text.tok.truncate(size).encode('the "deep"\\').tolist()
