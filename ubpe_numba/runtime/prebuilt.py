"""Kernels compiled beforehand: a package `ubpe-numba-kernels` for one platform, one version of Python, and one of numba.

Its directory is a second kernel cache that is only read. What the cache of the user does not hold is looked for there, under the
name that the cache would give it on the processor that the package is built for: a level that nearly all machines have reached.
Code for x86-64-v3 is as fast as code for the machine itself (0.98 to 1.03 of its time). Everything that the code depends on is
part of the name, so a package that does not fit (another version, changed sources) is not found, and kernels are compiled as
without it. The package is trusted as this one is.

    python -m ubpe_numba.runtime.prebuilt build/     writes build/ubpe_numba_kernels and what pip needs to make a wheel of it
    pip wheel --no-deps build/
"""

from __future__ import annotations

import functools
import importlib.util
import os
import pathlib
import platform
import subprocess
import sys
import sysconfig

import numba
from llvmlite import binding as llvm
from numba.core import config

PACKAGE = "ubpe_numba_kernels"

#: By machine: the processor that is compiled for, as LLVM calls it, and what a machine must have to run the code.
_V3 = ("avx2", "bmi", "bmi2", "cx16", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sahf", "sse4.2", "xsave")
_TARGETS: dict[str, tuple[str, tuple[str, ...]]] = {
    "x86_64": ("x86-64-v3", _V3),
    "amd64": ("x86-64-v3", _V3),
    "aarch64": ("generic", ()),
    "arm64": ("generic", ()),
}


@functools.cache
def package() -> tuple[pathlib.Path, str] | None:
    """The directory of the package and the processor it is built for; None without it, or where its code could not run."""
    processor, needed = _TARGETS.get(platform.machine().lower(), (None, ()))
    if processor is None or config.CPU_NAME is not None:  # who names a processor wants its code
        return None
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        return None
    has = llvm.get_host_cpu_features() if needed else {}
    return (pathlib.Path(spec.submodule_search_locations[0]), processor) if all(has.get(f) for f in needed) else None


def build(folder: pathlib.Path, script: str = "import ubpe_numba; ubpe_numba.warmup()") -> None:
    """Compile what a script uses, in a process of its own, and write the package.

    Parameters
    ----------
    folder
        Gets the package's directory and its pyproject.toml and setup.cfg.
    script
        Python source; by default all kernels are compiled, which takes a minute.
    """
    processor = _TARGETS[platform.machine().lower()][0]
    kernels = folder / PACKAGE
    kernels.mkdir(parents=True)
    target = {"UBPE_CACHE_DIR": str(kernels), "NUMBA_CPU_NAME": processor, "NUMBA_CPU_FEATURES": ""}
    subprocess.run([sys.executable, "-c", script], env={**os.environ, **target}, check=True)
    for file in kernels.iterdir():
        file.chmod(0o644)
    kernels.chmod(0o755)
    (kernels / "__init__.py").write_text(f'"""Kernels of ubpe_numba for {processor} and numba {numba.__version__}."""\n')
    version = importlib.import_module("ubpe_numba").__version__
    (folder / "pyproject.toml").write_text(
        f"""[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "ubpe-numba-kernels"
version = "{version}"
description = "Kernels of ubpe-numba, compiled beforehand"
requires-python = "=={sys.version_info.major}.{sys.version_info.minor}.*"
dependencies = ["ubpe-numba=={version}", "numba=={numba.__version__}"]

[tool.setuptools]
packages = ["{PACKAGE}"]

[tool.setuptools.package-data]
{PACKAGE} = ["*.nbc"]
"""
    )
    tag = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    (folder / "setup.cfg").write_text(f"[bdist_wheel]\nplat_name = {tag}\npython_tag = {python}\n")


if __name__ == "__main__":
    build(pathlib.Path(sys.argv[1]))
