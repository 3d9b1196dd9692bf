"""Which words a page has to hold for its programs: those that its modules name."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import Final

from referee.text.words.catalogue import Text

_IMPORT: Final = re.compile(r"""(?:from|import) ?\(?["`](\.[^"`]+\.mjs)["`]""")
_KEY: Final = re.compile(r'"([a-z]+(?:\.\w+)*)"')
_PUT_TOGETHER: Final = re.compile(r"`((?:\w+\.)+)(\w*)\$\{")
_AUDITING: Final = "audit_rules"
_BESIDE: Final = {"verify": (_AUDITING,)}
"""Programs that a page has besides the one of its name."""
SAID_BY_AUDITS: Final[tuple[str, ...]] = ("log.chance", "chance.", "standing.", "certificates")
"""With what keys begin that come with the report of this program's own auditor."""
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
        for found in _IMPORT.findall(files[path].decode()):
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
