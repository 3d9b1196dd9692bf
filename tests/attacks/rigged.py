"""Games that a dishonest referee plays from the start: from a deck of its own, or past the rules."""

from __future__ import annotations

import struct
from copy import deepcopy
from functools import cache
from typing import Any

from referee.games.game import Dealer, Decision, Over, Stream
from referee.log import intent
from referee.log.deck import Deck, deck_key
from referee.log.events import Author, Role
from tests.attacks.corpus import TABLES
from tests.log import games
from tests.log.games import Played, abort, join_and_reveal, seat_key, step
from tests.log.registered import at_random


class _Stacked:
    """A game that is dealt from another deck than the committed one."""

    def __init__(self, game: Any, deck: Deck) -> None:
        self._game = game
        self._deck = deck

    def __getattr__(self, name: str) -> Any:
        return getattr(self._game, name)

    def dealer(self, seats: int, options: Any, components: Any, stream: Stream) -> Dealer:
        dealer: Dealer = self._game.dealer(seats, options, components, self._deck)
        return dealer


@cache
def stacked(table: str, r: bytes = games.seed("a deck that the referee likes")) -> Played | None:
    """Return a dealt game from the deck of this r; disclosed is the one that was committed to."""
    played = TABLES[table].open()
    record = played.record
    if not record.game.deal.is_dealt:
        return None
    seeds = [games.seed(f"p {seat}") for seat in range(len(record.opened.seats))]
    deck = Deck(deck_key(r, record.game_id, seeds))
    record.game.position.rules = _Stacked(record.game.position.rules, deck)
    return TABLES[table].play(played)


@cache
def misruled(table: str) -> tuple[Played, int] | None:
    """Return a game with a move against the rules in it, ended after that, and the move's entry."""
    played = TABLES[table].open()
    join_and_reveal(played)
    course: Any = played.record.game
    choose = at_random(1)
    seen: list[Any] = []
    for _ in range(40):
        awaited = course.position.pending()[0]
        if isinstance(awaited, Decision):
            for move in seen:
                if course.position.state.check(move) and _can_be_applied(course.position.state, move):
                    data = course.position.codec.encode_move(move, course.position.components)
                    signed = intent.move(
                        played.record.place, Author(Role.SEAT, awaited.seat), seat_key(awaited.seat), data
                    )
                    course.position.violations = lambda event: ()
                    played.admit(signed)
                    return abort(played), len(played.entries) - 3 + (not course.deal.is_dealt)
            seen += list(course.position.state.legal_moves())[:20]
        if not step(played, choose):
            break
    return None


def _can_be_applied(state: Any, move: Any) -> bool:
    """Return True if the engine can apply a move that its ``check`` forbids."""
    after = deepcopy(state)
    try:
        after.apply(move)
        after.digest()
        return not any(isinstance(awaited, Over) for awaited in after.pending())
    except (ArithmeticError, AssertionError, LookupError, ValueError, struct.error):
        return False
