"""An event keeps the contract of every game, as far as it is one; and its acts have one encoding each."""

from __future__ import annotations

import random

import pytest

from referee.event.v1 import event_pb2
from referee.games import registry
from referee.games.game import UnknownRules
from referee.harness import check_game
from referee.log.engines import installed
from referee.server.live.opening import rehearse
from referee.tournament import wire
from referee.tournament.rules import TOURNAMENT
from referee.tournament.rules.acts import Act
from referee.tournament.wire import Codec
from referee.v1 import event_pb2 as event_pb
from referee.v1.game_service_pb2 import CreateGameRequest
from referee.wire.strict import MalformedError
from tests.tournament.rules.stages import RULES, SEED, terms


@pytest.mark.parametrize("seed", range(4))
def test_it_keeps_the_contract(seed: int) -> None:
    played = check_game(TOURNAMENT, 1, random.Random(seed), components=terms(), codec=Codec())
    assert played.over.places == (1,)


def test_no_referee_opens_an_event_as_a_game() -> None:
    assert installed().game("event", 1) is TOURNAMENT
    assert "event" not in registry.names()
    with pytest.raises(UnknownRules, match="an event is no game"):
        rehearse(CreateGameRequest(rules_id="event"), installed())


def acts() -> list[Act]:
    """Return acts of every kind: those that break a rule, and those that do not."""
    cases = [case() for _, case in RULES.broken]
    return [act for broken in cases for act in (broken.event, broken.legal) if act is not None]


def test_acts_of_every_kind_have_one_encoding() -> None:
    codec, known = Codec(), acts()
    kinds = {field.name.replace("_", "") for field in event_pb2.Move.DESCRIPTOR.fields}
    assert {type(act).__name__.lower() for act in known} == kinds
    for act in known:
        data = codec.encode_move(act, terms())
        assert codec.decode_move(data, terms()) == act
        with pytest.raises(MalformedError):
            codec.decode_move(data + b"\0", terms())


@pytest.mark.parametrize(
    "message",
    [
        event_pb2.Move(),
        event_pb2.Move(draw=event_pb2.Draw(seed=SEED[:31])),
        event_pb2.Move(enter=event_pb2.Enter(number=1, key=b"k")),
        event_pb2.Move(pair=event_pb2.Pair(round=1)),
        event_pb2.Move(pair=event_pb2.Pair(round=1, tables=[event_pb2.Table()], origin=event_pb2.ORIGIN_SWISS)),
        event_pb2.Move(enter_result=event_pb2.EnterResult(round=1, table=1)),
        event_pb2.Move(close_round=event_pb2.CloseRound(round=1)),
    ],
    ids=["no-act", "a-short-seed", "a-short-key", "no-origin", "an-empty-table", "no-result", "no-hash"],
)
def test_what_is_no_act_is_refused(message: event_pb2.Move) -> None:
    with pytest.raises(MalformedError):
        Codec().decode_move(message.SerializeToString(), terms())


def test_terms_that_cannot_be_are_malformed() -> None:
    data = Codec().encode_components(terms())
    message = event_pb2.Tables.FromString(data)
    message.points[0].places[1] = 6
    with pytest.raises(MalformedError, match="of tables of 4: 5, 6, 2, 1"):
        Codec().decode_components(message.SerializeToString())


def test_every_act_changes_the_digest() -> None:
    """Only legal acts are tested; a copy is independent."""
    for case in [case for _, case in RULES.broken]:
        broken = case()
        if broken.legal is not None:
            before = broken.state.digest()
            after = broken.state.copy()
            after.apply(broken.legal)
            assert after.digest() != before
            assert broken.state.digest() == before


def test_a_position_is_whole_in_the_api() -> None:
    """Every case is read back as the same, also after the act that is legal in it."""
    states = [(broken.state, broken.legal) for _, case in RULES.broken for broken in [case()]]
    seen: set[str] = set()
    for state, legal in states:
        if legal is not None:
            state.apply(legal)
        message = wire.position_message(state)
        again = wire.state_of(event_pb.EventPosition.FromString(message.SerializeToString()))
        assert again.encode() == state.encode()
        assert wire.position_message(again) == message
        seen |= {field.name for field, _ in message.ListFields()}
    assert seen == {field.name for field in event_pb.EventPosition.DESCRIPTOR.fields}
