"""Games of Alhambra with certificates: attempts at building among their moves, frames after their entries."""

from __future__ import annotations

import random
from collections.abc import Container, Iterable, Mapping
from functools import lru_cache
from io import BytesIO
from typing import Any

from referee.games.alhambra.moves import PlaceTile, RebuildAdd, RebuildRemove, RebuildSwap
from referee.games.alhambra.position import Phase
from referee.games.alhambra.state import State
from referee.games.alhambra.tiles import tiles_of
from referee.log import file, intent
from referee.log.certificates import encode_proof, verdict_of
from referee.log.entry import decode_entry
from referee.log.errors import RulesError
from referee.log.events import Author, Role
from referee.log.merkle import leaf_hash
from referee.log.replay import Record
from referee.wire.certificates.registry import Provable, provable
from referee_solver.alhambra.prover import prove
from tests.log.alhambra import CODEC, COMPONENTS, alhambra, at_random
from tests.log.games import Played, abort, join_and_reveal, seat_key, step

_known = provable("alhambra", 2)
assert _known is not None
PROVABLE: Provable = _known
Certificates = Mapping[int, list[bytes]]
"""By entry, the payloads of its frames."""


def an_attempt(state: State, rng: random.Random) -> Any:
    """A move of building that comes to somebody's mind, wherever it may lead; None if there is no tile for one."""
    cells = [*state.layouts[state.seat].cells(), (0, 0)]
    x, y = rng.choice(cells)
    there = (x + rng.randint(-1, 1), y + rng.randint(-1, 1))
    if state.phase is Phase.ACTION:
        reserve = tiles_of(state.reserves[state.seat])
        if not reserve:
            return RebuildRemove(there)
        return rng.choice([RebuildRemove(there), RebuildAdd(reserve[0], there), RebuildSwap(reserve[0], there)])
    if state.phase in (Phase.PLACE, Phase.HAND_OUT):
        return PlaceTile(tiles_of(state.tiles_in_hand())[0], there)
    return None


def play_with_attempts(played: Played, seed: int, acts: int) -> Played:
    """So many acts, then it is aborted. Before each the seat tries something; what the rules forbid is recorded."""
    join_and_reveal(played)
    record, choose, rng = played.record, at_random(seed), random.Random(seed)
    for _ in range(acts):
        state: Any = record.game.position.state
        attempt = an_attempt(state, rng)
        if attempt is not None and state.check(attempt):
            data = CODEC.encode_move(attempt, COMPONENTS)
            signed = intent.move(record.place, Author(Role.SEAT, state.seat), seat_key(state.seat), data)
            try:
                record.check(signed)
            except RulesError as error:
                played.keep(record.refuse(signed, error, played.clock()))
        assert step(played, choose)
    return abort(played)


def claims(played: Played) -> dict[int, tuple[Any, ...]]:
    """Return each entry's claims in an honest game, without entries that have none."""
    found: dict[int, tuple[Any, ...]] = {}
    record: Record | None = None
    for seq, data in enumerate(played.entries):
        if record is None:
            record = Record(decode_entry(data).open, engines=played.engines)
        happened = record.read(data)
        verdict = verdict_of(happened)
        if verdict is not None and (made := PROVABLE.claims(verdict.before, verdict.event)):
            found[seq] = made
    return found


def certificates(played: Played, only: Container[int] | None = None) -> Certificates:
    """Return the certificates of every claim, or of the claims of some entries."""
    return {
        seq: [encode_proof(seq, leaf_hash(played.entries[seq]), prove(claim).certificate) for claim in made]
        for seq, made in claims(played).items()
        if only is None or seq in only
    }


def with_frames(played: Played, frames: Certificates, *, last: Iterable[bytes] = ()) -> bytes:
    """Return the file with these frames after their entries, and others after the last entry."""
    stream = BytesIO()
    writer = file.Writer(stream)
    writer.header(played.header)
    for seq, data in enumerate(played.entries):
        writer.entry(data)
        for proof in frames.get(seq, ()):
            writer.proof(proof)
    for proof in last:
        writer.proof(proof)
    writer.end(played.notes[-1])
    return stream.getvalue()


@lru_cache(maxsize=4)
def a_game(proofs: int, seed: int = 4) -> tuple[Played, Certificates]:
    """Two seats, attempts recorded, with every certificate that there can be."""
    played = play_with_attempts(alhambra(seats=2, recorded=True, proofs=proofs), seed, acts=60)
    return played, certificates(played)
