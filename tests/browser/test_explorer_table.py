"""The explorer's table of tokens in a browser: its search and its order, compared with Python."""

from typing import Any

import numpy as np
from explorer_page import ROWS, chosen, listed, n_listed, press, search, settle
from explorer_reports import Made


def _fields(made: Made) -> dict[str, np.ndarray]:
    """The columns as the library has them."""
    v = made.tok._model.vocabulary
    usage = made.tok.usage(ids=next(iter(made.cuts().values())))
    lengths = np.append(np.diff(v.offsets), [7] * (usage.counts.size - len(v)))  # of the special token
    values = made.tok._model.alphabet.to_symbols(v.arena).astype(np.int64)
    spread = np.array([np.ptp(values[a:b]) for a, b in zip(v.offsets[:-1], v.offsets[1:], strict=True)])
    saves = usage.counts * (lengths - 1)
    says = np.where(usage.counts > 1, saves * (spread if made.unit == "sample" else 1), 0)
    of_tokens = {
        "id": np.arange(lengths.size),
        "len": lengths,
        "count": usage.counts,
        "docs": usage.document_frequencies,
    }
    return of_tokens | {"saves": saves, "says": says}


def _ordered(made: Made, found: np.ndarray, key: str, sign: int) -> list[int]:
    """Ids by a column, then by count, then by id."""
    fields = _fields(made)
    return sorted(
        np.flatnonzero(found).tolist(), key=lambda t: (sign * fields[key][t], -fields["count"][t], t)
    )


def test_without_a_search_those_in_use_are_listed_that_say_most_first(visit: Any, ecg: Made) -> None:
    page = visit(ecg.path)
    fields = _fields(ecg)
    expected = _ordered(
        ecg, (fields["count"] > 0) & (fields["id"] >= ecg.tok._model.vocabulary.n_alphabet), "says", -1
    )
    assert n_listed(page) == len(expected) and listed(page) == expected[:12]


def test_a_search_finds_and_orders_as_python_does(visit: Any, ecg: Made) -> None:
    page, f = visit(ecg.path), _fields(ecg)
    for query, wanted in (
        ("length<=2 count>5 id!=130", (f["len"] <= 2) & (f["count"] > 5) & (f["id"] != 130)),
        ("saves>=20 says<100", (f["saves"] >= 20) & (f["says"] < 100)),
        ("len > 8  DOCS >=3", (f["len"] > 8) & (f["docs"] >= 3)),
        ("350", f["id"] == 350),
        ("count>1e9", f["count"] > 1e9),
        ("count=0", f["count"] == 0),
    ):
        search(page, query)
        for key in ("id", "count", "len", "says"):
            head, sign = f'#heads [data-key="{key}"]', 1 if key == "id" else -1
            page.click(f"{head} button")
            expected = _ordered(ecg, wanted, key, sign)
            assert n_listed(page) == len(expected) and listed(page) == expected[:12]
            page.click(f"{head} button")
            assert listed(page) == _ordered(ecg, wanted, key, -sign)[:12]
            assert page.get_attribute(head, "aria-sort") == ("descending" if key == "id" else "ascending")


def test_symbols_of_a_signal_are_found_in_a_row(visit: Any, ecg: Made) -> None:
    """With a space after each comma too, as names of tokens have them."""
    page = visit(ecg.path)
    v = ecg.tok._model.vocabulary
    sequences = [ecg.tok._model.alphabet.to_symbols(v.sequence(t)).tolist() for t in range(len(v))]
    part = sequences[-1][:2]
    holds = [t for t, s in enumerate(sequences) if any(s[i : i + 2] == part for i in range(len(s) - 1))]
    for comma in (",", ", "):
        search(page, comma.join(map(str, part)))
        assert n_listed(page) == len(holds) and set(listed(page)) <= set(holds)


def test_text_is_found(visit: Any, text: Made) -> None:
    page = visit(text.path)
    lengths = np.append(np.diff(text.tok._model.vocabulary.offsets), 7)  # and that of the special token
    readings = [text.tok.decode([t], as_bytes=True).decode("utf-8", "replace") for t in range(lengths.size)]
    for query in ("the", '" the"', '"</script>"', "低", '"\\x07"', "God len>3"):
        search(page, query)
        word = query.strip('"') if query.startswith('"') else query.split()[0]
        found = [t for t, reading in enumerate(readings) if word.replace("\\x07", "\x07") in reading]
        found = [t for t in found if "len>3" not in query or lengths[t] > 3]
        assert n_listed(page) == len(found) and set(listed(page)) <= set(found)


def test_what_is_wrong_with_a_search_is_said(visit: Any, ecg: Made) -> None:
    page = visit(ecg.path)
    for query, says in (
        ("foo>3", "foo: expected one of id"),
        ("len>x", "len>x: expected a number"),
        ("hello", "hello: expected a comparison"),
        ('"a"', "no text"),
    ):
        search(page, query)
        assert says in page.inner_text("#listinfo") and page.locator(ROWS).count() == 0
        assert page.get_attribute("#search", "aria-invalid") == "true"
        search(page, "")
        assert page.get_attribute("#search", "aria-invalid") == "false" and page.locator(ROWS).count() > 5


def test_notes_are_found_by_name_and_by_number(visit: Any, notes: Made) -> None:
    page = visit(notes.path)
    assert "C4,E4" in page.get_attribute("#search", "placeholder")
    tokens = [notes.tok.decode([t]).tolist() for t in range(len(notes.tok._model.vocabulary))]
    for query, wanted in (("60,64", [60, 64]), ("c4, E4", [60, 64]), ("55, C4, e4 len>1", [55, 60, 64])):
        search(page, query)
        n = len(wanted)
        assert (
            n_listed(page)
            == sum(any(token[i : i + n] == wanted for i in range(len(token))) for token in tokens)
            > 0
        )


def test_keys_of_the_table(visit: Any, ecg: Made) -> None:
    page = visit(ecg.path)
    press(page, "/")
    page.keyboard.type("len>=4")
    page.keyboard.press("Enter")
    order = listed(page, 30)
    assert chosen(page) == order[0]
    page.focus("#grid")
    for key, expected in (
        ("ArrowDown", order[1]),
        ("ArrowDown", order[2]),
        ("ArrowUp", order[1]),
        ("PageDown", order[21]),
    ):
        page.keyboard.press(key)
        assert (
            chosen(page) == expected
            and page.get_attribute("#grid", "aria-activedescendant") == f"token{expected}"
        )
    page.keyboard.press("End")
    assert page.get_attribute(f'{ROWS}[aria-selected="true"]', "aria-rowindex") == str(n_listed(page) + 1)
    page.keyboard.press("Home")
    assert chosen(page) == order[0] and page.is_enabled("#next")
    press(page, "Escape", "Escape")
    assert page.is_disabled("#next") and page.is_disabled("#prev")


def test_only_rows_in_view_are_there(visit: Any, ecg: Made) -> None:
    page = visit(ecg.path)
    search(page, "len>0")
    assert page.locator(ROWS).count() < 45 < n_listed(page) == len(ecg.tok._model.vocabulary)
    page.evaluate("document.getElementById('grid').scrollTop = 32 * 200")
    settle(page)
    assert int(page.locator(ROWS).first.get_attribute("aria-rowindex")) == 200 - 4 + 2
