"""The fuzzers of a `tokenizer.json` report a difference; mutations of files give the same as there, or are refused."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.filterwarnings("ignore:added_tokens")  # of words that a normalizer changes
pytest.importorskip("tokenizers")
fuzz_configurations = pytest.importorskip("fuzz.fuzz_configurations")


def test_a_difference_is_found_and_can_be_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz_configurations, "encoded", lambda tok, docs, special: [[[-1]] * len(docs)])
    with pytest.raises(AssertionError, match=r"(?s)there .*, here.*\nmake\(\d+\)$"):
        fuzz_configurations.fuzz(10, 0)
    assert fuzz_configurations.make(5) == fuzz_configurations.make(5) != fuzz_configurations.make(6)


def test_mutations_give_the_same_or_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    fuzz_mutations = pytest.importorskip("fuzz.fuzz_mutations")
    said = fuzz_mutations.fuzz(2, 0, ("llama", "words"))
    assert said[""] >= 5 and said["both"] >= 50 and len(said) > 5, said
    monkeypatch.setattr(fuzz_mutations, "load", lambda text: 0)
    with pytest.raises(AssertionError, match="loaded here, refused there"):
        fuzz_mutations.fuzz(1, 0, ("words",))
