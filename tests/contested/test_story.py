"""What a story tells of contested games, up to any entry, against what is true there."""

from __future__ import annotations

from io import BytesIO

import pytest

from referee.games import registry
from referee.story.story import Story
from tests.contested.campaign import numbers, sampled
from tests.contested.games import Contested, game
from tests.contested.live import digest_of

AT = 6
"""Entries of each game at which it is read."""


@pytest.mark.slow
@pytest.mark.parametrize("rules_id", registry.names())
def test_stories_are_true(rules_id: str) -> None:
    for number in numbers(rules_id, 12, first=3):
        made = game(rules_id, number)
        data = made.data
        for at in sampled(len(made.entries), AT):
            compare(made, Story.read(BytesIO(data), at), at)
        compare(made, Story.read(BytesIO(data)), len(made.entries) - 1)


def compare(made: Contested, story: Story, at: int) -> None:
    truth, told = made.truth[: at + 1], f"{made}, after entry {at}"
    entries = story.transcript.entries
    assert len(entries) == at + 1, told
    assert digest_of(story.record) == truth[-1].digest, told
    assert tuple(story.transcript.events()) == truth[-1].events, told
    taken = {seq for each in truth for seq in each.takes_back}
    gone = {seq for seq in taken if truth[seq].brings}
    assert {each.seq for each in entries if each.taken_back_by is not None} == gone, told
    broken = {each.seq: tuple(sorted({found.rule_id for found in each.broken})) for each in entries if each.broken}
    assert broken == {seq: each.broken for seq, each in enumerate(truth) if each.broken}, told
