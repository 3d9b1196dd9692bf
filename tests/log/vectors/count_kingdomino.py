"""Counts what follows the positions of a counting file of Kingdomino, slowly."""

from __future__ import annotations

from collections.abc import Sequence

from referee.games.kingdomino import domino_set
from referee.log.vectors.counting import Entry
from tests.games.slow_kingdomino import SlowKingdom
from tests.log.vectors.slow_draft import HALVES, SlowDraft, cell

LINES = (
    r"seats [2-4]|relative|mighty-duel|wider-offer|order( [0-3])+|dominoes( \d+)+"
    r"|frame [57]( [0-6],[0-6])?|kingdom( \d+@-?\d,-?\d/-?\d,-?\d)+|hand( \d+)+"
)
"""The lines that an entry may have beside its id, moves and counts."""
DOMINO_SET = domino_set()


def slow_start(entry: Entry) -> SlowDraft:
    """Return the position in which counting starts."""
    draft = SlowDraft(
        int(*entry.words("seats")),
        [int(word) for word in entry.words("order")],
        [int(word) for word in entry.words("dominoes")],
        size=7 if "mighty-duel" in entry.lines else 5,
        fixed="relative" not in entry.lines,
        wider="wider-offer" in entry.lines,
    )
    for said in entry.play:
        assert said in draft.legal(), (entry.id, said)
        draft = draft.after(said)
    return draft


def _confirm(draft: SlowDraft, depth: int) -> int:
    moves = draft.legal()
    return len(moves) if depth == 1 else sum(_confirm(draft.after(move), depth - 1) for move in moves)


# Placing alone


def _laid(entry: Entry) -> list[tuple[int, tuple[int, int], tuple[int, int]]]:
    laid = []
    for word in entry.words("kingdom"):
        number, _, places = word.partition("@")
        left, _, right = places.partition("/")
        laid.append((int(number), cell(left), cell(right)))
    return laid


def _frame(entry: Entry) -> tuple[int, tuple[int, int] | None]:
    size, *castle = entry.words("frame")
    return int(size), cell(castle[0]) if castle else None


def _slow_placings(kingdom: SlowKingdom, hand: Sequence[int], depth: int) -> int:
    total = 0
    for number in hand:
        halves = HALVES[number]
        listed = kingdom.placements(halves)
        if depth == 1:
            total += len(listed)
            continue
        rest = [other for other in hand if other != number]
        for ax, ay, bx, by in listed:
            after = SlowKingdom(kingdom.size, kingdom.castle, dict(kingdom.squares))
            after.lay(halves, (ax, ay), (bx, by))
            total += _slow_placings(after, rest, depth - 1)
    return total


def _hand(entry: Entry) -> list[int]:
    return [int(word) for word in entry.words("hand")]


def confirm(entry: Entry, depth: int) -> int:
    """Return the slow number for an entry of either kind."""
    if "hand" not in entry.lines:
        return _confirm(slow_start(entry), depth)
    kingdom = SlowKingdom(*_frame(entry))
    for number, left, right in _laid(entry):
        assert not kingdom.faults(HALVES[number], left, right), (entry.id, number)
        kingdom.lay(HALVES[number], left, right)
    return _slow_placings(kingdom, _hand(entry), depth)
