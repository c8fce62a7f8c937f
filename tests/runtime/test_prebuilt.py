"""Kernels compiled beforehand: used where they fit, and where they do not, kernels are compiled as without them."""

import pathlib
import platform
import shutil

import kernels_wheel
import pytest
from llvmlite import binding as llvm
from processes import COMPILED, python
from tables import each

from ubpe_numba.runtime.compiler import cache

USE = """
from ubpe_numba import BPE
tokenizer = BPE.from_merges([[0, 1], [2, 0]], alphabet=2)
assert tokenizer.decode(tokenizer.encode([0, 1, 0, 1])).tolist() == [0, 1, 0, 1]
"""
COUNT = (
    COMPILED
    + """
{before}
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    {use}
print(len(compiled) > 0, len(caught))
"""
)


def use(packages: pathlib.Path, cache: pathlib.Path, before: str = "") -> tuple[bool, int]:
    """Whether a new process compiles, with a cache of its own, and how many warnings it gives."""
    script = COUNT.format(before=before, use=USE.strip().replace("\n", "\n    "))
    compiles, warned = python(
        script, path=packages, UBPE_CACHE_DIR=str(cache), NUMBA_DISABLE_ENTRY_POINTS="1"
    ).split()
    return compiles == "True", int(warned)


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A folder with a package of the kernels of one script."""
    processor, needed = cache.TARGETS.get(platform.machine().lower(), (None, ()))
    if processor is None or not all(map(llvm.get_host_cpu_features().get, needed)):
        pytest.skip("no package can be built for this processor")
    folder = tmp_path_factory.mktemp("kernels") / "build"
    kernels_wheel.build(folder, USE)
    return folder


def test_nothing_is_compiled(packages: pathlib.Path, tmp_path: pathlib.Path) -> None:
    assert use(packages, tmp_path / "cache") == (False, 0) and not (tmp_path / "cache").exists()


def test_without_the_package_kernels_are_compiled(tmp_path: pathlib.Path) -> None:
    assert use(tmp_path, tmp_path / "cache") == (True, 0)


@each("before, warnings", [
    ("import llvmlite; llvmlite.__version__ = '0.0'", 1),
    ("from ubpe_numba.runtime.compiler import cache as c; c.TARGETS = {m: (t, ('x',)) for m, (t, _) in c.TARGETS.items()}", 1),
    ("import platform; platform.machine = lambda: 'toaster'", 1),
    ("from numba.core import config; config.CPU_NAME = 'x86-64'", 0),  # asked for by the user
])  # fmt: skip
def test_what_does_not_fit_is_not_used_and_told_once(
    packages: pathlib.Path, tmp_path: pathlib.Path, before: str, warnings: int
) -> None:
    assert use(packages, tmp_path / str(hash(before)), before) == (True, warnings)


def test_damaged_files_give_one_warning(packages: pathlib.Path, tmp_path: pathlib.Path) -> None:
    folder = tmp_path / cache.PACKAGE
    folder.mkdir()
    (folder / "__init__.py").touch()
    shutil.copy(packages / cache.PACKAGE / cache.STAMP, folder)
    for file in (packages / cache.PACKAGE).glob("*.nbc"):
        (folder / file.name).write_bytes(file.read_bytes()[:-1])
    assert use(tmp_path, tmp_path / "cache") == (True, 1)
