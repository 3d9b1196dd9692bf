"""The rounds of acts in a contested log."""

from __future__ import annotations

import re

from referee.telling.game_file import GameFile
from referee.text.notation.grammar import grammar_of
from referee.text.notation.violations import NotationError


def rounds_of(game_file: GameFile) -> dict[int, list[str]]:
    """Return the lines of scoring rounds, by the entry that brought them."""
    found: dict[int, list[str]] = {}
    seq = -1
    for told in game_file.numbered_moves():
        if (numbered := re.match(r" *(\d+)  ", told)) is not None and int(numbered[1]) == seq + 1:
            seq += 1
        elif not is_act(game_file, told):
            found.setdefault(seq, []).append(told.strip())
    return found


def is_act(game_file: GameFile, words: str) -> bool:
    """Return True if it is a line of notation: an entry may have more than one."""
    try:
        grammar_of(game_file.record.opened.rules_id).parse(words.partition("  [")[0].strip(), "act")
    except NotationError:
        return False
    return True
