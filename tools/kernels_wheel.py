"""Build the package `ubpe-numba-kernels`: kernels compiled for one platform, one version of Python, and one of numba.

    python tools/kernels_wheel.py build/       writes build/ubpe_numba_kernels and a project around it
    pip wheel --no-deps build/

Where it is installed, its folder is a second cache that is only read
(`ubpe_numba/runtime/compiler/cache.py`).
"""

from __future__ import annotations

import importlib
import os
import pathlib
import platform
import subprocess
import sys
import sysconfig

import numba

from ubpe_numba.runtime.compiler.cache import PACKAGE, STAMP, TARGETS


def build(folder: pathlib.Path, script: str = "import ubpe_numba; ubpe_numba.warmup()") -> None:
    """Compile the kernels that a script uses, by default all, in a process of its own, and write the package.

    `folder` gets the package's directory and its pyproject.toml and setup.cfg. All kernels take a minute.
    """
    processor = TARGETS[platform.machine().lower()][0]
    kernels = folder / PACKAGE
    kernels.mkdir(parents=True)
    target = {"UBPE_CACHE_DIR": str(kernels), "NUMBA_CPU_NAME": processor, "NUMBA_CPU_FEATURES": ""}
    stamp = f"from ubpe_numba.runtime.compiler import cache; open({str(kernels / STAMP)!r}, 'w').write(cache._stamp())"
    subprocess.run([sys.executable, "-c", f"{script}\n{stamp}"], env={**os.environ, **target}, check=True)
    for file in kernels.iterdir():
        file.chmod(0o644)
    kernels.chmod(0o755)
    (kernels / "__init__.py").write_text(
        f'"""Kernels of ubpe_numba for {processor} and numba {numba.__version__}."""\n'
    )
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
{PACKAGE} = ["*.nbc", "{STAMP}"]
"""
    )
    tag = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    (folder / "setup.cfg").write_text(f"[bdist_wheel]\nplat_name = {tag}\npython_tag = {python}\n")


if __name__ == "__main__":
    build(pathlib.Path(sys.argv[1]))
