"""Private names of other packages: each is taken away in turn, and all goes on without it, with equal ids and one warning."""

import json
import os
import pathlib

import pytest
from processes import FORKS, python

from ubpe_numba.runtime import border
from ubpe_numba.runtime.compiler import cache

#: What a process does with an ability, printed as JSON: ids, what it warned of, and the abilities that are
#: off.
USE = """
def use():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        from ubpe_numba import BPE
        tok = BPE(8).fit([[0, 1, 2, 0, 1, 2, 1, 0] * 3] * 3, progress=False)
        ids = [tok.encode([0, 1, 2, 0]).tolist() for _ in range(10)]
        back = [tok.decode(ids[0]).tolist() for _ in range(10)]
        from numba import njit
        inside = njit(lambda kernels, doc: kernels.count(doc))(tok.kernels, np.array([0, 1, 2, 0]))
        from ubpe_numba.runtime import border
        list(map(border.names, border.ABILITIES))
        border.tell()
    told = [str(w.message) for w in caught if "ubpe_numba with" in str(w.message)]
    return [tok.fingerprint, ids, back, int(inside)], told, sorted(border._off)
"""
TAKEN = f"""{FORKS}
import importlib, json, sys, types, warnings
import numba, numpy as np
from ubpe_numba.runtime import border
{USE}

class Without:
    "A module without one of its names."
    def __init__(self, module, name): self.module, self.name = module, name
    def __getattr__(self, name):
        if name == self.name: raise AttributeError(name)
        return getattr(self.module, name)

def without(module, name):
    def load(wanted):
        found = importlib.import_module(wanted)
        return Without(found, name) if wanted == module else found
    look_up = border._look_up
    border._known_names.clear()  # forks have looked at theirs
    border._look_up = lambda ability, _: look_up(ability, load)
    print(json.dumps([module, name, *use()]), flush=True)

for module, name in json.loads(sys.argv[1]):
    assert wait(child(lambda: without(module, name)), 250) == 0, (module, name)
"""
NAMES = [
    (ability, *pair)
    for ability, (_, needs) in border.ABILITIES.items()
    for line in needs.strip().splitlines()
    for pair in [(line.split()[0], name) for name in line.split()[1:]]
]
FEW = [
    "_ARRAY_API",
    "Lower",
    "PreLowerStripPhis",
    "dumps",
    "lib",
    "global_compiler_lock",
    "_module_locks",
    "acquire_lock",
]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks")
def test_each_name_is_taken_away(tmp_path: pathlib.Path) -> None:
    """In a process of its own: import, fit, encode, decode, a user's kernel; with UBPE_FULL=1 every name."""
    chosen = [pair[1:] for pair in NAMES if os.environ.get("UBPE_FULL") == "1" or pair[2] in FEW]
    abilities = {pair[1:]: {ability for ability, *rest in NAMES if tuple(rest) == pair[1:]} for pair in NAMES}
    options = ("-W", "ignore:This process:DeprecationWarning")
    lines = python(TAKEN, json.dumps(chosen), options=options, UBPE_CACHE_DIR=str(tmp_path)).splitlines()
    expected = json.loads(
        python(f"import json, warnings\nimport numpy as np\n{USE}\nprint(json.dumps(use()))")
    )
    assert expected[1:] == [[], []]
    for line in lines:
        module, name, results, told, off = json.loads(line)
        assert results == expected[0] and set(off) == abilities[module, name], (module, name, off)
        assert (
            len(told) == 1 and f"there is no {module}.{name}" in told[0] and "UBPE_PLAIN_NUMBA=1" in told[0]
        ), told
    assert len(lines) == len(chosen)


def test_a_pass_that_fails_is_replaced_by_those_of_numba(tmp_path: pathlib.Path) -> None:
    """A later numba may have other methods: the first kernel that cannot be compiled is compiled anew, and all after it."""
    script = f"import json, sys, warnings\nimport numba, numpy as np\n{USE}\nBREAK\nprint(json.dumps(use()))"
    broken = "from ubpe_numba.runtime.compiler import passes\npasses.KernelLower._place = None"
    expected = json.loads(python(script.replace("BREAK", "")))
    results, told, off = json.loads(python(script.replace("BREAK", broken), UBPE_CACHE_DIR=str(tmp_path)))
    assert results == expected[0] and off == ["passes"] and len(told) == 1 and "a pass failed" in told[0]


def test_versions_and_settings_have_files_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels of numba's own passes are not read where ours are on."""
    stamp = cache._stamp.__wrapped__()
    monkeypatch.setitem(border._off, "passes", "a test")
    assert cache._stamp.__wrapped__() != stamp
