"""Generate the protobuf code: a hatchling build hook that also runs by hand (`python -m hatch_build`).

For every proto/**/*.proto this writes, at the same place in the package tree, the messages (`_pb2.py`), the
services where there are any (`_pb2_grpc.py`) and typed stubs for both, and the packages that hold them. The schema of the log is also written
as a self-contained FileDescriptorSet, so that a log can be read without this package.
"""

import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from google.protobuf.descriptor_pb2 import FileDescriptorSet
from grpc_tools import protoc
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parent
PROTO = ROOT / "proto"
LOG_SCHEMA = "referee/log/v1"
LOG_DESCRIPTORS = "referee/log/descriptors.binpb"


class GenerateProtobuf(BuildHookInterface[Any]):
    """Generates before hatchling collects the files of a wheel, editable or not."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        generate()


def generate() -> None:
    """Bring the generated files up to date, leaving alone those that already are."""
    protos = sorted(path.relative_to(PROTO).as_posix() for path in PROTO.rglob("*.proto"))
    schemas = {Path(proto).parent for proto in protos}
    # What holds a game's schema and nothing else; the log's is beside code, the API's at the top.
    packages = sorted(schemas | ({schema.parent for schema in schemas} - {Path("referee"), Path(LOG_SCHEMA).parent}))
    with TemporaryDirectory() as temporary:
        out = Path(temporary)
        if protos:
            _compile(protos, out)
        for package in packages:
            # Regular packages: what these directories hold is not open to extension.
            (out / package / "__init__.py").write_text(f'"""Generated from proto/{package.as_posix()}."""\n')
        _publish(out, packages)


def _compile(protos: list[str], out: Path) -> None:
    everything = out / "everything.binpb"
    _protoc(f"--descriptor_set_out={everything}", *protos)
    files = FileDescriptorSet.FromString(everything.read_bytes()).file
    everything.unlink()

    _protoc(f"--python_out={out}", *_plugin("mypy", out), *protos)
    if services := [file.name for file in files if file.service]:
        _protoc(f"--grpc_python_out={out}", *_plugin("mypy_grpc", out), *services)
    if log := [proto for proto in protos if Path(proto).parent == Path(LOG_SCHEMA)]:
        (out / LOG_DESCRIPTORS).parent.mkdir(parents=True, exist_ok=True)
        _protoc("--include_imports", f"--descriptor_set_out={out / LOG_DESCRIPTORS}", *log)


def _protoc(*arguments: str) -> None:
    include = Path(protoc.__file__).parent / "_proto"  # google/protobuf/*.proto
    if protoc.main(["protoc", f"--proto_path={PROTO}", f"--proto_path={include}", *arguments]):
        raise SystemExit("protoc failed; see above.")


def _plugin(name: str, out: Path) -> list[str]:
    """Return the arguments that run a mypy-protobuf plugin, on PATH or (by hand) next to the interpreter."""
    executable = f"protoc-gen-{name}"
    path = shutil.which(executable) or shutil.which(executable, path=Path(sys.executable).parent)
    if path is None:
        raise SystemExit(f"{executable} not found; it comes with mypy-protobuf.")
    return [f"--plugin={executable}={path}", f"--{name}_out=quiet:{out}"]


def _publish(out: Path, packages: list[Path]) -> None:
    """Move what changed into the tree, whole files at a time as others may be reading; drop leftovers."""
    fresh = {path.relative_to(out) for path in out.rglob("*") if path.is_file()}
    for path in sorted(fresh):
        target = ROOT / path
        content = (out / path).read_bytes()
        if target.exists() and target.read_bytes() == content:
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_name(target.name + ".partial")
        partial.write_bytes(content)
        partial.replace(target)
    for package in packages:
        for path in (ROOT / package).glob("*_pb2*.py*"):
            if path.relative_to(ROOT) not in fresh:
                path.unlink()


if __name__ == "__main__":
    generate()
