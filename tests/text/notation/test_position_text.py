"""Positions as text: read as they were printed, and whole."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.text.notation.headers import Setup
from referee.text.notation.position_text import Position, read, write
from referee.text.notation.violations import Kind, NotationError
from tests.sizes import Part, in_parts
from tests.text.notation.setups import PLAIN, SETUPS, name_of, play

_EVERY = 3
"""One position of a game in this many is tested."""


@in_parts(2)
@pytest.mark.parametrize("setup", SETUPS[:7:2] + SETUPS[7:-12:11] + SETUPS[-12::2], ids=name_of)
def test_a_position_is_read_as_it_was_printed(setup: Setup, part: Part) -> None:
    """With the same digest; what is awaited and what may be done are the same, too."""
    seen = set()

    def watch(state: Any) -> None:
        if state.phase in seen and state.turns % (_EVERY * part.parts) != _EVERY * part.number:
            return
        seen.add(state.phase)
        text = write(Position(setup, state))
        found = read(text)
        assert found.setup == setup
        assert found.state.digest() == state.digest()
        assert found.state.pending() == state.pending()
        assert list(found.state.legal_moves()) == list(state.legal_moves())
        assert write(found) == text
        assert max(map(len, text.splitlines()), default=0) < 4000

    play(setup, seed=8, watch=watch)
    assert len(seen) >= 4


TILES, KINGS, DICE = (f'[Game "{setup.rules_id}"]\n[Seats "{setup.seats}"]\n' for setup in PLAIN)


def first(setup: Setup, phase: str) -> str:
    """Return the first position of a game in which the phase is awaited, as the line alone."""
    found: list[str] = []

    def watch(state: Any) -> None:
        if state.phase.name.lower() == phase and not found:
            found.append(write(Position(setup, state)).splitlines()[-1])

    play(setup, seed=2, watch=watch)
    return found[0]


ACTION, CHOICE, TURN = first(PLAIN[0], "action"), first(PLAIN[1], "choose"), first(PLAIN[2], "action")


UNSEEN = next(number for number in range(1, 49) if not re.search(rf"\b{number}\b", CHOICE))


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        (KINGS, Kind.SYNTAX, "line 1, column 1: syntax: header Position is missing"),
        (f'{KINGS}[Position "choose"]', Kind.SYNTAX, "line 3, column 18: syntax: the text ends; expected seat"),
        (f'{KINGS}[Position "chose seat 1"]', Kind.SYNTAX, "column 12: syntax: found 'chose'; expected a phase"),
        (f"{KINGS}{CHOICE}\n0: choose 1", Kind.SYNTAX, "line 4, column 1: syntax: an event after a position"),
        (f'{KINGS}{CHOICE}\n[Result "1 2"]', Kind.ILLEGAL, 'Result "1 2"; expected *, adjudicated, voided'),
        (f"{KINGS}{CHOICE.replace('seat 1', 'seat 2').replace('seat 0', 'seat 2')}", Kind.ILLEGAL, "expected 0 to 1"),
        (f"{KINGS}{CHOICE.replace('removed', 'removed 49')}", Kind.ILLEGAL, "domino 49"),
        (f"{KINGS}{CHOICE.replace('choose', 'place')}", Kind.ILLEGAL, "phase place; expected kings, an offer"),
        (f"{KINGS}{CHOICE.replace('discarded', 'discarded 1 1', 1)}", Kind.ILLEGAL, "domino 1 twice"),
        (f"{KINGS}{CHOICE.replace('discarded', 'placed 3 5,5 6,5 discarded', 1)}", Kind.ILLEGAL, "KDO-14"),
        (f'{KINGS}{CHOICE.rpartition(" | ")[0]}"]', Kind.ILLEGAL, "1 kingdoms; expected 2"),
        (
            f"{KINGS}{CHOICE.replace('removed', f'removed {UNSEEN}')}",
            Kind.ILLEGAL,
            "5 dominoes; expected up to 6",
        ),
        (
            f"{KINGS}{re.sub('order [ 01]+', 'order 0 0 0 1 ', CHOICE)}",
            Kind.ILLEGAL,
            "order 0 0 0 1; expected each",
        ),
        (f"{TILES}{ACTION.replace('laid', 'laid tower-12 0,0', 1)}", Kind.ILLEGAL, "a tile on 0,0"),
        (f"{TILES}{ACTION.replace('laid', 'laid pavilion-8 5,0', 1)}", Kind.ILLEGAL, "ALH-A"),
        (f"{TILES}{ACTION.replace('reserve', 'reserve tower-12 tower-12', 1)}", Kind.ILLEGAL, "tower-12 twice"),
        (f"{TILES}{ACTION.replace('hand', 'hand' + 3 * ' denar-1', 1)}", Kind.ILLEGAL, "denar-1 once more"),
        (f"{TILES}{ACTION.replace('turned 0', 'turned 1 A 0', 1)}", Kind.ILLEGAL, "scoring cards where they cannot"),
        (f"{TILES}{ACTION.replace('action', 'place')}", Kind.ILLEGAL, "phase place; expected cards"),
        (f"{DICE}{TURN.replace('built', 'built 1,1 1,1')}", Kind.ILLEGAL, "building 1,1 twice"),
        (f"{DICE}{TURN.replace('coins 3 of', 'coins 4 of')}", Kind.ILLEGAL, "found 4; expected at most 3"),
        (f"{DICE}{TURN.replace('round 1', 'round 19')}", Kind.ILLEGAL, "found 19; expected at most 18"),
        (f"{DICE}{TURN.replace('action', 'dice')}", Kind.ILLEGAL, "phase dice; expected dice"),
        (f'{DICE}{TURN[:-2]} | award tower round 1 seats 0 0 virtual"]', Kind.ILLEGAL, "award for tower"),
        (
            f'{DICE}{TURN[:-2]} | award tower round 1 seats 0 virtual | award garden round 1 seats 0 virtual"]',
            Kind.ILLEGAL,
            "award for garden in round 1; expected awards by round, then by type",
        ),
    ],
)
def test_what_is_no_position_is_told(text: str, kind: Kind, message: str) -> None:
    with pytest.raises(NotationError) as caught:
        read(text)
    assert (caught.value.kind, message in str(caught.value)) == (kind, True), str(caught.value)


@given(st.data())
def test_an_altered_position_is_refused_or_can_be_played(data: st.DataObject) -> None:
    """Words that are left out, doubled or changed for others of the line: nothing but the one error is raised."""
    head, line = data.draw(st.sampled_from([(TILES, ACTION), (KINGS, CHOICE), (DICE, TURN)]))
    words = line.removeprefix('[Position "').removesuffix('"]').split(" ")
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(words) - 1))
        words[at : at + data.draw(st.integers(0, 2))] = data.draw(st.lists(st.sampled_from(words), max_size=2))
    try:
        found = read(f'{head}[Position "{" ".join(words)}"]')
    except NotationError:
        return
    state = found.state
    assert len(state.pending()) == 1
    for move in list(state.legal_moves())[:3]:
        after = state.copy()
        after.apply(move)
        assert after.pending()
    assert read(write(found)).state.digest() == state.digest()
