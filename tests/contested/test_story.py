"""What a story tells of contested games, up to any entry, against what is true there."""

from __future__ import annotations

from io import BytesIO

import pytest

from referee.games import registry
from referee.story.story import Story
from tests.contested.campaign import games, sampled
from tests.contested.games import Contested
from tests.contested.live import digest_of

AT = 6
"""Entries of each game at which it is read."""


@pytest.mark.slow
@pytest.mark.parametrize("rules_id", registry.names())
def test_stories_are_true(rules_id: str) -> None:
    for made in games(rules_id, 12):
        data = made.data
        for at in sampled(len(made.entries), AT):
            compare(made, Story.read(BytesIO(data), at), at)
        compare(made, Story.read(BytesIO(data)), len(made.entries) - 1)


def compare(made: Contested, story: Story, at: int) -> None:
    truth, told = made.truth[: at + 1], f"{made}, after entry {at}"
    assert len(story.moves) == at + 1, told
    assert digest_of(story.record) == truth[-1].digest, told
    assert tuple(story.events) == truth[-1].events, told
    taken = {seq for each in truth for seq in each.takes_back}
    gone = {seq for seq in taken if truth[seq].brings}
    assert {seq for seq in range(at + 1) if story.is_taken_back(seq)} == gone, told
    broken = {seq: tuple(sorted({each.rule_id for each in found})) for seq, found in story.broken.items()}
    assert broken == {seq: each.broken for seq, each in enumerate(truth) if each.broken}, told
