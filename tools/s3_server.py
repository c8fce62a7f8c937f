"""A real S3 server on this machine, moto's, with faults: answers 500, slow reads, and reads that are cut.

    python tools/s3_server.py PORT RATE

RATE is the part of requests that get a fault; those that make the bucket ``bucket`` and list it get none.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from random import Random
from typing import Any


def faulty(application: Callable[..., Any], rate: float, seed: int = 1) -> Callable[..., Any]:
    """A WSGI application in front of another one."""
    rng = Random(seed)

    def answer(environ: dict[str, Any], start: Callable[..., Any]) -> Any:
        fault = rng.choice(("error", "slow", "cut")) if rng.random() < rate else ""
        if fault == "error":
            environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
            start("500 Internal Server Error", [("Content-Type", "text/plain"), ("Content-Length", "0")])
            return [b""]
        body = b"".join(application(environ, start))
        if fault == "slow":
            time.sleep(0.5)
        return [body[: len(body) // 2] if fault == "cut" and environ["REQUEST_METHOD"] == "GET" else body]

    return answer


@contextlib.contextmanager
def serving(rate: float) -> Iterator[dict[str, str]]:
    """A server process; the environment in which fsspec finds it as ``s3://bucket``."""
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    server = subprocess.Popen(
        [sys.executable, __file__, str(port), str(rate)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        end = time.monotonic() + 60
        while True:
            with contextlib.suppress(OSError):
                urllib.request.urlopen(urllib.request.Request(f"{url}/bucket", method="PUT"), timeout=5)
                break
            if server.poll() is not None or time.monotonic() > end:
                raise RuntimeError("the S3 server has not begun")
            time.sleep(0.1)
        yield {
            "AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "y", "AWS_DEFAULT_REGION": "us-east-1", "AWS_ENDPOINT_URL": url,
        }  # fmt: skip
    finally:
        server.kill()
        server.wait()


if __name__ == "__main__":
    os.environ["MOTO_S3_CUSTOM_ENDPOINTS"] = f"http://127.0.0.1:{sys.argv[1]}"
    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import run_simple

    run_simple(
        "127.0.0.1",
        int(sys.argv[1]),
        faulty(DomainDispatcherApplication(create_backend_app), float(sys.argv[2])),
        threaded=True,
    )
