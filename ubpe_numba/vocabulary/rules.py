"""Rules of fitting and encoding on which publications and packages differ, as named options.

The UBPE articles leave these open or contradict themselves, and the packages published by their author differ
from one another. The defaults measured best; the presets reproduce the published results id for id.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from ubpe_numba.errors import quoted
from ubpe_numba.runtime.arrays import told
from ubpe_numba.runtime.schema import pickled

__all__ = ["FitRules"]

_CHOICES = {
    "ties": ("smallest", "first_seen", "fewest_documents"),
    "order": ("creation", "idf"),
    "trim": ("closed", "one_level", "published_0_2", "published_0_3"),
    "encode": ("rank", "batch"),
}


@told
@dataclasses.dataclass(frozen=True)
class FitRules:
    """How a vocabulary is fitted, ordered and trimmed, and how pair tables encode.

    Parameters
    ----------
    ties : str
        Which of two equally frequent pairs is merged first. ``"smallest"``: the pair with the smaller left
        id, then with the smaller right id, which depends only on the pairs. ``"first_seen"``: the pair that
        occurs first in the current corpus (the UBPE articles, ubpe 0.2.2). ``"fewest_documents"``: the pair
        in fewer documents, then the larger pair (ubpe 0.3.0).
    min_count : int
        Pairs that occur less often are never merged. 2: a token for a single occurrence compresses nothing
        (third article). 1: as published.
    overshoot : bool
        False: exactly ``n_tokens`` ids, alphabet included. True: whole rounds while the last id is below
        ``n_tokens``, as published.
    order : str
        ``"creation"``: ids in the order of merging, so that parents precede children. ``"idf"``: after
        fitting, the highest idf first, truncated to ``n_tokens``, the optional rearrangement of the UBPE
        articles. It removes the most useful tokens first: on text, audio and images it cost 14 to 59 % more
        tokens than keeping the oldest.
    trim : str
        Which tokens are removed together with one that ``order="idf"`` removes from a pair table.
        ``"closed"``: everything built on it. ``"one_level"``: tokens built on it directly (the UBPE
        articles). ``"published_0_2"``, ``"published_0_3"``: as in those packages, which count some removals
        twice. All except the first can keep tokens built on removed tokens. A `ValueError` rejects that
        vocabulary, since it cannot decode.
    encode : str
        How pair tables encode. ``"rank"``: all occurrences of the lowest-ranked pair present are merged,
        until no pair of the table is left. ``"batch"``: the rule of the UBPE articles, which merges several
        pairs per pass. They differ only for tables that are not in order of creation.
    max_token_length : int or None
        No token of more symbols is made; None for no limit.

    Examples
    --------
    >>> FitRules(ties="first_seen").min_count
    2
    >>> FitRules(ties="coin")
    Traceback (most recent call last):
    ...
    ValueError: ties: expected one of 'smallest', 'first_seen', 'fewest_documents', got 'coin'
    """

    #: The rules of the two articles as written.
    ARTICLE: ClassVar[FitRules]
    #: The rules of the package ubpe 0.2.2 with its default ``rearrange_tokens=True``;
    #: ``.replace(order="creation")`` for False.
    PUBLISHED_0_2: ClassVar[FitRules]
    #: The rules of the package ubpe 0.3.0, in the same way.
    PUBLISHED_0_3: ClassVar[FitRules]

    ties: str = "smallest"
    min_count: int = 2
    overshoot: bool = False
    order: str = "creation"
    trim: str = "closed"
    encode: str = "rank"
    max_token_length: int | None = None

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            value = getattr(self, name)
            if value not in choices:
                raise ValueError(
                    f"{name}: expected one of {', '.join(map(repr, choices))}, got {quoted(value)}"
                )
        if type(self.min_count) is not int or self.min_count < 1:
            raise ValueError(f"min_count: expected an int of at least 1, got {quoted(self.min_count)}")
        if self.min_count >= 2**63:
            raise ValueError(f"min_count: expected an int below 2**63, got {quoted(int(self.min_count))}")
        if (longest := self.max_token_length) is not None and (type(longest) is not int or longest < 1):
            raise ValueError(
                f"max_token_length: expected None or an int of at least 1, got {quoted(longest)}"
            )
        if type(self.overshoot) is not bool:
            raise TypeError(f"overshoot: expected a bool, got {quoted(self.overshoot)}")

    def __reduce__(self) -> tuple[object, ...]:
        return pickled(FitRules, *dataclasses.astuple(self))

    def replace(self, **changes: object) -> FitRules:
        """Copy the rules with changes of some parameters, values as for `FitRules`.

        Examples
        --------
        >>> FitRules.PUBLISHED_0_2.replace(order="creation").order
        'creation'
        """
        return dataclasses.replace(self, **changes)  # type: ignore[arg-type]


FitRules.ARTICLE = FitRules("first_seen", 1, True, "idf", "one_level", "batch")
FitRules.PUBLISHED_0_2 = FitRules("first_seen", 1, True, "idf", "published_0_2", "batch")
FitRules.PUBLISHED_0_3 = FitRules("fewest_documents", 1, True, "idf", "published_0_3", "batch")
