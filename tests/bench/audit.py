"""Replaying a whole signed game with every check, against nothing but PyNaCl's verification of its signatures."""

from __future__ import annotations

import random
from collections.abc import Iterator
from io import BytesIO
from typing import Any

from nacl.signing import VerifyKey

from referee.games import registry
from referee.log import dsse, file
from referee.log.audit import Policy, audit
from referee.log.engines import installed
from referee.log.entry import decode_entry
from referee.log.header import build_header
from referee.log.replay import Record
from referee.log.v1 import log_pb2
from referee.wire.registry import codec
from tests.bench.measure import Figure, rate
from tests.log.games import SIGNER, Played, game_open, play, seat_key, start


def alhambra(seats: int, seed: int) -> Played:
    """A whole dealt game of random moves, signed by every seat."""
    rng = random.Random(seed)

    def any_move(record: Record, moves: list[Any]) -> Any:
        return rng.choice(moves)

    game, wire = registry.get("alhambra", 1), codec("alhambra", 1)
    header = build_header("alhambra", 1, game.catalogue, wire.signed_file(), "bench")
    opened = game_open(header, seats=seats, tables=wire.encode_tables(None), rules=("alhambra", 1))
    return play(start(opened, header=header, engines=installed()), any_move)


def figures() -> Iterator[Figure]:
    """Signatures checked a second, alone and with everything else."""
    played = alhambra(3, 1)
    data = played.file()
    signed = [
        (log_pb2.Intent.FromString(entry.signed.intent).seat, dsse.intent_encoding(entry.signed.intent), entry.signed)
        for entry in map(decode_entry, file.entries(BytesIO(data)))
        if entry.WhichOneof("event") == "signed"
    ]
    keys = {seat: VerifyKey(seat_key(seat).public.raw) for seat in range(3)}

    def bare() -> int:
        for seat, message, record in signed:
            keys[seat].verify(message, record.signature)
        return len(signed)

    def whole() -> int:
        report = audit(BytesIO(data), Policy(SIGNER.verifier))
        if report.exit_code:
            raise AssertionError(report.as_text())
        return len(signed)

    yield Figure(
        f"audit of a game of {len(played.entries)} entries, signatures", rate(whole), target=0.3, floor=rate(bare)
    )
