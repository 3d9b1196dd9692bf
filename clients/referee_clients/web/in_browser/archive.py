"""The part of this program that audits, as an archive for a browser's Python. The same program gives the same bytes."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Final
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import google.protobuf

import referee

_HERE: Final = Path(__file__).parent
_CLIENTS: Final = _HERE.parents[1]
_OF_SERVERS: Final = ("archive", "pyodide")
_REFEREE: Final = Path(referee.__file__).parent
_PROTOBUF: Final = Path(google.protobuf.__file__).parent
_PARTS: Final = (
    "__init__.py",
    "alhambra",
    "console.py",
    "core.py",
    "dealer.py",
    "event",
    "games",
    "kingdomino",
    "log",
    "rollwrite",
    "text/__init__.py",
    "text/notation",
    "text/report",
    "text/words/__init__.py",
    "text/words/catalogue.py",
    "text/words/en/notation.json",
    "text/words/en/report.json",
    "tournament",
    "v1",
    "wire",
)
"""The parts of the package ``referee`` that an audit needs; the tests of this archive show that they are enough."""
_SUFFIXES: Final = (".py", ".binpb", ".lark")
_NOT: Final = ("__pycache__", "compiler", "public", "vectors")
_NAME: Final = "tile-referee"
_THEN: Final = (1980, 1, 1, 0, 0, 0)
"""The first time that an archive can state: whatever the clock says, the bytes are the same."""


def archive() -> bytes:
    """Return the archive, to be unpacked where Python looks for modules."""
    packed = BytesIO()
    with ZipFile(packed, "w", ZIP_DEFLATED, compresslevel=9) as archived:
        metadata = f"Metadata-Version: 2.1\nName: {_NAME}\nVersion: {referee.__version__}\n"
        texts = {name: path.read_bytes() for name, path in _files()}
        # The packages around it are those of clients, which need a network.
        texts |= {f"{_CLIENTS.name}/{path}__init__.py": b"" for path in ("", "web/")}
        # By which the program knows its version.
        texts[f"{_NAME.replace('-', '_')}-{referee.__version__}.dist-info/METADATA"] = metadata.encode()
        for name, data in sorted(texts.items()):
            info = ZipInfo(name, _THEN)
            info.compress_type = ZIP_DEFLATED
            archived.writestr(info, data)
    return packed.getvalue()


def _files() -> Iterator[tuple[str, Path]]:
    for path in _HERE.glob("*.py"):
        if path.stem not in _OF_SERVERS:
            yield f"{_CLIENTS.name}/{path.relative_to(_CLIENTS).as_posix()}", path
    # The pure half of protobuf: the fast one is compiled, and for another machine.
    for folder, below in ((_HERE / "nacl", "nacl"), (_PROTOBUF, "google/protobuf")):
        yield from ((f"{below}/{path.relative_to(folder).as_posix()}", path) for path in _sources(folder))
    for part in _PARTS:
        for path in _sources(_REFEREE / part):
            yield f"referee/{path.relative_to(_REFEREE).as_posix()}", path


def _sources(place: Path) -> Iterator[Path]:
    if place.is_file():
        yield place
        return
    for path in place.rglob("*"):
        parts = path.relative_to(place).parts
        if path.suffix in _SUFFIXES and not path.name.endswith("_grpc.py") and not {*parts} & {*_NOT}:
            yield path
