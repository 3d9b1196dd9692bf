"""A game_file's description of contested games, up to any entry, against their truth."""

from __future__ import annotations

from io import BytesIO

import pytest

from referee.games import registry
from referee.telling.game_file import GameFile
from referee.text.notation.registry import notation
from tests.contested.campaign import IN_THIRDS, games_of, sampled
from tests.contested.games import Contested
from tests.contested.live import digest_of
from tests.sizes import Part
from tests.telling.contested import rounds_of

AT = 6
"""Entries of each game at which it is read."""


@IN_THIRDS
@pytest.mark.parametrize("rules_id", registry.names())
def test_stories_are_true(rules_id: str, part: Part) -> None:
    for made in games_of(part, rules_id):
        data = made.data
        for at in sampled(len(made.entries), AT):
            compare(made, GameFile.read(BytesIO(data), at), at)
        whole, last = GameFile.read(BytesIO(data)), len(made.entries) - 1
        compare(made, whole, last)
        assert rounds_of(whole) == true_rounds(made), str(made)


def true_rounds(made: Contested) -> dict[int, list[str]]:
    """Under each entry that counts, what its event scored, as the boards were then."""
    state, found, held = made.position(0), dict[int, list[str]](), 0
    for seq, truth in enumerate(made.truth):
        if truth.brings and truth.stands:
            state.apply(truth.events[-1])
            if lines := notation(made.rules_id).rounds(state, held):
                found[seq] = lines
                held += len(lines)
    return found


def compare(made: Contested, game_file: GameFile, at: int) -> None:
    truth, told = made.truth[: at + 1], f"{made}, after entry {at}"
    entries = game_file.transcript.entries
    assert len(entries) == at + 1, told
    assert digest_of(game_file.record) == truth[-1].digest, told
    assert tuple(game_file.transcript.events()) == truth[-1].events, told
    taken = {seq for each in truth for seq in each.takes_back}
    gone = {seq for seq in taken if truth[seq].brings}
    assert {each.seq for each in entries if each.taken_back_by is not None} == gone, told
    broken = {each.seq: tuple(sorted({found.rule_id for found in each.broken})) for each in entries if each.broken}
    assert broken == {seq: each.broken for seq, each in enumerate(truth) if each.broken}, told
