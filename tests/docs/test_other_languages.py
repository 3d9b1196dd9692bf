"""The page on clients in other languages: what it says of generated code holds, whether or not the language is here."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from google.protobuf.compiler.plugin_pb2 import CodeGeneratorRequest

from tests.docs.shell import ROOT

BUF = Path(sys.executable).parent / "buf"
KEEPS = """#!{python}
import os, pathlib, sys
pathlib.Path({told!r}, str(os.getpid())).write_bytes(sys.stdin.buffer.read())
"""


def test_every_file_gets_a_package_of_the_module_for_go(tmp_path: Path) -> None:
    """A plugin of ours stands for Go's, and keeps what it is asked: once for each folder, several at a time."""
    (tmp_path / "told").mkdir()
    for name in ("protoc-gen-go", "protoc-gen-go-grpc"):
        (tmp_path / name).write_text(KEEPS.format(python=sys.executable, told=str(tmp_path / "told")))
        (tmp_path / name).chmod(0o755)
    subprocess.run(
        [BUF, "generate", ROOT / "proto", "--template", ROOT / "docs" / "examples" / "go" / "buf.gen.yaml"],
        cwd=tmp_path,
        env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        check=True,
        capture_output=True,
    )
    asked = [CodeGeneratorRequest.FromString(file.read_bytes()) for file in (tmp_path / "told").iterdir()]
    files = [file for each in asked for file in each.proto_file]
    packages = {file.name: file.options.go_package for file in files if file.name.startswith("referee/")}
    assert packages["referee/log/v1/log.proto"] == "example.org/bot/gen/referee/log/v1;logv1"
    assert all(package.startswith("example.org/bot/gen/referee/") for package in packages.values())
    assert {*packages} == {path.relative_to(ROOT / "proto").as_posix() for path in (ROOT / "proto").rglob("*.proto")}
