"""Auditing: against nothing but PyNaCl's verification of the signatures, and its memory."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from io import BytesIO

from nacl.signing import VerifyKey

from referee.games.kingdomino.moves import DiscardDomino
from referee.log import file, intent
from referee.log.audit import audit
from referee.log.entry import decode_entry
from referee.log.v1 import log_pb2
from referee.log.verdict import Policy
from tests.bench.measure import Figure, against
from tests.log import registered
from tests.log.games import SIGNER, Played, abort, join_and_reveal, play, seat_key
from tests.log.registered import at_random, attempt

_POLICY = Policy(SIGNER.verifier)


def figures() -> Iterator[Figure]:
    """Signatures checked a second, alone and with everything else; memory of a long log."""
    # With four seats every domino is chosen and laid or discarded, and every castle placed: a hundred moves.
    hundred = play(registered.opened("kingdomino", seats=4), at_random(1))
    yield _signatures("Kingdomino", hundred, seats=4, target=0.45)
    longer = play(registered.opened("alhambra", seats=3), at_random(1))
    yield _signatures("Alhambra", longer, seats=3, target=0.45)
    yield _memory()


def _signatures(name: str, played: Played, *, seats: int, target: float) -> Figure:
    data = played.file()
    signed = [
        (log_pb2.Intent.FromString(entry.signed.intent), intent.intent_encoding(entry.signed.intent), entry.signed)
        for entry in map(decode_entry, file.entries(BytesIO(data)))
        if entry.HasField("signed")
    ]
    keys = {seat: VerifyKey(seat_key(seat).public.raw) for seat in range(seats)}
    checks = [(keys[act.seat], message, record.signature) for act, message, record in signed]
    moves = sum(act.HasField("move") for act, _, _ in signed)

    def bare() -> int:
        for key, message, signature in checks:
            key.verify(message, signature)
        return len(checks)

    def whole() -> int:
        report = audit(BytesIO(data), _POLICY)
        if report.exit_code:
            raise AssertionError(report.as_text())
        return len(checks)

    title = f"audit of a game of {name}, {moves} moves, {len(played.entries)} entries: signatures"
    return against(title, whole, bare, target=target)


def _memory() -> Figure:
    """Return the ratio of the auditor's peaks for a log of a hundred entries and one with forty times as many."""
    peaks = [_peak(_long(entries)) for entries in (100, 4000)]
    return Figure("audit of 4,000 entries of that of 100: memory", peaks[1] / peaks[0], at_most=1.2)


def _long(entries: int) -> bytes:
    """Return a game in which a seat tries again and again what it may not."""
    played = registered.opened("kingdomino", seats=2, recorded=True)
    join_and_reveal(played)
    while len(played.entries) < entries:
        assert attempt(played, DiscardDomino(1))
    return abort(played).file()


def _peak(data: bytes) -> int:
    stream = BytesIO(data)
    audit(stream, _POLICY)
    stream.seek(0)
    tracemalloc.start()
    audit(stream, _POLICY)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak
