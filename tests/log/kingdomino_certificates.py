"""A game of Kingdomino with certificates, claims about it, and an engine that is wrong."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache
from typing import Any

from referee.games import registry as rules
from referee.games.game import Decision, Violation
from referee.games.kingdomino.moves import DiscardDomino, PlaceDomino
from referee.games.kingdomino.position import Phase
from referee.games.kingdomino.state import State
from referee.log.certificates import encode_proof, verdict_of
from referee.log.engines import installed
from referee.log.entry import decode_entry
from referee.log.merkle import leaf_hash
from referee.log.replay import Record
from referee.log.v1 import log_pb2
from referee.wire.certificates.registry import Provable, provable
from referee_solver.kingdomino.prover import prove
from tests.log import registered
from tests.log.games import Played, join_and_reveal, start, step
from tests.log.registered import at_random, attempt

ALL = log_pb2.PROOF_POLICY_ALL


def known() -> Provable:
    found = provable("kingdomino", 1)
    assert found is not None
    return found


@cache
def a_game(seed: int = 2) -> tuple[Played, dict[int, Any]]:
    """Return a whole game of two, dealt, attempts recorded; and what its entries claim."""
    played = registered.opened("kingdomino", seats=2, recorded=True, proofs=ALL)
    join_and_reveal(played)
    rng, choose = random.Random(seed), at_random(seed)
    while True:
        (awaited,) = played.record.game.position.pending()
        state: Any = played.record.game.position.state
        if isinstance(awaited, Decision) and state.phase is Phase.PLACE:
            attempt(played, an_attempt(state, rng))
        if not step(played, choose):
            return played, claims(played)


def an_attempt(state: State, rng: random.Random) -> Any:
    """Return a move that the rules forbid, for one reason or another."""
    number = state.due().number
    while True:
        x, y = rng.randint(-4, 4), rng.randint(-4, 4)
        tries: list[Any] = [
            DiscardDomino(number),
            PlaceDomino(number, (x, y), (x + 1, y)),
            PlaceDomino(number, (x, y), (x, y)),
        ]
        move = rng.choice(tries)
        if state.check(move):
            return move


def claims(played: Played) -> dict[int, Any]:
    """Return each entry's claim, without entries that have none."""
    found: dict[int, Any] = {}
    record: Record | None = None
    for seq, data in enumerate(played.entries):
        if record is None:
            record = Record(decode_entry(data).open, engines=played.engines)
        happened = record.read(data)
        verdict = verdict_of(happened)
        for claim in known().claims(verdict.before, verdict.event) if verdict is not None else ():
            found[seq] = claim
    return found


def frames(played: Played, made: dict[int, Any]) -> dict[int, list[bytes]]:
    return {
        seq: [encode_proof(seq, leaf_hash(played.entries[seq]), prove(claim).certificate)]
        for seq, claim in made.items()
    }


class LenientGame:
    """An engine without a rule: a seat may discard a domino that it could place."""

    def __getattr__(self, name: str) -> Any:
        return getattr(rules.get("kingdomino", 1), name)

    def new(self, seats: int, options: Any, components: Any) -> State:
        class Lenient(State):
            __slots__ = ()

            def check(self, event: object) -> tuple[Violation, ...]:
                return tuple(v for v in super().check(event) if v.rule_id != "KDO-13")

        return Lenient(seats, options, components)


LENIENT = replace(installed(), game=lambda rules_id, version: LenientGame())


def misjudged() -> Played:
    """A game by the wrong engine, with a discard of what could be placed as its last entry but what follows at once."""
    honest = registered.opened("kingdomino", seats=2, proofs=ALL)
    played = start_with(honest, LENIENT)
    join_and_reveal(played)

    def discards(record: Any, options: list[Any]) -> Any:
        state = record.game.position.state
        return DiscardDomino(state.due().number) if state.phase is Phase.PLACE else options[0]

    while played.record.game.position.state.phase is not Phase.PLACE:  # type: ignore[attr-defined]
        assert step(played, discards)
    assert step(played, discards)
    return played


def start_with(honest: Played, engines: Any) -> Played:
    """Start the same game, by another engine."""
    opened = decode_entry(honest.entries[0]).open
    return start(log_pb2.GameOpen.FromString(opened), header=honest.header, engines=engines)
