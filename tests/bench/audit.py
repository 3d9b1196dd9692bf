"""Replaying a whole signed game with every check, against nothing but PyNaCl's verification of its signatures."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO

from nacl.signing import VerifyKey

from referee.log import dsse, file
from referee.log.audit import Policy, audit
from referee.log.entry import decode_entry
from referee.log.v1 import log_pb2
from tests.bench.measure import Figure, against
from tests.log.alhambra import alhambra, at_random
from tests.log.games import SIGNER, play, seat_key


def figures() -> Iterator[Figure]:
    """Signatures checked a second, alone and with everything else."""
    played = play(alhambra(seats=3), at_random(1))
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

    yield against(f"audit of a game of {len(played.entries)} entries, signatures", whole, bare, target=0.3)
