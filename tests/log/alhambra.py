"""Games of Alhambra for the tests: opened like the toy's, played at random, fixed by a seed."""

from __future__ import annotations

import random
from typing import Any

from referee.games import registry as rules
from referee.games.alhambra import tile_table
from referee.log.deck import Deck
from referee.log.engines import installed
from referee.log.header import build_header
from referee.wire import registry as codecs
from tests.log import games
from tests.log.games import Choose, Played, start

CODEC = codecs.codec("alhambra", 1)
GAME = rules.get("alhambra", 1)
TABLES = tile_table()
HEADER = build_header("alhambra", 1, GAME.catalogue, CODEC.signed_file(), "tests")


def at_random(seed: int) -> Choose:
    """Any of the options, the same for equal seeds."""
    chooser = random.Random(seed)
    return lambda _, options: chooser.choice(options)


def alhambra(**kind: Any) -> Played:
    """A game that nobody has joined yet; ``kind`` as in ``games.game_open``."""
    tables = CODEC.encode_tables(TABLES)
    opened = games.game_open(HEADER, rules=("alhambra", 1), tables=tables, **kind)
    played = start(opened, header=HEADER, engines=installed())
    course = played.record.course
    played.drawn = GAME.dealer(len(opened.seats), course.options, course.tables, Deck(games.seed("drawn")))
    return played
