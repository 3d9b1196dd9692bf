"""The games that are attacked: of the toy and of every registered game; dealt, declared, with attempts, aborted.

All are short. Everything in them is fixed, so that what an attack comes to is fixed as well.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any

from referee.games.alhambra import Options
from referee.log.engines import installed
from referee.log.v1 import log_pb2
from tests.log import games, registered
from tests.log.games import Played, abort, join_and_reveal, step
from tests.log.registered import at_random, codec

CHOICES = 2
"""The seed of what the players choose."""


@dataclass(frozen=True)
class Table:
    """How a game comes about."""

    rules_id: str
    kind: dict[str, Any] = field(default_factory=dict)
    """The arguments of ``games.game_open``."""
    acts: int = 100_000
    """The number of acts after which it is aborted."""

    def open(self, **other: Any) -> Played:
        """The game before anybody has joined. ``other``: instead of ``kind``."""
        kind = {**self.kind, **other}
        if self.rules_id == "toy":
            return games.start(header=games.small_header(), **kind)
        return registered.opened(self.rules_id, **kind)

    def play(self, played: Played, seed: int = CHOICES) -> Played:
        """Play an opened game to its end: another course for another seed."""
        if self.kind.get("recorded"):
            registered.play_with_attempts(played, seed, acts=self.acts)
        else:
            choose = at_random(seed)
            join_and_reveal(played)
            for _ in range(self.acts):
                if not step(played, choose):
                    break
        return abort(played) if played.record.game.end is None else played


def _three_turns() -> bytes:
    return codec("alhambra").encode_options(Options(max_turns=3))


TABLES: dict[str, Table] = {
    "toy, dealt": Table("toy", {"recorded": True}),
    "toy, declared": Table("toy", {"dealt": False}),
    "toy, aborted": Table("toy", {"recorded": True}, acts=4),
    "alhambra, dealt": Table("alhambra", {"recorded": True, "options": _three_turns()}),
    "alhambra, declared": Table("alhambra", {"dealt": False, "options": _three_turns()}),
    "alhambra, aborted": Table("alhambra", {"recorded": True}, acts=8),
    "kingdomino, dealt": Table("kingdomino", {"recorded": True}),
    "kingdomino, declared": Table("kingdomino", {"dealt": False}, acts=12),
    "kingdomino, aborted": Table("kingdomino", {"recorded": True}, acts=8),
    "rollwrite, dealt": Table("rollwrite", {"recorded": True, "seats": 1}),
    "rollwrite, declared": Table("rollwrite", {"dealt": False}, acts=12),
    "rollwrite, aborted": Table("rollwrite", {"recorded": True}, acts=8),
}


@cache
def game(name: str) -> Played:
    """Return the game, made once; callers must not change it."""
    return TABLES[name].play(TABLES[name].open())


@cache
def whole_game(rules_id: str) -> Played:
    """Dealt, with attempts, as long as the rules make it."""
    table = Table(rules_id, {"recorded": True})
    return table.play(table.open())


@cache
def small_game(rules_id: str) -> Played:
    """Aborted before anybody joined, in a file of less than 2 KiB: its header names the messages only."""
    messages = games.described(log_pb2.DESCRIPTOR.name, codec(rules_id).signed_file().name)
    header = games.small_header(rules_id, descriptors=messages)
    tables = codec(rules_id).encode_components(None)
    opened = games.game_open(header, rules=(rules_id, 1), tables=tables)
    played = abort(games.start(opened, header=header, engines=installed()))
    assert len(played.file()) <= 2048
    return played


@cache
def other_course(name: str) -> Played:
    """Return a game with the same GameOpen and the same keys, and other choices."""
    return TABLES[name].play(TABLES[name].open(), CHOICES + 1)


@cache
def other_game(name: str) -> Played:
    """Return another game of the same players by the same rules."""
    return TABLES[name].play(TABLES[name].open(proofs=log_pb2.PROOF_POLICY_REFUSALS))
