"""Positions to ask a bot in: from random games, from the transcripts, and rare ones. The module knows no bot."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, combinations
from typing import Any, Final

from referee.games import registry
from referee.games.alhambra.layout import index_of
from referee.games.alhambra.money import CURRENCY, total
from referee.games.alhambra.moves import Buy, GiveTile, PlaceTile, ReserveTile, TakeMoney
from referee.games.alhambra.tiles import tiles_of
from referee.games.game import Chance, Decision, Forced, ForcedPass, Over
from referee.log.vectors.transcripts import TRANSCRIPTS, steps
from referee_clients.match import SeededStream

FULL_LIST: Final = 5000
"""The referee sends at most this number of moves with a turn."""


@dataclass(frozen=True, slots=True)
class Position:
    """A decision of a seat."""

    state: Any
    """The game's own: a bot gets an observation of it."""
    seat: int
    moves: tuple[Any, ...]
    where: str
    """The place, for a person who looks for it, such as ``game 3, move 40``."""
    events: Sequence[Any] = ()
    """All events before it; empty if no game is known that leads to it."""


def random_game(
    rules_id: str, seats: int, seed: int, chosen: Callable[[Position], Any] = lambda _: None
) -> Iterator[Position]:
    """Yield every decision of a game, which continues from each as ``chosen`` says, or at random where that is None.

    The state is the game's own, and so are the events: copy them to keep them.
    """
    rng = random.Random(f"{rules_id}/{seed}")
    game = registry.get(rules_id)
    state = game.new(seats, None, None)
    dealer = game.dealer(seats, None, None, SeededStream(seed))
    number, events = 0, list[Any]()
    while True:
        match state.pending()[0]:
            case Over():
                return
            case Chance():
                events.append(dealer.outcome(state))
            case Forced(seat):
                events.append(ForcedPass(seat))
            case Decision(seat):
                moves = tuple(state.legal_moves())
                position = Position(state, seat, moves, f"random game {seed}, decision {number}", events)
                yield position
                move = chosen(position)
                events.append(rng.choice(moves) if move is None else move)
                number += 1
        state.apply(events[-1])


def of_transcripts(rules_id: str) -> Iterator[Position]:
    """Yield every decision of the games that are written down, with all their options and numbers of seats."""
    for transcript in TRANSCRIPTS:
        if transcript.rules_id == rules_id:
            for number, step in enumerate(steps(transcript)):
                if isinstance(step.awaited, Decision):
                    where = f"transcript {transcript.name}, event {number}"
                    yield Position(step.state, step.awaited.seat, tuple(step.moves), where)


def rare(rules_id: str) -> Mapping[str, Callable[[], Sequence[Position]]]:
    """Return what gives the positions of each kind that the game has, by the name of the check."""
    return _RARE[rules_id]


def reached(rules_id: str) -> Mapping[str, Callable[[], Position]]:
    """Return the source of a position of each kind that a game is known to reach, with the events before it."""
    found: dict[str, Callable[[], Position]] = {
        check: partial(_first, positions) for check, positions in _RARE[rules_id].items()
    }
    if rules_id == "alhambra":
        del found["forced-pass"]  # all 108 money cards in hands, and nothing for sale that they pay for
        found |= {"many-moves": _collected, "full-list": lambda: _again(_collected())}
    return found


def _again(position: Position) -> Position:
    """Return the same with a list that is full, as its moves come again and again."""
    moves = position.moves * (FULL_LIST // len(position.moves) + 1)
    return replace(position, moves=moves[:FULL_LIST])


def _first(positions: Callable[[], Sequence[Position]]) -> Position:
    return positions()[0]


def _found(
    rules_id: str,
    seeds: range,
    fits: Callable[[tuple[Any, ...]], bool],
    most: int = 4,
    chosen: Callable[[Position], Any] = lambda _: None,
) -> list[Position]:
    """Return the first few decisions of random games of two seats whose legal moves fit."""
    found: list[Position] = []
    for seed in seeds:
        for position in random_game(rules_id, 2, seed, chosen):
            if fits(position.moves):
                kept = replace(position, state=position.state.copy(), events=tuple(position.events))
                found.append(kept)
                if len(found) == most:
                    return found
    return found


def _kinds(moves: Sequence[Any]) -> set[str]:
    return {type(move).__name__ for move in moves}


def _with(kind: str) -> Callable[[tuple[Any, ...]], bool]:
    return lambda moves: kind in _kinds(moves)


def _only(kind: str) -> Callable[[tuple[Any, ...]], bool]:
    return lambda moves: _kinds(moves) == {kind}


def _alone(moves: tuple[Any, ...]) -> bool:
    return len(moves) == 1


# --- Alhambra: positions that hardly any game comes to, made of one that each begins with ---


def _begun() -> Any:
    return next(random_game("alhambra", 2, 1)).state.copy()


def _position(state: Any, where: str) -> Position:
    return Position(state, state.seat, tuple(state.legal_moves()), where)


_LAID: Final = 8
"""Tiles in a line, so that as many places as possible are free."""


def _crowded() -> Any:
    """Return one with more moves than any that we know: all money in one hand, and most tiles in one reserve."""
    state = _begun()
    seat = state.seat
    for card, number in enumerate(state.deck):
        state.hands[seat][card] += number
        state.deck[card] = 0
    plain = sorted(tiles_of(state.bag), key=lambda tile: state.tile_set.walls[tile].bit_count())
    for tile in plain[:_LAID]:
        cell = max(
            state.layouts[seat].placeable_cells(state.tile_set.walls[tile]),
            key=lambda cell: (abs(cell[0]) + abs(cell[1]), cell),
        )
        state.layouts[seat] = state.layouts[seat].placed(tile, index_of(cell))
        state.bag &= ~(1 << tile)
    state.reserves[seat], state.bag = state.reserves[seat] | state.bag, 0
    return state


def _many() -> list[Position]:
    return [_position(_crowded(), "an Alhambra with all money and most tiles at one seat")]


def _full() -> list[Position]:
    """Return the same with payments of more cards than it takes: they are legal, and not listed."""
    state = _crowded()
    moves = list(state.legal_moves())
    listed = set(moves)
    hand = [card for card, number in enumerate(state.hands[state.seat]) for _ in range(number)]
    for size in range(1, 8):
        for buy in dict.fromkeys(move.slot for move in listed if isinstance(move, Buy)):
            currency = state.options.slot_currencies[buy]
            for payment in dict.fromkeys(combinations([card for card in hand if CURRENCY[card] == currency], size)):
                move = Buy(buy, payment)
                if move not in listed and not state.check(move):
                    moves.append(move)
                    if len(moves) == FULL_LIST:
                        return [Position(state, state.seat, tuple(moves), "the same, with payments to spare")]
    raise AssertionError(len(moves))


_COLLECTED_SEED: Final = 2
_COLLECTED: Final = 150
"""Moves of a seat that has collected money and tiles for a whole game; a random game has half of them at most."""


def _collected() -> Position:
    """Return a position that a game reaches: a seat has taken all money that it could, and keeps its tiles in the
    reserve."""
    seeds = range(_COLLECTED_SEED, _COLLECTED_SEED + 1)
    return _found("alhambra", seeds, lambda moves: len(moves) >= _COLLECTED, 1, _collects)[0]


def _collects(position: Position) -> Any:
    """Return what seat 0 does to have many moves, and the other one so as to leave it the money."""
    state, moves = position.state, position.moves
    takings = [move for move in moves if isinstance(move, TakeMoney)]
    by_size = sorted(takings, key=lambda move: (len(move.cards), total(move.cards)))
    if position.seat:
        gifts = (move for move in moves if isinstance(move, GiveTile))
        return by_size[0] if by_size else next(gifts, None)
    exact = (
        move
        for move in moves
        if isinstance(move, Buy) and total(move.payment) == state.tile_set.costs[state.market[move.slot]]
    )
    places = [move for move in moves if isinstance(move, PlaceTile)]
    if places and len(state.layouts[0].tiles) < _LAID:
        return max(places, key=lambda move: abs(move.cell[0]) + abs(move.cell[1]))
    reserved = (move for move in moves if isinstance(move, ReserveTile))
    return next(chain(exact, reserved, reversed(by_size)), None)


def _before_a_pass() -> list[Position]:
    """Return one in which the last money card is taken, and then the other seat can do nothing at all."""
    state = _begun()
    last, other = state.row[0], 1 - state.seat
    for card in range(len(state.deck)):
        state.deck[card] = state.discard[card] = state.hands[other][card] = state.hands[state.seat][card] = 0
    state.row = [last]
    return [_position(state, "the last money card")]


_RARE: Final[Mapping[str, Mapping[str, Callable[[], Sequence[Position]]]]] = {
    "alhambra": {
        "one-move": lambda: _found("alhambra", range(20), _alone, 1),
        "give-tile": lambda: _found("alhambra", range(3), _with("GiveTile")),
        "rebuilding": lambda: _found("alhambra", range(3), _with("RebuildSwap")),
        "forced-pass": _before_a_pass,
        "many-moves": _many,
        "full-list": _full,
    },
    "kingdomino": {
        "one-move": lambda: _found("kingdomino", range(3), _alone),
        "castle": lambda: _found("kingdomino", range(2), _only("PlaceCastle")),
        "discard-only": lambda: _found("kingdomino", range(3), _only("DiscardDomino")),
        "many-moves": lambda: _found("kingdomino", range(20), lambda moves: len(moves) >= 22),
    },
    "rollwrite": {
        "one-move": lambda: _found("rollwrite", range(8), _alone),
        "coins-only": lambda: _found("rollwrite", range(3), _only("GetCoins")),
        "keep-pair": lambda: _found("rollwrite", range(8), _with("KeepPair")),
        "build-second": lambda: _found("rollwrite", range(30), _with("BuildSecond")),
        "many-moves": lambda: _found("rollwrite", range(40), lambda moves: len(moves) >= 150, 1),
    },
}
