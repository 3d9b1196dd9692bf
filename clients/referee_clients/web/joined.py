"""Programs that pages load together, as one file for each group: a page of a game needs 12 requests, and not 30."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from itertools import chain
from typing import Final

_VERIFIER: Final = ("bytes", "ed25519", "wire", "schema", "frames", "note", "deck", "entries", "authors", "audit")
GROUPS: Final = {
    "joined/verifier.mjs": tuple(f"verify/{name}.mjs" for name in _VERIFIER),
    "joined/page.mjs": ("words.mjs", "dom.mjs", "finding.mjs", "gateway.mjs", "grid.mjs", "standing.mjs"),
    "joined/game.mjs": ("positions/reader.mjs", "feed.mjs", "entry_words.mjs", "game.mjs"),
}
"""The members of each file, in an order in which a member needs only those before it. No two of them declare the same
name, and none imports one under another: as they stand, one after another, they are one program. The verifier's run in
workers, too, which have no document.
"""
_GROUP_OF: Final = {member: group for group, members in GROUPS.items() for member in members}
_SPECIFIER: Final = re.compile(r'\b(from "|import "|import\(`)(\.[^"`]+)')
_IMPORT: Final = re.compile(r'^import \{ (.+) \} from "(.+)";$', re.MULTILINE)


def joined(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files that are served, with those of ``GROUPS``, by their paths below ``/static/``.

    To a browser two addresses are two programs. So whatever imports a member imports its group, and at the member's own
    address there is only that it is the group's.
    """
    texts = {path: _absolute(path, data.decode()) for path, data in files.items() if path.endswith(".mjs")}
    groups = {group: _joined(group, {member: texts[member] for member in members}) for group, members in GROUPS.items()}
    members = {member: f'export * from "{_address(member)}";\n' for member in _GROUP_OF}
    return {**files, **{path: text.encode() for path, text in (texts | members | groups).items()}}


def _absolute(path: str, text: str) -> str:
    """Return a program whose imports name addresses, so that it can stand elsewhere."""
    folder = posixpath.dirname(path)
    return _SPECIFIER.sub(lambda found: found[1] + _address(posixpath.normpath(posixpath.join(folder, found[2]))), text)


def _address(path: str) -> str:
    return f"/static/{_GROUP_OF.get(path, path)}"


def _joined(group: str, parts: Mapping[str, str]) -> str:
    """Return one program of several. After the line that names a part, its lines have their numbers."""
    wanted: dict[str, dict[str, None]] = {}
    for names, address in chain.from_iterable(_IMPORT.findall(text) for text in parts.values()):
        wanted.setdefault(address, {}).update(dict.fromkeys(names.split(", ")))
    wanted.pop(f"/static/{group}", None)
    imports = (f'import {{ {", ".join(names)} }} from "{address}";\n' for address, names in wanted.items())
    return "".join(chain(imports, (f"// {path}\n{_IMPORT.sub('', text)}" for path, text in parts.items())))
