"""Every follower of a game has the position that its entries have: after every one of them, whatever it was."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import BytesIO
from itertools import islice
from pathlib import Path

import pytest

from referee.games import registry
from referee.games.game import State
from referee.log import file
from referee.log.engines import installed
from referee.log.entry import decode_entry
from referee.log.events import change_of
from referee.log.replay import Record
from referee.log.v1 import log_pb2
from referee.server.live.prover import Follower
from referee.server.store.store import Row
from referee.telling.game_file import GameFile, Transcript, as_text, told_by
from referee.telling.recorder import rehearse
from referee.text.notation import game_text, position_text
from referee.text.notation.position_text import Position
from referee_clients.sdk.ledger import Ledger
from referee_clients.terminal.desk.boards import History
from tests.contested.campaign import IN_THIRDS, games_of, numbers
from tests.contested.games import Contested, kept
from tests.frozen.report import LOGS
from tests.log.games import SIGNER
from tests.sizes import Part, in_parts, sample_of

EACH = pytest.mark.parametrize("rules_id", registry.names())


def check(entries: Sequence[bytes]) -> None:
    """Check every visitor, after every entry."""
    opened = decode_entry(entries[0]).open
    record, again = Record(opened), Record(opened)
    transcript, history = Transcript(record.opened), History()
    ledger = Ledger(record.game_id.hex(), SIGNER.verifier)
    provable = installed().provable(record.opened.rules_id, record.opened.rules_version)
    follower = Follower(installed(), opened, 0) if provable is not None else None
    before: State | None = None
    for seq, data in enumerate(entries):
        digest = decode_entry(data).state_digest
        happened = record.read(data)
        assert happened.after.digest() == digest
        assert before is None or happened.before is before
        before = happened.after
        change = change_of(happened.event)
        if change is not None:
            state = happened.before.copy()
            state.apply(change)
            assert state.digest() == digest
        elif not happened.taken_back:
            assert happened.before.digest() == digest
        told = transcript.see(happened)
        assert (told.seq, told.change) == (seq, change)
        assert again.reread(data).after.digest() == digest
        ledger.add([data], SIGNER.sign(record.game_id, record.size, record.root()))
        assert ledger.happened[-1].after.digest() == digest
        if follower is not None:
            follower.read(Row(seq, data))
            assert (follower.size, follower.leaf) == (record.size, record.head)
            assert follower.digest == digest
    history.read(list(entries))
    assert [(told.seq, told.taken_back_by) for told in history.entries] == [
        (told.seq, told.taken_back_by) for told in transcript.entries
    ]
    assert replayed(record, transcript).digest() == decode_entry(entries[-1]).state_digest


def replayed(record: Record, transcript: Transcript) -> State:
    """Return the state after the events that count, from the beginning."""
    position = record.game.position
    state = position.rules.new(position.seats, position.options, position.components)
    for event in transcript.events():
        state.apply(event)
    return state


@pytest.mark.parametrize("log", sample_of(LOGS, 18), ids=lambda log: log.stem)
def test_frozen_logs(log: Path) -> None:
    check(list(file.entries(BytesIO(log.read_bytes()))))


@IN_THIRDS
@EACH
def test_contested_games(rules_id: str, part: Part) -> None:
    for made in islice(games_of(part, rules_id), 3):
        check(made.entries)


@in_parts(12)
@EACH
def test_texts_are_read_back(rules_id: str, part: Part) -> None:
    """Positions, and games as text, after entries of contested games: the same position and the same result."""
    halves = [(number, half) for half in range(2) for number in numbers(rules_id)]
    for number, half in part.of(halves):
        made = kept(rules_id, number)
        for at, game_file in stories(made):
            if at % 2 != half:
                continue
            told, truth = f"{made}, after entry {at}", made.truth[at]
            game, state = as_text(game_file), game_file.record.game.position.state
            assert (game_file.record.game.result(), told_by(game_file).result) == (truth.result, truth.result), told
            position = position_text.read(position_text.write(Position(game.setup, state, game.contest)))
            assert (position.state.digest(), position.result) == (truth.digest, truth.result), told
            if at % 14 < 2 or truth.result is not None:
                reading = game_text.read(game_text.write(game))
                assert (reading.state.digest(), reading.result) == (truth.digest, truth.result), told
                assert reading.game.events == truth.events, told
                assert rehearse(reading.game) is game_file.record.game.result_waits, told


def stories(made: Contested) -> Iterator[tuple[int, GameFile]]:
    game_file = GameFile(Record(made.opened.SerializeToString(deterministic=True)))
    for at, data in enumerate(made.entries):
        game_file.transcript.see(game_file.record.read(data))
        yield at, game_file


def test_every_kind_of_event_is_read() -> None:
    """A kind that the schema has and the reader does not would only be met in somebody's game."""
    names = {field.name for field in log_pb2.Entry.DESCRIPTOR.oneofs_by_name["event"].fields}
    acts = {field.name for field in log_pb2.Intent.DESCRIPTOR.oneofs_by_name["act"].fields}
    rulings = {field.name for field in log_pb2.Rule.DESCRIPTOR.oneofs_by_name["ruling"].fields}
    from referee.log import codec

    assert names == {*codec._EVENTS, "signed", "refused"}
    assert acts == {*codec._ACTS, "move", "change_key"}
    assert rulings == {*codec._RULINGS, "accept"}
