"""The entry by which a referee says that it lost entries that it had signed for, and goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from referee.log.audit import Policy
from referee.log.errors import Code, LogError
from referee.log.replay import Record
from referee.log.v1 import log_pb2
from referee.log.verdict import Verdict
from tests.log import evil, games, second
from tests.log.games import SECRET, SIGNER, Played, key, start
from tests.log.record import KINDS

ROOT = games.seed("lost root")


def recovered(played: Played, lost: int = 1) -> int:
    """The entry's index."""
    seq = played.record.size
    played.write(log_pb2.Recovered(lost_size=seq + lost, lost_root=ROOT))
    return seq


def remark(seq: int, lost: str) -> str:
    return f"entry {seq}: the referee lost {lost} that it had signed, and went on"


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_it_may_come_at_any_time_and_changes_nothing(kind: dict[str, Any]) -> None:
    played, plain = start(**kind), games.play(start(**kind))
    seqs = [recovered(played)]
    games.join_and_reveal(played)
    seqs.append(recovered(played))
    while games.step(played):
        if played.record.game.end is None:
            seqs.append(recovered(played))
    assert len(seqs) > 3
    report = played.audit()
    assert report.verdict is Verdict.COMPLETE, report.as_text()
    assert report.remarks == tuple(remark(seq, "1 entry") for seq in seqs)
    assert played.record.game.position.digest() == plain.record.game.position.digest()
    assert (report.scores, report.deck_checked) == (plain.audit().scores, plain.audit().deck_checked)
    secret = SECRET if played.record.game.deal.is_dealt else None
    again = Record.replay(played.entries, engines=played.engines, secret=secret)
    assert again.root() == played.record.root()
    verifier = second.Verifier(played.file(), str(SIGNER.verifier))
    assert verifier.lost == [(seq + 1, ROOT) for seq in seqs]


def test_before_anybody_has_joined_a_pinned_seat_is_still_missing_in_peace() -> None:
    played = start()
    seq = recovered(played, 4)
    games.abort(played)
    report = played.audit(policy=Policy(SIGNER.verifier, {0: key("seat 0").public.raw}))
    assert report.verdict is Verdict.COMPLETE, report.as_text()
    assert report.remarks == (remark(seq, "4 entries"), "seat 0, whose key you gave, never joined")


def test_nobody_writes_it_where_it_cannot_stand() -> None:
    played = games.play(start())
    size = played.record.size
    with pytest.raises(LogError) as caught:
        played.record.write(log_pb2.Recovered(lost_size=size + 1, lost_root=ROOT), played.clock())
    assert caught.value.code is Code.NOT_AWAITED
    played = start()
    with pytest.raises(LogError) as caught:
        played.record.write(log_pb2.Recovered(lost_size=1, lost_root=ROOT), played.clock())
    assert (caught.value.code, caught.value.what) == (Code.NOT_AWAITED, "the lost head has 1 entries")
    assert played.record.size == 1


def no_loss(entry: log_pb2.Entry) -> None:
    entry.recovered.lost_size = entry.seq


def no_size(entry: log_pb2.Entry) -> None:
    entry.recovered.lost_size = 0


def short_root(entry: log_pb2.Entry) -> None:
    entry.recovered.lost_root = ROOT[1:]


def no_root(entry: log_pb2.Entry) -> None:
    entry.recovered.lost_root = b""


@pytest.mark.parametrize(
    ("edit", "code"),
    [
        (no_loss, Code.NOT_AWAITED),
        (no_size, Code.NOT_AWAITED),
        (short_root, Code.MALFORMED),
        (no_root, Code.MALFORMED),
    ],
)
def test_what_it_says_has_to_be_a_loss(edit: Callable[[log_pb2.Entry], None], code: Code) -> None:
    played = start()
    seq = recovered(played)
    games.play(played)
    entries = evil.entries(played)
    edit(entries[seq])
    data = evil.relinked(entries, players=True)
    forged = games.build_file(played.header, data, evil.head(played, data))
    report = played.audit(forged)
    assert report.decisive is not None
    assert (report.decisive.code, report.decisive.entry) == (code, seq), report.as_text()
    with pytest.raises((second.Refused, KeyError)):
        second.Verifier(forged, str(SIGNER.verifier))


def test_after_the_end_it_is_refused() -> None:
    played = games.play(start())
    entries = evil.entries(played)
    (end,) = [i for i, entry in enumerate(entries) if entry.HasField("end")]
    late = log_pb2.Entry()
    late.CopyFrom(entries[end])
    late.recovered.CopyFrom(log_pb2.Recovered(lost_size=999, lost_root=ROOT))
    entries.insert(end + 1, late)
    data = evil.relinked(entries)
    forged = games.build_file(played.header, data, evil.head(played, data))
    report = played.audit(forged)
    assert report.decisive is not None
    assert (report.decisive.code, report.decisive.entry) == (Code.NOT_AWAITED, end + 1)
    with pytest.raises(second.Refused):
        second.Verifier(forged, str(SIGNER.verifier))


def test_a_receipt_of_what_was_lost_is_evidence() -> None:
    """The referee says that it lost entries; that it had signed for them stays true."""
    lost = start()
    games.join_and_reveal(lost)
    receipt, size, root = lost.notes[-1], lost.record.size, lost.record.root()
    played = start()
    played.write(log_pb2.Recovered(lost_size=size, lost_root=root))
    games.play(played)
    assert played.audit().verdict is Verdict.COMPLETE
    assert played.audit().remarks == (remark(1, f"{size - 1} entries"),)
    report = played.audit(policy=Policy(SIGNER.verifier, receipts=(receipt,)))
    assert report.verdict is Verdict.FORK


def test_remarks_are_not_crowded_out() -> None:
    played = start()
    for _ in range(30):
        recovered(played, 2)
    games.play(played)
    remarks = played.audit().remarks
    assert len(remarks) == 21
    assert remarks[-1] == "and 10 more losses"
