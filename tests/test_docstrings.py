"""Docstrings of the public names: numpydoc parses them, no section swallows text, and parameters are those of the signature."""

import inspect
import re
import warnings
from typing import Any

from numpydoc.docscrape import NumpyDocString

import ubpe_numba
import ubpe_numba.actions
import ubpe_numba.bounds
import ubpe_numba.distributed
import ubpe_numba.kernels
import ubpe_numba.plot
import ubpe_numba.signals
import ubpe_numba.sklearn
from ubpe_numba.coding.plan import EncodeOptions

_FIELDS = ("Parameters", "Other Parameters", "Attributes", "Returns", "Yields", "Raises", "Warns")
_MOST_WORDS = 9  # of the name and the type of a field
_SHORT = 17  # lines of a docstring that says in its first ones what is returned
# "arguments as for `encode`": then there may be no Parameters section
_AS_FOR = re.compile(r"\b[Aa]s for `\w+")


def _members(name: str, home: Any = ubpe_numba) -> dict[str, Any]:
    """A public name and, of a class, its public members, each under the name of the class that defines it."""
    value = getattr(home, name)
    if not inspect.isclass(value):
        return {name: value} if inspect.isroutine(value) else {}
    found = {name: value}
    for cls in value.__mro__:
        if cls.__module__.partition(".")[0] == "ubpe_numba":
            for member, defined in vars(cls).items():
                outer = getattr(defined, "__func__", defined)
                function = inspect.unwrap(outer)
                if not member.startswith("_") and isinstance(function, (property, type(_members))):
                    found[f"{cls.__name__}.{member}"] = (
                        outer if isinstance(outer, type(_members)) else function
                    )
    return found


_PUBLIC = {key: value for name in ubpe_numba.__all__ for key, value in _members(name).items()}
_PUBLIC |= {
    f"distributed.{name}": getattr(ubpe_numba.distributed, name) for name in ubpe_numba.distributed.__all__
}
for _home in (
    ubpe_numba.actions, ubpe_numba.bounds, ubpe_numba.kernels, ubpe_numba.plot, ubpe_numba.signals, ubpe_numba.sklearn,
):  # fmt: skip
    _short = _home.__name__.rpartition(".")[2]
    _PUBLIC |= {
        f"{_short}.{key}": value for name in _home.__all__ for key, value in _members(name, _home).items()
    }


def _signature(value: Any) -> set[str]:
    """The parameters that a caller passes, with the stars of variable ones; of options with names these."""
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    given = inspect.signature(value).parameters.values()
    names = {stars.get(p.kind, "") + p.name for p in given if p.annotation != "Unpack[EncodeOptions]"}
    options = (
        EncodeOptions.__optional_keys__
        if any(p.annotation == "Unpack[EncodeOptions]" for p in given)
        else set()
    )
    return (names | options) - {"self", "cls"}


def problems(value: Any) -> list[str]:
    """What is wrong with the docstring of a class, a function or a property."""
    text = inspect.getdoc(value)
    # a class inherits that of its base
    if not text or (inspect.isclass(value) and not value.__dict__.get("__doc__")):
        return ["there is no docstring"]
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            parsed = NumpyDocString(text)
        except ValueError as error:
            return [f"numpydoc cannot parse it: {error}"]
    found = [str(warning.message) for warning in warned]
    for section in _FIELDS:
        for field in parsed[section]:
            words = f"{field.name} {field.type}".strip()
            if ">>>" in words or len(words.split()) > _MOST_WORDS or words.endswith("."):
                found.append(f"{section} swallows text, which needs a header: {words[:60]!r}")
    if text.count(">>>") > "\n".join(parsed["Examples"]).count(">>>"):
        found.append("a doctest does not stand under Examples")
    if isinstance(value, property):
        return found
    documented = {
        name for p in (*parsed["Parameters"], *parsed["Other Parameters"]) for name in p.name.split(", ")
    }
    if inspect.isclass(value) and not documented:  # one that users do not make by its constructor
        return found
    expected = _signature(value)
    if documented:
        found += [f"{name}: documented, but not in the signature" for name in sorted(documented - expected)]
        found += [f"{name}: in the signature, but not documented" for name in sorted(expected - documented)]
    elif expected and not _AS_FOR.search(text):
        found.append(f"no Parameters section, nor 'as for `...`', for {', '.join(sorted(expected))}")
    return found


def test_docstrings_are_complete_and_parsed_whole() -> None:
    assert {name: found for name, value in _PUBLIC.items() if (found := problems(value))} == {}


def test_what_a_tokenizer_does_is_shown() -> None:
    for name, value in _PUBLIC.items():
        function = getattr(value, "fget", value)
        text = str(inspect.getdoc(function))
        another_name = "\n" not in text and _AS_FOR.search(text)  # of one that is shown
        if (
            inspect.isclass(value)
            or another_name
            or not function.__module__.startswith("ubpe_numba.tokenizers.")
        ):
            continue
        assert "Examples\n--------" in text, name
        gives = inspect.signature(function).return_annotation not in (None, "None") and not isinstance(
            _PUBLIC[name], property
        )
        assert not gives or "Returns\n-------" in text or text.count("\n") < _SHORT, name
