"""Ways to set up each game: seats, options and components of one's own, all that changes what is written."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

from referee.games import alhambra, kingdomino, rollwrite
from referee.games.alhambra.options import EndRule, LoopRule
from referee.games.game import Chance, Forced, ForcedPass, Over, SetupError
from referee.games.kingdomino.dominoes import DOMINOES, Domino
from referee.games.kingdomino.options import Central, Draw, Frame
from referee.games.rollwrite.options import Solo
from referee.harness import Played, Shuffler, by_kind
from referee.text.notation.game_text import GameText
from referee.text.notation.headers import Setup
from tests.games.options import TURNED


def _alhambra() -> Iterator[Setup]:
    for seats in range(2, 7):
        yield Setup("alhambra", 2, seats, alhambra.Options())
    yield Setup(
        "alhambra", 1, 3, alhambra.Options((2, 0, 1), 40, LoopRule.ONE_LESS, EndRule.BAG_EMPTY, TURNED), event=2**64 - 1
    )
    yield Setup("alhambra", 2, 2, alhambra.Options(max_turns=9), round=0, table=7)


def _kingdomino() -> Iterator[Setup]:
    switches = product(Frame, Draw, Central, (False, True), (False, True))
    for seats, (frame, draw, central, harmony, wider) in product((2, 3, 4), switches):
        options = kingdomino.Options(frame, draw, (), central, harmony, False, wider, harmony)
        yield Setup("kingdomino", 1, seats, options)
    mighty = kingdomino.Options(declared_order=(1, 0, 1, 0), mighty_duel=True, central=Central.FRAME)
    yield Setup("kingdomino", 1, 2, mighty)
    backwards = (Domino(number, *domino[1:]) for number, domino in enumerate(reversed(DOMINOES), start=1))
    yield Setup("kingdomino", 1, 2, kingdomino.Options(), kingdomino.domino_set(tuple(backwards)))


def _rollwrite() -> Iterator[Setup]:
    for seats in range(1, 6):
        yield Setup("rollwrite", 1, seats, rollwrite.Options())
    for virtual, solo in product((2, 3, 4), Solo):
        yield Setup("rollwrite", 1, 1, rollwrite.Options(virtual_players=virtual, solo=solo))
    known = rollwrite.sheet()
    turned = tuple(reversed(known.grid))
    boxes = tuple(turned.count(type_) for type_ in range(6))
    yield Setup(
        "rollwrite", 1, 2, rollwrite.Options(start_seat=1), rollwrite.Sheet("turned", turned, boxes, 9, "yellow")
    )


def _possible(setup: Setup) -> bool:
    try:
        setup.start()
    except SetupError:
        return False
    return True


SETUPS = [setup for game in (_alhambra, _kingdomino, _rollwrite) for setup in game() if _possible(setup)]
"""Those of which a game can be set up."""

PLAIN = [
    next(each for each in SETUPS if each.rules_id == rules_id) for rules_id in ("alhambra", "kingdomino", "rollwrite")
]


def play(setup: Setup, seed: int, watch: Callable[[Any], None] | None = None) -> Played:
    """Return a whole game at random, every kind of move about as often; ``watch`` as in ``check_game``."""
    rng = random.Random(seed)
    state: Any = setup.start()
    dealer = setup.game.dealer(setup.seats, setup.options, setup.components, Shuffler(rng))
    played = Played(state)
    while not isinstance(awaited := state.pending()[0], Over):
        if watch is not None:
            watch(state)
        match awaited:
            case Chance():
                event = dealer.outcome(state)
            case Forced(seat):
                event = ForcedPass(seat)
            case _:
                event = by_kind(rng, state, list(state.legal_moves()))
        state.apply(event)
        played.events.append(event)
    if watch is not None:
        watch(state)
    return played


def text_of(setup: Setup, played: Played) -> GameText:
    """Return the game that was played."""
    return GameText(setup, tuple(played.events))


def name_of(setup: Setup) -> str:
    """For the names of tests."""
    default = type(setup.options)()
    names = [name for name in default.__dataclass_fields__ if getattr(default, name) != getattr(setup.options, name)]
    chosen = [f"{name}={getattr(setup.options, name)}" for name in names]
    return "-".join((setup.rules_id, str(setup.seats), *chosen, *(["components"] if setup.components else [])))
