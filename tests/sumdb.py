"""Go's sumdb packages, written elsewhere: a program that answers questions about notes, proofs and tiles."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

GOPATH = Path("/usr/share/gocode")
GO = shutil.which("go") or max(map(str, Path("/usr/lib").glob("go-*/bin/go")), default=None)
"""Debian's packages of one version put it beside the path."""
MISSING = "Go, or its package golang.org/x/mod/sumdb (Debian: golang-go, golang-golang-x-mod-dev), is not installed"
needed = pytest.mark.skipif(GO is None or not (GOPATH / "src/golang.org/x/mod/sumdb/note").is_dir(), reason=MISSING)
Ask = Callable[..., dict[str, Any]]


def build(folder: Path, verifier: str) -> Ask:
    """Build the program of ``tests/log/go`` and return what asks it. ``verifier``: whose notes are opened."""
    program = folder / "sumdb"
    environment = {**os.environ, "GO111MODULE": "off", "GOPATH": str(GOPATH), "GOCACHE": str(folder / "cache")}
    source = Path(__file__).parent / "log" / "go" / "main.go"
    subprocess.run([str(GO), "build", "-o", program, source], env=environment, check=True, cwd=folder)

    def answers(**questions: Any) -> dict[str, Any]:
        request = json.dumps({"Verifier": verifier, **questions})
        done = subprocess.run([program], input=request, capture_output=True, text=True, check=True)
        return dict(json.loads(done.stdout))

    return answers
