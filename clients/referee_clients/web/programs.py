"""The programs of pages: their groups, each served as one file, and the words that their modules name."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Final

from referee.text.words.catalogue import Text

_VERIFIER: Final = (
    "bytes",
    "ed25519",
    "wire",
    "schema",
    "frames",
    "note",
    "deck",
    "entries",
    "authors",
    "audit",
)
GROUPS: Final = {
    "joined/verifier.mjs": (*(f"verify/{name}.mjs" for name in _VERIFIER), "players.mjs"),
    "joined/page.mjs": ("words.mjs", "dom.mjs", "finding.mjs", "gateway.mjs", "grid.mjs", "standing.mjs"),
    "joined/game.mjs": ("positions/reader.mjs", "feed.mjs", "entry_words.mjs", "names.mjs", "game.mjs"),
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


# --- the words of programs -------------------------------------------------------------------------------------------


_LOADED: Final = re.compile(r"""(?:from|import) ?\(?["`](\.[^"`]+\.mjs)["`]""")
_KEY: Final = re.compile(r'"([a-z]+(?:\.\w+)*)"')
_PUT_TOGETHER: Final = re.compile(r"`((?:\w+\.)+)(\w*)\$\{")
_AUDITING: Final = "audit_rules"
_BESIDE: Final = {"verify": (_AUDITING,)}
"""Programs that a page has besides the one of its name."""
SAID_BY_AUDITS: Final[tuple[str, ...]] = ("log.chance", "chance.", "standing.", "certificates")
"""The beginnings of keys that come with the report of this program's own auditor."""
_PLACE: Final = re.compile(r"\\\$\\\{[^}]*\\\}")


def modules(first: str, files: Mapping[str, bytes]) -> Iterator[str]:
    """Yield the module and all that it can load, by path; of ``./games/${name}.mjs`` each."""
    seen, left = set[str](), [first] if first in files else []
    while left:
        path = left.pop()
        if path in seen:
            continue
        seen.add(path)
        yield path
        for found in _LOADED.findall(files[path].decode()):
            target = posixpath.normpath(posixpath.join(posixpath.dirname(path), found))
            wanted = re.compile(_PLACE.sub("[a-z]+", re.escape(target)))
            left += [each for each in files if wanted.fullmatch(each)]


def words_of(page: str, words: Mapping[str, Text], files: Mapping[str, bytes]) -> dict[str, Text]:
    """Return those words that the page's program can say; a page without a program says none."""
    programs = (page, *_BESIDE.get(page, ()))
    keys = set[str]()
    starts = SAID_BY_AUDITS if _AUDITING in programs else ()
    for path in dict.fromkeys(path for program in programs for path in modules(f"{program}.mjs", files)):
        text = files[path].decode()
        keys.update(_KEY.findall(text))
        starts += tuple("".join(found) for found in _PUT_TOGETHER.findall(text))
    return {key: text for key, text in words.items() if key in keys or key.startswith(starts)}
