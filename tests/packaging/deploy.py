"""The files of docs/deploy, and what is needed to try them."""

from __future__ import annotations

import os
import re
import shutil
import socket

import pytest

from tests.docs.shell import ROOT

DEPLOY = ROOT / "docs" / "deploy"


def text_of(name: str) -> str:
    """Return a file of docs/deploy."""
    return (DEPLOY / name).read_text(encoding="utf-8")


def needs(program: str) -> str:
    """Where a program is; skips the test where it is not."""
    found = shutil.which(program, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    if found is None:
        pytest.skip(f"there is no {program} here")
    return found


def instructions() -> list[tuple[str, str]]:
    """Return the Containerfile, an instruction and its words each."""
    joined = re.sub(r"\\\n\s*", "", text_of("Containerfile"))
    lines = [line for line in joined.splitlines() if line and not line.startswith("#")]
    return [(line.partition(" ")[0], line.partition(" ")[2]) for line in lines]


def free_port() -> int:
    """Return a port that nothing listens on now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port
