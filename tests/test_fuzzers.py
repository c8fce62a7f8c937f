"""A slice of each fuzzer (`tools/fuzz`): encoders, fits, bounds beside their plain references, and calls in any order."""

from fuzz import encode_cases, fuzz_bounds, fuzz_calls, fuzz_encode, fuzz_fit, fuzz_refine, fuzz_text


def test_encoders() -> None:
    done = fuzz_encode.fuzz(200_000, seed=12)
    assert done.total() >= 200_000 and {name.split()[0] for name in done} == set(encode_cases.SHAPES)
    assert {name.split()[1] for name in done} == set(fuzz_encode.CHECKS) == set(encode_cases.WANTED)


def test_fits() -> None:
    done = fuzz_fit.fuzz(600, seed=3)
    assert done.total() == 600
    assert set(done) == {
        f"{cls} {way.__name__}" for cls in fuzz_fit.CLASSES for way in (fuzz_fit.plain, *fuzz_fit.WAYS)
    }


def test_bounds_refinements_and_words_of_text() -> None:
    assert fuzz_bounds.fuzz(80, seed=19) == 80 and fuzz_refine.fuzz(6, seed=3) == 6
    assert fuzz_text.fuzz(15_000, seed=12) >= 15_000


def test_calls_in_any_order() -> None:
    fuzz_calls.fuzz(20)
