"""A cached property holds no lock while it computes, and nothing in the package uses one that does."""

import threading

from ubpe_numba.runtime.lazy import cached_property


class Slow:
    """Counts how often it computes; the first computation waits for the second object's."""

    def __init__(self, other: threading.Event | None = None) -> None:
        self.other, self.done, self.computed = other, threading.Event(), 0

    @cached_property
    def value(self) -> int:
        """The value."""
        self.computed += 1
        if self.other is not None:
            assert self.other.wait(60)
        self.done.set()
        return self.computed


def test_it_is_computed_once() -> None:
    one = Slow()
    assert (one.value, one.value, one.computed) == (1, 1, 1) and Slow.value is vars(Slow)["value"]


def test_one_object_does_not_wait_for_another() -> None:
    second = Slow()
    first = Slow(second.done)
    thread = threading.Thread(target=lambda: first.value)
    thread.start()
    while not first.computed:
        pass
    assert second.value == 1  # with a lock of the class it would wait for the first, which waits for it
    thread.join()
    assert first.value == 1
