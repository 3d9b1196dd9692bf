"""Every transcript is what the rules make of its game today."""

from __future__ import annotations

from itertools import zip_longest

import pytest

from referee.games import registry
from referee.log.vectors.transcripts import TRANSCRIPTS, Transcript, text_of
from tests.transcripts import HERE, path_of

UPDATE = "if the rules or their words were meant to change, run `python -m tests.transcripts` and read the difference"
MOST_BYTES = 150_000


@pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=lambda transcript: transcript.name)
def test_the_game_goes_as_it_went(transcript: Transcript) -> None:
    kept, now = path_of(transcript).read_text(encoding="utf-8").splitlines(), text_of(transcript).splitlines()
    for number, (then, line) in enumerate(zip_longest(kept, now), start=1):
        assert line == then, f"{path_of(transcript).name}, line {number}; {UPDATE}"


def test_every_game_has_some_and_none_is_left_over() -> None:
    assert {transcript.rules_id for transcript in TRANSCRIPTS} == set(registry.names())
    assert {path_of(transcript) for transcript in TRANSCRIPTS} == set(HERE.glob("*.txt"))


def test_they_can_be_read() -> None:
    """Every file is short enough that a reader looks at its changes; each ends with scores."""
    for transcript in TRANSCRIPTS:
        assert path_of(transcript).stat().st_size <= MOST_BYTES, transcript.name
        assert path_of(transcript).read_text(encoding="utf-8").splitlines()[-1].startswith("scores ")
