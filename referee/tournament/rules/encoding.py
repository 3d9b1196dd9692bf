"""The canonical encoding of an event, from which the digest of every entry is made: docs/event-state.md."""

from __future__ import annotations

from referee.tournament.rules.bencode import bencode
from referee.tournament.rules.position import Position


def encode(position: Position) -> bytes:
    """Return bencode of a list. Entrants and rounds are there by their hashes, so that an act costs little."""
    return bencode(
        [
            int(position.phase),
            position.key,
            [int(position.is_cut), int(position.is_abandoned)],
            [position.entrants[number].digest for number in sorted(position.entrants)],
            [[first, second, int(hard)] for (first, second), hard in sorted(position.forbidden.items())],
            [[number, tables] for number, tables in sorted(position.plan.items())],
            [each.digest for each in position.rounds],
        ]
    )
