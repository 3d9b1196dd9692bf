"""Games of the registered rules for the tests: opened like the toy's, played at random, fixed by a seed."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

from referee.games import registry as rules
from referee.games.game import Decision
from referee.log import intent
from referee.log.deck import Deck
from referee.log.engines import installed
from referee.log.errors import RulesError
from referee.log.events import Author, Role
from referee.log.header import build_header
from referee.log.v1 import log_pb2
from referee.wire import registry as codecs
from referee.wire.registry import Codec
from tests.log import games
from tests.log.games import Choose, Played, join_and_reveal, seat_key, start, step


@cache
def header(rules_id: str) -> bytes:
    """That of every game of these rules in the tests."""
    game = rules.get(rules_id)
    return build_header(rules_id, game.version, game.catalogue, codec(rules_id).signed_file(), "tests")


def codec(rules_id: str) -> Codec:
    """Return the codec of the newest version."""
    return codecs.codec(rules_id, rules.get(rules_id).version)


def at_random(seed: int) -> Choose:
    """Any of the options, the same for equal seeds."""
    chooser = random.Random(seed)
    return lambda _, options: chooser.choice(options)


def opened(rules_id: str, *, tables: bytes = b"", series: log_pb2.Series | None = None, **kind: Any) -> Played:
    """Return a game that no player has joined; ``kind`` as in ``games.game_open``; the default of ``tables`` is the
    version's."""
    game = rules.get(rules_id)
    tables = tables or codec(rules_id).encode_components(None)
    opened = games.game_open(header(rules_id), rules=(rules_id, game.version), tables=tables, **kind)
    if series is not None:
        opened.series.CopyFrom(series)
    played = start(opened, header=header(rules_id), engines=installed())
    course = played.record.game
    played.drawn = game.dealer(
        len(opened.seats), course.position.options, course.position.components, Deck(games.seed("drawn"))
    )
    return played


def attempt(played: Played, move: Any) -> bool:
    """Have the seat on turn try the move; if the rules forbid it, it is recorded."""
    record = played.record
    (awaited,) = record.game.position.pending()
    assert isinstance(awaited, Decision)
    data = record.game.position.codec.encode_move(move, record.game.position.components)
    signed = intent.move(record.place, Author(Role.SEAT, awaited.seat), seat_key(awaited.seat), data)
    try:
        record.check(signed)
    except RulesError as error:
        played.keep(record.refuse(signed, error, played.clock()))
        return True
    return False


def play_with_attempts(played: Played, seed: int, every: int = 3, acts: int = 100_000) -> Played:
    """Play, with an attempt in every third turn: the seat first tries a move that was made before.

    The game ends, or stops after ``acts`` acts."""
    join_and_reveal(played)
    choose, course = at_random(seed), played.record.game
    made: list[Any] = []

    def remember(record: Any, options: list[Any]) -> Any:
        made.append(choose(record, options))
        return made[-1]

    for number in range(acts):
        if number % every == 0 and made and isinstance(course.position.pending()[0], Decision):
            state: Any = course.position.state
            wrong = next((move for move in made if state.check(move)), None)
            if wrong is not None:
                assert attempt(played, wrong)
        if not step(played, remember):
            break
    return played


KINDS: dict[str, dict[str, Any]] = {
    "dealt": {},
    "dealt, one scribed": {"scribed": (1,)},
    "declared": {"dealt": False},
    "declared, all scribed": {"dealt": False, "scribed": (0, 1, 2, 3, 4, 5)},
}
