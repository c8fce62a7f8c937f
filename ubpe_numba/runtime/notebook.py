"""Notebook displays found by name: a class does not import the view that shows it."""

from __future__ import annotations

from importlib import import_module


def html_of(value: object, view: str) -> str:
    """The HTML of a value, made by the function `view` of `ubpe_numba.views.notebook`; imported when a notebook first asks."""
    made: str = getattr(import_module("ubpe_numba.views.notebook"), view)(value)
    return made
