"""What any game must pass: ``check_game`` plays at random and asks everything at every step that needs no rule book."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from referee.games.game import Chance, Decision, Forced, ForcedPass, Game, Over, State
from referee.wire.registry import codec

Choose = Callable[[random.Random, State, Sequence[Any]], Any]
"""Picks one of the legal moves."""


class Shuffler:
    """A stream of chance that needs no commitment."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def permutation(self, label: str, n: int) -> list[int]:
        return self.rng.sample(range(n), n)

    def uniform(self, label: str, n: int) -> int:
        return self.rng.randrange(n)


def evenly(rng: random.Random, state: State, moves: Sequence[Any]) -> Any:
    return rng.choice(moves)


def by_kind(rng: random.Random, state: State, moves: Sequence[Any]) -> Any:
    """First a kind of move, then a move of the kind: rare kinds come as often as those with many moves."""
    kind = rng.choice(sorted({type(move).__name__ for move in moves}))
    return rng.choice([move for move in moves if type(move).__name__ == kind])


@dataclass
class Played:
    """A whole game: its events, as values and as the bytes of the wire, and the digest after each."""

    state: State
    events: list[Any] = field(default_factory=list)
    wire: list[bytes] = field(default_factory=list)
    digests: list[bytes] = field(default_factory=list)

    @property
    def over(self) -> Over:
        (awaited,) = self.state.pending()
        assert isinstance(awaited, Over)
        return awaited


def check_game(
    game: Game,
    seats: int,
    rng: random.Random,
    *,
    options: Any = None,
    choose: Choose = by_kind,
    watch: Callable[[State], None] = lambda state: None,
    most_events: int = 10_000,
) -> Played:
    """Plays one game to its end. ``watch`` is called with the state before every event, and at the end."""
    wire = codec(game.rules_id, game.version)
    tables = wire.decode_tables(wire.encode_tables(None))
    if options is not None:
        options = wire.decode_options(wire.encode_options(options))
    state = game.new(seats, options, tables)
    dealer = game.dealer(seats, options, tables, Shuffler(rng))
    played = Played(state)
    while not isinstance(state.pending()[0], Over):
        assert len(played.events) < most_events, "the game does not end"
        watch(state)
        event = _next_event(game, state, dealer, rng, choose)
        played.wire.append(_round_trip(wire, state, event, tables))
        _step(state, event)
        played.events.append(event)
        played.digests.append(state.digest())
    watch(state)
    over = played.over
    assert len(over.scores) == len(over.places) == seats
    assert list(state.legal_moves()) == [] == list(state.chance_outcomes())
    _replay(game.new(seats, options, tables), wire, tables, played)
    return played


def _next_event(game: Game, state: State, dealer: Any, rng: random.Random, choose: Choose) -> Any:
    """An event that is awaited, after a look at everything that is listed."""
    (awaited,) = state.pending()
    before = state.digest()
    moves = list(state.legal_moves())
    assert len(set(moves)) == len(moves), "a move is listed twice"
    assert [move for move in moves if state.check(move)] == [], "a move is listed and refused"
    match awaited:
        case Decision(seat, kinds):
            assert seat >= 0
            assert kinds
            assert moves, "a seat has to decide and has no move"
            assert state.check(ForcedPass(seat)), "a pass is possible beside moves"
            event = choose(rng, state, moves)
        case Forced(seat):
            assert not moves
            event = ForcedPass(seat)
        case Chance():
            assert not moves
            event = dealer.outcome(state)
        case _:
            raise AssertionError(awaited)
    assert state.digest() == before, "looking changed the state"
    return event


def _round_trip(wire: Any, state: State, event: Any, tables: Any) -> bytes:
    """The event's bytes, which are decoded to the same event and encoded to the same bytes."""
    match state.pending():
        case (Forced(),):
            return b""
        case (Chance(),):
            encode, decode = wire.encode_outcome, wire.decode_outcome
        case _:
            encode, decode = wire.encode_move, wire.decode_move
    data: bytes = encode(event, tables)
    assert decode(data, tables) == event
    assert encode(decode(data, tables), tables) == data
    return data


def _step(state: State, event: Any) -> None:
    """Applies the event; on the way the copy is shown to be equal and independent."""
    before = state.digest()
    twin = state.copy()
    assert twin.digest() == before
    assert twin.encode() == state.encode()
    assert twin.pending() == state.pending()
    assert state.check(event) == ()
    assert state.digest() == before, "check changed the state"
    twin.apply(event)
    assert state.digest() == before, "the copy is not independent"
    state.apply(event)
    assert state.digest() == twin.digest()
    assert state.digest() != before, "nothing happened"


def _replay(state: State, wire: Any, tables: Any, played: Played) -> None:
    """From the bytes alone to the same digests."""
    for event, data, digest in zip(played.events, played.wire, played.digests, strict=True):
        (awaited,) = state.pending()
        match awaited:
            case Chance():
                read = wire.decode_outcome(data, tables)
            case Forced(seat):
                read = ForcedPass(seat)
            case _:
                read = wire.decode_move(data, tables)
        assert read == event
        assert state.check(read) == ()
        state.apply(read)
        assert state.digest() == digest
