"""Signatures with the annotations as the sources write them, without `Any`, which says nothing, and without overloads."""

import inspect
import re
from typing import Any

from sphinx.application import Sphinx

_MODULES = re.compile(r"\b(np|numpy|typing|os|pathlib|collections\.abc)\.(?=[A-Za-z])")


def _annotation(value: Any) -> str:
    """An annotation in short; "" for none, and for `Any` and what is private."""
    if value is inspect.Parameter.empty:
        return ""
    text = (
        value
        if isinstance(value, str)
        else getattr(value, "__forward_arg__", getattr(value, "__name__", str(value)))
    )
    text = _MODULES.sub("", text).replace("[Any]", "")
    return "" if text == "Any" or re.search(r"\b_[A-Za-z]", text) else text


def _parameter(parameter: inspect.Parameter) -> str:
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}.get(
        parameter.kind, ""
    )
    annotation = _annotation(parameter.annotation)
    text = f"{stars}{parameter.name}" + (f": {annotation}" if annotation else "")
    if parameter.default is inspect.Parameter.empty:
        return text
    return text + (" = " if annotation else "=") + repr(parameter.default)


def signature_of(value: Any, bound: bool) -> tuple[str, str] | None:
    """The parameters in parentheses, and what is returned; None if Python does not know.

    `bound`: without the first.
    """
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return None
    parameters = list(found.parameters.values())[int(bound) :]
    shown: list[str] = []
    for i, parameter in enumerate(parameters):
        named = parameter.kind is inspect.Parameter.KEYWORD_ONLY
        before = parameters[i - 1].kind if i else None
        if named and before not in (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_POSITIONAL):
            shown.append("*")
        shown.append(_parameter(parameter))
    returned = "" if inspect.isclass(value) else _annotation(found.return_annotation)
    return f"({', '.join(shown)})", returned


def _process(
    _app: Sphinx, what: str, _name: str, value: Any, _options: Any, signature: str | None, _: Any
) -> tuple[str, str] | None:
    if signature is None or what not in ("class", "exception", "function", "method"):
        return None
    first = next(iter(inspect.signature(value).parameters), "") if what == "method" else ""
    return signature_of(value, bound=first == "self")


def setup(app: Sphinx) -> dict[str, bool]:
    """Take the place of what autodoc makes."""
    app.connect("autodoc-process-signature", _process)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
