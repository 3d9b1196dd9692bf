"""Generate the protobuf code and the verifier's page: a hatchling build hook that also runs by hand
(`python -m hatch_build`).

For every proto/**/*.proto this writes, at the same place in the package tree, the messages (`_pb2.py`), the
services where there are any (`_pb2_grpc.py`) and typed stubs for both, and the packages that hold them. The schema of
the log is also written as a self-contained FileDescriptorSet, so that a log can be read without this package.

The verifier's page, `clients/verify-js/index.html`, is the gateway's page for files as one file, which needs no server.
A page that is opened from a file may import no modules, so they stand in it: those of the worker as text, those of the
page as its one script.
"""

import json
import re
import shutil
import sys
from base64 import b64encode
from hashlib import sha256
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
STATIC = ROOT / "clients" / "referee_clients" / "web" / "static"
# A link to clients/verify-js in a checkout, and a folder in an sdist.
VERIFIER = STATIC / "verify"
# In the order in which they need each other.
MODULES = ("bytes", "ed25519", "wire", "schema", "frames", "note", "deck", "entries", "authors", "audit", "report")
EVENT_MODULES = ("schema", "terms", "state", "points", "pairing", "rules", "", "audit")


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
    _write(VERIFIER / "index.html", verifier_page().encode())


def _compile(protos: list[str], out: Path) -> None:
    everything = out / "everything.binpb"
    compile_protos(f"--descriptor_set_out={everything}", *protos)
    files = FileDescriptorSet.FromString(everything.read_bytes()).file
    everything.unlink()

    compile_protos(f"--python_out={out}", *_plugin("mypy", out), *protos)
    if services := [file.name for file in files if file.service]:
        compile_protos(f"--grpc_python_out={out}", *_plugin("mypy_grpc", out), *services)
    if log := [proto for proto in protos if Path(proto).parent == Path(LOG_SCHEMA)]:
        (out / LOG_DESCRIPTORS).parent.mkdir(parents=True, exist_ok=True)
        compile_protos("--include_imports", f"--descriptor_set_out={out / LOG_DESCRIPTORS}", *log)


def compile_protos(*arguments: str) -> None:
    """Run protoc on files that are named from the folder of the protocol."""
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
        _write(ROOT / path, (out / path).read_bytes())
    for package in packages:
        for path in (ROOT / package).glob("*_pb2*.py*"):
            if path.relative_to(ROOT) not in fresh:
                path.unlink()


def _write(target: Path, content: bytes) -> None:
    if target.exists() and target.read_bytes() == content:
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(target.name + ".partial")
    partial.write_bytes(content)
    partial.replace(target)


def verifier_page() -> str:
    """Return the page: the same bytes wherever it is made."""
    everything: dict[str, str] = json.loads((ROOT / "referee/text/words/en/web.json").read_text("utf-8"))
    # Findings have the auditor's own words, which are English, too.
    words = {key: text for key, text in everything.items() if key.startswith("verify.")}
    verifier = [VERIFIER / f"{name}.mjs" for name in MODULES]
    events = [VERIFIER / f"{'_'.join(filter(None, ('event', name)))}.mjs" for name in EVENT_MODULES]
    auditor = "\n".join(map(_script, [*verifier, *events, STATIC / "auditor.mjs"]))
    catalogue = _put(
        _script(STATIC / "words.mjs"),
        'JSON.parse(document.getElementById("words").textContent)',
        json.dumps(words, indent=1, ensure_ascii=False),
    )
    starting = (
        'const startAuditor = () => new Worker(URL.createObjectURL(new Blob([document.getElementById("auditor")'
        '.textContent], { type: "text/javascript" })));\n'
    )
    parts = [catalogue, starting, *(_script(STATIC / f"{name}.mjs") for name in ("finding", "verdict", "verify"))]
    script = "\n" + "\n".join(parts)
    page = (VERIFIER / "page.html").read_text("utf-8")
    style = page.partition("<style>")[2].partition("</style>")[0]
    # It can ask nobody for anything, and so tell nobody anything.
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; worker-src blob:; "
        "base-uri 'none'; form-action 'none'"
    )
    page = re.sub(r"\{((?:title|verify)\.[\w.]+)\}", lambda found: _escaped(everything[found[1]]), page)
    for place, part in (("{csp}", policy), ("/* auditor */", auditor.rstrip()), ("/* page */", script)):
        page = _put(page, place, part)
    return page


def _script(module: Path) -> str:
    """Return a module as a part of one script: without its imports and the word export."""
    text = module.read_text("utf-8")
    return re.sub(r"^export ", "", re.sub(r"^import [^;]*;\n", "", text, flags=re.MULTILINE), flags=re.MULTILINE)


def _put(whole: str, place: str, part: str) -> str:
    if whole.count(place) != 1:
        raise SystemExit(f"expected {place} once")
    return whole.replace(place, part)


def _escaped(words: str) -> str:
    return re.sub(r'[&<>"]', lambda sign: f"&#{ord(sign[0])};", words)


def _hash(part: str) -> str:
    """Return a source of a content security policy (CSP level 3, section 2.3.1)."""
    return f"'sha256-{b64encode(sha256(part.encode()).digest()).decode()}'"


if __name__ == "__main__":
    generate()
