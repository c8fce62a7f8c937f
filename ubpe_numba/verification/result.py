"""What a verification found: a row for each thing compared, the first differences, and where it ran."""

from __future__ import annotations

import dataclasses
import textwrap
from typing import Any

from ubpe_numba.verification.machine import Kernels, Machine
from ubpe_numba.verification.part import Inputs

_WIDTH = 100
_SHOWN = 600  # characters of the inputs of a difference that the table shows


@dataclasses.dataclass(frozen=True)
class Difference:
    """The first difference of a row, with what makes it again: the documents, and how they were fitted or encoded."""

    case: int
    what: str
    where: str
    inputs: Inputs


@dataclasses.dataclass(frozen=True)
class Row:
    """One thing that was compared: how many cases of how many, their symbols, and how many comparisons differed."""

    name: str
    cases: int
    planned: int
    symbols: int
    differences: int
    seconds: float
    first: Difference | None = None


@dataclasses.dataclass(frozen=True)
class Verification:
    """What `verify` found. ``print`` shows it as a table.

    Attributes
    ----------
    passed : bool
        Whether something was compared, and nothing differed.
    complete : bool
        Whether there was time for all cases.
    left_out : list of str
        What there was no time for at all.
    rows : tuple
        What was compared, with the attributes ``name``, ``cases``, ``planned`` (the cases of the seed), ``symbols``,
        ``differences``, ``seconds`` and ``first``: the first difference, or None.
    machine : tuple
        ``versions``, ``platform``, ``cpu`` and ``cpu_features`` as LLVM sees them, ``n_threads``.
    kernels : tuple
        ``compiled`` in this process and ``loaded`` from a cache, versions of a kernel counted apart; how many different ones
        are ``used``, and how many the package has (``known``).
    seed, seconds, fresh
        The seed, how long it took, and whether everything was compiled for it.

    Examples
    --------
    >>> import ubpe_numba
    >>> found = ubpe_numba.verify(seconds=2, progress=False)
    >>> found.passed, found.rows[0].name, found.rows[0].differences
    (True, 'fit: pairs, counts, idf', 0)
    """

    rows: tuple[Row, ...]
    machine: Machine
    kernels: Kernels
    seed: int
    seconds: float
    fresh: bool = False

    @property
    def passed(self) -> bool:
        """Whether something was compared, and nothing differed."""
        return any(row.cases for row in self.rows) and not any(row.differences for row in self.rows)

    @property
    def complete(self) -> bool:
        """Whether there was time for all cases."""
        return all(row.cases == row.planned for row in self.rows)

    @property
    def left_out(self) -> list[str]:
        """What there was no time for at all."""
        return [row.name for row in self.rows if not row.cases]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data, for JSON.

        Returns
        -------
        dict
            Numbers, strings, lists and dicts; bytes of documents in hexadecimal digits.

        Examples
        --------
        >>> import json, ubpe_numba
        >>> data = ubpe_numba.verify(seconds=1, progress=False).to_dict()
        >>> data["passed"], json.loads(json.dumps(data)) == data
        (True, True)
        """
        plain = _plain(dataclasses.asdict(self))
        plain |= {"machine": self.machine._asdict(), "kernels": self.kernels._asdict()}
        return {"passed": self.passed, "complete": self.complete, "left_out": self.left_out, **plain}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Verification:
        """The verification that `to_dict` has made plain.

        Parameters
        ----------
        data : dict
            As `to_dict` returns it.

        Returns
        -------
        Verification
            Equal to the one that it was made of, but for bytes in inputs.

        Examples
        --------
        >>> import ubpe_numba
        >>> found = ubpe_numba.verify(seconds=1, progress=False)
        >>> type(found).from_dict(found.to_dict()) == found
        True
        """
        rows = tuple(Row(**{**row, "first": row["first"] and Difference(**row["first"])}) for row in data["rows"])
        facts = Machine(**data["machine"]), Kernels(**data["kernels"])
        return cls(rows, *facts, data["seed"], data["seconds"], data["fresh"])

    def __str__(self) -> str:
        """The table, where it ran, and what follows from it."""
        versions = ", ".join(f"{name} {version}" for name, version in self.machine.versions.items())
        lines = [*_wrapped(versions), *_wrapped(self.machine.platform)]
        lines += _wrapped(f"CPU {self.machine.cpu}, {self.machine.n_threads} threads: {' '.join(self.machine.cpu_features)}")
        k = self.kernels
        origin = f"{k.compiled} compiled here, {k.loaded} from the cache"
        lines += _wrapped(f"{k.used} of {k.known} kernels are in use, in {k.compiled + k.loaded} versions: {origin}")
        lines += ["", f"{'compared with plain references':36} {'cases':>9} {'symbols':>13}  differences"]
        for row in self.rows:
            cases = f"{row.cases}" if row.cases == row.planned else f"{row.cases} of {row.planned}"
            told = f"{row.differences:>11,}" if row.cases else "   no time"
            lines.append(f"{row.name:36} {cases:>9} {row.symbols:>13,}  {told}")
        lines += [f"seed {self.seed}, {self.seconds:.1f} s{', all kernels compiled anew' if self.fresh else ''}", ""]
        for row in self.rows:
            if row.first is not None:
                lines += _wrapped(f"{row.name}, case {row.first.case}, {row.first.what}: {row.first.where}"[:_SHOWN])
                lines += _wrapped(f"inputs: {row.first.inputs}"[:_SHOWN])
        return "\n".join([*lines, *self._verdict()])

    def _verdict(self) -> list[str]:
        """What follows, in words."""
        if any(row.differences for row in self.rows):
            command = f"ubpe-numba verify --seed {self.seed} --json"
            return _wrapped(
                f"DIFFERENCES: results of this library on this machine cannot be trusted. '{command}' prints the whole inputs; "
                "please report them."
            )
        if not self.passed:
            return ["NOTHING WAS COMPARED: there was no time"]
        if self.complete:
            return ["no difference"]
        missing = "" if not self.left_out else f"; not compared, for time: {', '.join(self.left_out)}"
        return _wrapped(f"no difference in what was compared{missing}. More time: --seconds")


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, subsequent_indent="    ", break_long_words=True, break_on_hyphens=False)


def _plain(value: Any) -> Any:
    r"""The same of what JSON has: lists for tuples, hexadecimal digits for bytes.

    >>> _plain({"a": (1, b"\xff")})
    {'a': [1, 'ff']}
    """
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value.hex() if isinstance(value, bytes) else value
