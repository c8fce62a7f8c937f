"""Small mistakes that a program can have, made one at a time in the syntax tree of a file.

A mutant is the file with one of them:

    n < size            n <= size           a comparison at its boundary, or the other way round
    a and b             a or b
    i + 1               i - 1, i + 2        arithmetic, and a number that is one more
    if x:               if not x:
    min(a, b)           max(a, b)
    counts[i] += 1      pass                a statement that is left out
    break               continue

Left alone are docstrings, annotations, imports, prefetches and what an error says, which compute nothing, and
default values of arguments, which the examples of the documentation hold.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult, ast.Div: ast.Mult, ast.Mod: ast.FloorDiv,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitAnd,
}  # fmt: skip
_NOT_RUN = (ast.Import, ast.ImportFrom, ast.Raise, ast.Assert, ast.Global, ast.Nonlocal, ast.Pass)


class Mutant(NamedTuple):
    """One change of one file."""

    path: str  # of the file, below the root of the repository
    function: str  # the qualified name of the function or class around it; "" outside of all
    line: int  # from 1
    before: str  # what is changed, as source
    after: str  # what it becomes
    source: str  # the whole changed file
    key: str  # names the mutant also after lines before it have moved


def mutants(path: str, source: str) -> Iterator[Mutant]:
    r"""Every mutant of a file, in the order of the syntax tree.

    >>> code = "def f(a, n):\n    return a + 1 if a < n else n"
    >>> [f"{m.before} -> {m.after}" for m in mutants("f.py", code)]
    ['a < n -> a <= n', 'a + 1 -> a - 1', '1 -> 2']
    """
    seen: Counter[str] = Counter()
    for function, node in _live(ast.parse(source), ""):
        for changed in _changes(node):
            mutant = _mutant(path, source, function, node, changed)
            key = f"{path}::{function}: {mutant.before} -> {mutant.after} in {source.splitlines()[mutant.line - 1].strip()}"
            seen[key] += 1
            yield mutant._replace(key=f"{key} #{seen[key]}" if seen[key] > 1 else key)


def _live(node: ast.AST, function: str) -> Iterator[tuple[str, ast.AST]]:
    """What is computed when the file runs: each node, with the name of the function around it."""
    if isinstance(node, ast.stmt) and isinstance(node, _NOT_RUN):
        return
    if isinstance(node, ast.Expr) and ast.unparse(node.value).startswith(("'", '"', "prefetch(")):
        return  # a docstring; what is fetched ahead of its use
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        function = f"{function}.{node.name}".lstrip(".")
        inner: list[ast.AST] = list(node.body)
    elif isinstance(node, ast.AnnAssign):
        inner = [node.value] if node.value else []
    elif isinstance(node, ast.JoinedStr):
        return  # what is said
    elif isinstance(node, ast.Lambda):
        inner = [node.body]
    else:
        inner = list(ast.iter_child_nodes(node))
    if isinstance(node, (ast.stmt, ast.expr)):
        yield function, node
    for child in inner:
        yield from _live(child, function)


def _changes(node: ast.AST) -> Iterator[ast.AST]:
    """What can stand in the place of a node."""
    if isinstance(node, ast.Compare):
        for i, op in enumerate(node.ops):
            new = copy.deepcopy(node)
            new.ops[i] = _COMPARISONS[type(op)]()
            yield new
    elif isinstance(node, ast.BoolOp):
        new_bool = copy.deepcopy(node)
        new_bool.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield new_bool
    elif isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC and not _is_type(node):
        new_sum = copy.deepcopy(node)
        new_sum.op = _ARITHMETIC[type(node.op)]()
        yield new_sum
    elif isinstance(node, ast.AugAssign):
        yield ast.Pass()
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub, ast.Invert)):
        yield copy.deepcopy(node.operand)
    elif isinstance(node, ast.Constant) and type(node.value) in (int, bool):
        yield ast.Constant(not node.value if isinstance(node.value, bool) else node.value + 1)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("min", "max"):
        new_call = copy.deepcopy(node)
        new_call.func = ast.Name("max" if node.func.id == "min" else "min", ast.Load())
        yield new_call
    elif isinstance(node, (ast.If, ast.While, ast.IfExp)) and not isinstance(
        node.test, (ast.Compare, ast.UnaryOp, ast.Constant)
    ):
        new_if = copy.deepcopy(node)
        new_if.test = ast.UnaryOp(ast.Not(), new_if.test)
        yield new_if
    elif isinstance(node, ast.Break):
        yield ast.Continue()
    elif isinstance(node, ast.Continue):
        yield ast.Break()
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield ast.Pass()
    elif isinstance(node, ast.Assign) and isinstance(node.targets[0], (ast.Subscript, ast.Attribute)):
        yield ast.Pass()


def _is_type(node: ast.BinOp) -> bool:
    """Whether `a | b` is a union of types, as far as can be seen."""
    return isinstance(node.op, ast.BitOr) and "None" in (ast.unparse(node.left), ast.unparse(node.right))


def _mutant(path: str, source: str, function: str, node: ast.AST, changed: ast.AST) -> Mutant:
    """The file with the text of a node exchanged; of `if` and `while` only the condition."""
    old, new = (node.test, changed.test) if isinstance(node, (ast.If, ast.While)) else (node, changed)  # type: ignore[attr-defined]
    data = source.encode()
    lines = data.splitlines(keepends=True)
    begin = sum(map(len, lines[: old.lineno - 1])) + old.col_offset  # type: ignore[attr-defined]
    end = sum(map(len, lines[: old.end_lineno - 1])) + old.end_col_offset  # type: ignore[attr-defined]
    after = ast.unparse(ast.fix_missing_locations(new))
    text = f"({after})" if isinstance(new, ast.expr) else after
    before = " ".join(data[begin:end].decode().split())
    return Mutant(
        path, function, old.lineno, before, after, (data[:begin] + text.encode() + data[end:]).decode(), ""
    )  # type: ignore[attr-defined]
