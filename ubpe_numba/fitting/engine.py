"""How the driver of a fit talks to its shards: a small interface, and the shards of this process behind it.

The driver holds tables of pairs, *hosts* hold the text. It asks all hosts one thing and waits for their answers, which is one
synchronisation, or tells one host something. What a message is called is the name of a method of the host:

    ask("count_dense", 5)  ──> host 0 ──> its counts ──┐
                           ──> host 1 ──> its counts ──┴──> [counts, counts]

In a process there is one host, the working text with a thread for each shard (working_text.py), and whole rounds run in one
kernel on its arrays. Hosts elsewhere (host.py) may be lost; they are made anew and brought to where the others are
(remote_shards.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol


class LostHostsError(Exception):
    """Some hosts of a fit are gone, and their shards with them.

    Attributes
    ----------
    hosts : list of int
        Which.
    """

    def __init__(self, hosts: Sequence[int], reason: str = "") -> None:
        super().__init__(list(hosts), reason)
        self.hosts, self.reason = list(hosts), reason

    def __str__(self) -> str:
        return f"lost: {', '.join(f'host {k}' for k in self.hosts)}" + (f": {self.reason}" if self.reason else "")


class Engine(Protocol):
    """Who carries messages to `n` hosts and answers back."""

    n: int

    def ask(self, method: str, *args: Any, each: Sequence[tuple[Any, ...]] | None = None) -> list[Any]:
        """What every host answers, in order of hosts; all get the same arguments, or with `each` host k gets `each[k]`.

        Answers of consecutive hosts that can be added up may come as one (`host.together`). Raises `LostHostsError`, when all
        others have answered or will have before they take another message, and what a host raises.
        """

    def tell(self, k: int, method: str, *args: Any) -> Any:
        """What host k answers. Raises as `ask`."""

    def renew(self, lost: Sequence[int]) -> None:
        """Make hosts anew that are lost; they know nothing of the fit then. Raises `LostHostsError` if that fails."""


class InProcess:
    """Hosts in this process, one after the other; each works on threads of its own."""

    def __init__(self, hosts: Sequence[Any]) -> None:
        self.hosts = list(hosts)
        self.n = len(self.hosts)

    def ask(self, method: str, *args: Any, each: Sequence[tuple[Any, ...]] | None = None) -> list[Any]:
        """See `Engine`."""
        if each is None:
            return [getattr(host, method)(*args) for host in self.hosts]
        return [getattr(host, method)(*own) for host, own in zip(self.hosts, each, strict=True)]

    def tell(self, k: int, method: str, *args: Any) -> Any:
        """See `Engine`."""
        return getattr(self.hosts[k], method)(*args)

    def renew(self, lost: Sequence[int]) -> None:
        """See `Engine`; threads of this process are lost with the process only."""
        raise LostHostsError(lost, "they are in this process")
