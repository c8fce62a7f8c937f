"""Importing the package is light: what is not used is not imported."""

import ast
import inspect
import pathlib
import runpy

from processes import python

import ubpe_numba


def test_import_is_light() -> None:
    script = """
import sys, ubpe_numba
assert not {"numba", "numpy"} & set(sys.modules)
import ubpe_numba.plot
assert "matplotlib" not in sys.modules
assert ubpe_numba.__version__ and not hasattr(ubpe_numba, "__path_of_nothing__") and not hasattr(ubpe_numba, "nothing")
from ubpe_numba import *
from ubpe_numba.tokenizers.ubpe import UBPE as home
assert UBPE is ubpe_numba.UBPE is home and {*ubpe_numba.__all__} <= {*dir(ubpe_numba)} & {*globals()}
"""
    python(script)
    for_checkers = {
        alias.asname: node.module
        for node in ast.walk(ast.parse(inspect.getsource(ubpe_numba)))
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("ubpe_numba.")
        for alias in node.names
        if not str(alias.asname).startswith("_")
    }
    assert for_checkers == {name: f"ubpe_numba.{module}" for name, module in ubpe_numba._HOMES.items()}


def test_help_needs_no_other_package() -> None:
    script = """
import sys
for name in ("scipy", "sklearn", "matplotlib", "dask", "distributed", "pyarrow", "regex", "tqdm", "IPython"):
    sys.modules[name] = None  # as if it were not installed
import pydoc, ubpe_numba
assert "class BPE(" in pydoc.plain(pydoc.render_doc(ubpe_numba))
for name in ubpe_numba._MODULES:
    assert getattr(ubpe_numba, name) is sys.modules[f"ubpe_numba.{name}"] and name in dir(ubpe_numba)
"""
    python(script)


def test_what_arguments_take_is_public() -> None:
    steps = ubpe_numba.text.Normalizer("Lowercase"), ubpe_numba.text.Splitter("WhitespaceSplit")
    tok = ubpe_numba.WordPiece(
        ["[UNK]", "a"], preprocessing=ubpe_numba.Preprocessing(normalizer=steps[0], pretokenizer=steps[1])
    )
    assert tok.encode("a A b").tolist() == [1, 1, 0]
    text = ubpe_numba.BPE(
        5, preprocessing=ubpe_numba.Preprocessing(normalizer="Lowercase", pretokenizer=steps[1])
    ).fit(["ab AB"])
    assert text.preprocessing.normalizer == steps[0] and text.preprocessing.pretokenizer is steps[1]


def test_the_script_that_type_checkers_read_runs() -> None:
    runpy.run_path(str(pathlib.Path(__file__).with_name("types") / "user_script.py"))
