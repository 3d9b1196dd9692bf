"""Positions as the browser should see them, described from the referee's states and not from their bytes."""

from __future__ import annotations

from collections import Counter
from typing import Any

from referee.games.alhambra.layout import cell_of
from referee.games.alhambra.money import KINDS
from referee.games.alhambra.position import FREE


def described(rules_id: str, state: Any) -> dict[str, Any]:
    """Return the position as JSON has it."""
    return {"alhambra": _alhambra, "kingdomino": _kingdomino, "rollwrite": _rollwrite}[rules_id](state)


def _members(bits: int) -> list[int]:
    return [number for number in range(bits.bit_length()) if bits >> number & 1]


def _alhambra(state: Any) -> dict[str, Any]:
    row = Counter(state.row)
    return {
        "phase": state.phase.name,
        "seat": state.seat,
        "start": state.start,
        "scorings": state.scorings,
        "toScore": sorted(state.to_score),
        "turns": state.turns,
        "stack": state.stack,
        "turned": state.turned,
        "aAt": None if state.a_at < 0 else state.a_at,
        "bAt": None if state.b_at < 0 else state.b_at,
        "market": [None if tile == FREE else tile for tile in state.market],
        "row": [row[kind] for kind in range(KINDS)],
        "deck": list(state.deck),
        "discards": list(state.discard),
        "bag": _members(state.bag),
        "bought": _members(state.bought),
        "neutral": _members(state.neutral),
        "seats": [
            {
                "hand": list(state.hands[seat]),
                "score": state.scores[seat],
                "reserve": _members(state.reserves[seat]),
                "won": _members(state.won[seat]),
                "cells": [
                    {"x": x, "y": y, "tile": tile}
                    for (x, y), tile in sorted((cell_of(at), tile) for at, tile in state.layouts[seat].tiles.items())
                ],
            }
            for seat in range(state.seats)
        ],
    }


def _kingdomino(state: Any) -> dict[str, Any]:
    def cell(at: tuple[int, int]) -> dict[str, int]:
        return {"x": at[0], "y": at[1]}

    def castle(at: tuple[int, int] | None) -> dict[str, int] | None:
        return None if at is None else {"column": at[0], "row": at[1]}

    return {
        "phase": state.phase.name,
        "seat": state.seat,
        "size": state.options.size(),
        "lines": state.lines,
        "turns": state.turns,
        "linesInAll": state.lines_in_all,
        "unseen": _members(state.unseen),
        "order": list(state.order),
        "kings": [{"domino": domino, "seat": seat} for domino, seat in state.kings],
        "offer": [{"domino": domino, "seat": state.claims.get(domino)} for domino in state.offer],
        "removed": list(state.removed),
        "seats": [
            {
                "castle": castle(kingdom.castle),
                "placed": [
                    {"domino": number, "left": cell(left), "right": cell(right)}
                    for number, left, right in sorted(kingdom.dominoes)
                ],
                "discarded": list(discarded),
            }
            for kingdom, discarded in zip(state.kingdoms, state.discarded, strict=True)
        ],
    }


def _rollwrite(state: Any) -> dict[str, Any]:
    return {
        "phase": state.phase.name,
        "seat": state.seat,
        "start": state.start,
        "round": state.round,
        "turns": state.turns,
        "changed": state.changed,
        "first": None if state.first is None else dict(zip(("blue", "yellow"), state.first, strict=True)),
        "toRoll": state.to_roll,
        "player": state.player,
        "seats": [
            {
                "built": _members(state.built[seat]),
                "coins": state.coins[seat],
                "circled": state.circled[seat],
                "pairs": len(state.blue[seat]),
                "blue": list(state.blue[seat]),
                "yellow": list(state.yellow[seat]),
            }
            for seat in range(state.seats)
        ],
        "virtual": [list(counts) for counts in state.virtual],
        "awards": [
            {
                "type": award.type,
                "round": award.round,
                "seats": list(award.seats),
                "virtual": list(award.virtual),
            }
            for award in state.awards
        ],
    }
