"""Every frozen log, entry by entry: what is printed of it is read back as the same position with the same result."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.games.game import Ending
from referee.log import file
from referee.log.entry import decode_entry
from referee.log.replay import Record
from referee.telling.game_file import GameFile, as_text, told_by
from referee.text.notation import game_text, position_text
from referee.text.notation.position_text import Position
from tests.frozen.report import LOGS
from tests.sizes import Part, in_parts, sample_of

CONTESTED = [log for log in LOGS if log.stem.endswith(("contested", "corrected"))]


def told(log: Path) -> Iterator[GameFile]:
    """Yield the game_file after every entry."""
    with log.open("rb") as stream:
        game_file: GameFile | None = None
        for data in file.entries(stream):
            game_file = game_file or GameFile(Record(decode_entry(data).open))
            game_file.transcript.see(game_file.record.read(data))
            yield game_file


@in_parts(2)
@pytest.mark.parametrize("log", sample_of(LOGS, 6), ids=lambda log: log.stem)
def test_what_is_printed_of_a_log_is_read_back(log: Path, part: Part) -> None:
    """Positions at every entry of those that are contested, and the game wherever it was changed beside its moves."""
    size = sum(1 for _ in told(log))
    every = 1 if log in CONTESTED else 15
    before = None
    for number, game_file in enumerate(told(log)):
        state, game = game_file.record.game.position.state, as_text(game_file)
        result = told_by(game_file).result
        assert result == game_file.record.game.result()
        changed = before != (before := (game.contest, result))
        if number % (every * part.parts) == every * part.number or changed or number > size - 4:
            position = Position(game.setup, state, game.contest)
            text = position_text.write(position)
            read = position_text.read(text)
            assert (read.state.digest(), read.result) == (state.digest(), result)
            assert (read.contest, list(read.contest.out)) == (game.contest, list(game.contest.out))
            assert list(read.state.legal_moves()) == list(state.legal_moves())
            assert position_text.write(read) == text
        if changed or number > size - 4 or number == size // 2:
            reading = game_text.read(game_text.write(game))
            assert reading.game == game
            assert (reading.state.digest(), reading.result) == (state.digest(), result)


def test_the_logs_have_what_matters() -> None:
    """Otherwise the test above would show less than it says."""
    seen: set[tuple[str, Ending | None]] = set()
    for log in CONTESTED:
        for game_file in told(log):
            contest = game_file.record.game.contest()
            seen |= {("out", ending) for ending in contest.out.values()}
            seen |= {("ruled", contest.ruled.ending)} if contest.ruled else set()
            seen |= {("penalty", None)} if contest.points_off else set()
            seen |= {("waits", None)} if told_by(game_file).waits else set()
    assert seen >= {
        ("out", Ending.RESIGNED),
        ("out", Ending.FLAG),
        ("ruled", Ending.ADJUDICATED),
        ("penalty", None),
        ("waits", None),
    }
