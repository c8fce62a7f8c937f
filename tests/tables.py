"""Tests of many small rows: a table is one test, and a failure names its row."""

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest


def each(
    names: str | tuple[str, ...], rows: Iterable[Any]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test for every row of a table, as `pytest.mark.parametrize` does, but as one test with one set of fixtures.

    Below `given`, every example is tried with every row: a row that was drawn as well would come in few of
    the examples.
    """
    table = list(rows)
    own = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def run(*drawn: Any, **fixtures: Any) -> None:
            fixtures |= {parameter.name: value for parameter, value in zip(others, drawn, strict=False)}
            for row in table:
                values = row if len(own) > 1 else (row,)
                try:
                    test(**dict(zip(own, values, strict=True)), **fixtures)
                except BaseException as error:
                    error.add_note(f"row: {row!r}"[:1000])
                    raise
                if "monkeypatch" in fixtures:
                    fixtures["monkeypatch"].undo()

        others = [
            parameter for name, parameter in inspect.signature(test).parameters.items() if name not in own
        ]
        run.__signature__ = inspect.Signature(others)  # type: ignore[attr-defined]
        return run

    return decorate


def refuses(kind: Any, message: str, call: Callable[..., object], /, *args: Any, **options: Any) -> None:
    """A call with these arguments raises an error of this type, or of one of these, with these words."""
    with pytest.raises(kind, match=message or None):
        call(*args, **options)


def refused(rows: Iterable[tuple[Callable[[], object], Any, str]]) -> None:
    """Each call raises an error of this type with these words."""
    for row in rows:
        try:
            refuses(row[1], row[2], row[0])
        except BaseException as error:
            error.add_note(f"row: {row!r}"[:1000])
            raise
