"""The entry by which a referee states that it lost entries that it had signed for, and continues."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from referee.log.entry import decode_entry
from referee.log.errors import Code, LogError
from referee.log.file import MAGIC, FrameType, encode_frame
from referee.log.fork import find_fork, read_side
from referee.log.note import Checkpoint, open_checkpoint
from referee.log.replay import Record
from referee.log.v1 import log_pb2
from referee.log.verdict import Policy, Verdict
from tests.log import evil, games, second
from tests.log.games import SECRET, SIGNER, Played, key, start
from tests.log.record import KINDS
from tests.log.registered import at_random, opened
from tests.log.verify_js import Job, agree, running, why_not

ROOT = games.seed("lost root")


COPIED_MS = 1_700_000_000_000


def recovered(played: Played, lost: int = 1) -> int:
    """The entry's index. ``lost``: how many entries; 0: the referee does not know, as it was restored from a copy."""
    seq = played.record.size
    named = log_pb2.Recovered(lost_size=seq + lost, lost_root=ROOT)
    played.write(named if lost else log_pb2.Recovered(copied_ms=COPIED_MS))
    return seq


def remark(seq: int, lost: str) -> str:
    if not lost:
        copy = "the referee continued from a copy of 2023-11-14 22:13:20 UTC"
        return f"entry {seq}: {copy}; entries that it signed later may be lost"
    return f"entry {seq}: the referee lost {lost} that it had signed, and continued"


@pytest.mark.parametrize("lost", [1, 0])
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_it_may_come_at_any_time_and_changes_nothing(kind: dict[str, Any], lost: int) -> None:
    played, plain = start(**kind), games.play(start(**kind))
    seqs = [recovered(played, lost)]
    games.join_and_reveal(played)
    seqs.append(recovered(played, lost))
    while games.step(played):
        if played.record.game.end is None:
            seqs.append(recovered(played, lost))
    assert len(seqs) > 3
    report = played.audit()
    assert report.verdict is Verdict.COMPLETE, report.as_text()
    assert report.remarks == tuple(remark(seq, "1 entry" if lost else "") for seq in seqs)
    assert played.record.game.position.digest() == plain.record.game.position.digest()
    assert (report.scores, report.deck_checked) == (plain.audit().scores, plain.audit().deck_checked)
    secret = SECRET if played.record.game.deal.is_dealt else None
    again = Record.replay(played.entries, engines=played.engines, secret=secret)
    assert again.root() == played.record.root()
    verifier = second.Verifier(played.file(), str(SIGNER.verifier))
    assert verifier.lost == [(seq + 1, ROOT) if lost else (0, b"") for seq in seqs]


def test_before_anybody_has_joined_a_pinned_seat_is_still_missing_in_peace() -> None:
    played = start()
    seq = recovered(played, 4)
    games.abort(played)
    report = played.audit(policy=Policy(SIGNER.verifier, {0: key("seat 0").public.raw}))
    assert report.verdict is Verdict.COMPLETE, report.as_text()
    assert report.remarks == (remark(seq, "4 entries"), "player 1, whose key you gave, never joined")


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


def copied_too(entry: log_pb2.Entry) -> None:
    entry.recovered.copied_ms = COPIED_MS


def copied_and_no_size(entry: log_pb2.Entry) -> None:
    entry.recovered.copied_ms = COPIED_MS
    entry.recovered.lost_size = 0


@pytest.mark.parametrize(
    ("edit", "code"),
    [
        (copied_too, Code.MALFORMED),
        (copied_and_no_size, Code.MALFORMED),
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


def head_of(note: bytes) -> Checkpoint:
    return open_checkpoint(note, SIGNER.verifier)


@cache
def parting() -> int:
    """Where the histories part: as the first moves are due."""
    played = start()
    games.join_and_reveal(played)
    return played.record.size


def found(loss: log_pb2.Recovered, steps: int = 99) -> Played:
    """Return a game that declares a loss as its first moves are due, and continues for ``steps`` steps."""
    played = start()
    games.join_and_reveal(played)
    played.write(loss)
    while steps and games.step(played):
        steps -= 1
    return played


def lost_and_found(*, known: bool = True) -> tuple[Played, Played]:
    """Two histories that part as the first moves are due: the lost one, and the one that declares the loss."""
    lost = games.play(start())
    size, root = lost.record.size - 1, head_of(lost.notes[-2]).root
    named = log_pb2.Recovered(lost_size=size, lost_root=root)
    played = found(named if known else log_pb2.Recovered(copied_ms=COPIED_MS))
    assert played.entries[: parting()] == lost.entries[: parting()]
    return lost, played


@pytest.mark.parametrize("known", [True, False])
def test_a_receipt_of_what_was_lost_is_evidence_of_a_declared_loss(known: bool) -> None:
    """The referee says that it lost entries; that it had signed for them stays true. It is neither whole nor a fork."""
    lost, played = lost_and_found(known=known)
    assert played.audit().verdict is Verdict.COMPLETE
    size = head_of(lost.notes[-1]).size
    for note in lost.notes:
        covered = head_of(note).size
        expected = Verdict.LOSS if covered > parting() else Verdict.COMPLETE
        if known and covered == size:  # one more than was declared
            expected = Verdict.FORK
        report = played.audit(policy=Policy(SIGNER.verifier, receipts=(note,)))
        assert report.verdict is expected, (covered, report.as_text())
        if expected is Verdict.LOSS:
            assert (report.exit_code, report.decisive and report.decisive.entry) == (14, parting())


@pytest.mark.parametrize("known", [True, False])
def test_a_declaration_excuses_nothing_else(known: bool) -> None:
    """Neither a history that parts before it, nor, if the head is named, another one as long."""
    lost, played = lost_and_found(known=known)
    game_id = played.record.game_id
    before = SIGNER.sign(game_id, 2, ROOT)
    both = Policy(SIGNER.verifier, receipts=(lost.notes[parting() + 1], before))
    assert played.audit(policy=both).verdict is Verdict.FORK
    as_long = SIGNER.sign(game_id, head_of(lost.notes[-2]).size, ROOT)
    report = played.audit(policy=Policy(SIGNER.verifier, receipts=(as_long,)))
    assert report.verdict is (Verdict.FORK if known else Verdict.LOSS)


def test_what_is_wrong_outweighs_a_declared_loss() -> None:
    lost, played = lost_and_found()
    entries = evil.entries(played)
    entries[-2].end.scores[0] += 1
    data = evil.relinked(entries)
    forged = games.build_file(played.header, data, evil.head(played, data))
    policy = Policy(SIGNER.verifier, receipts=(lost.notes[parting() + 1],))
    report = played.audit(forged, policy)
    assert report.verdict is Verdict.RULES, report.as_text()
    assert Verdict.LOSS in {finding.verdict for finding in report.findings}


def test_a_lost_head_beyond_the_file_is_a_loss_only_where_the_file_cannot_grow_into_it() -> None:
    """An unfinished file may be an older copy of the history that the receipt is of."""
    lost, played = lost_and_found(known=False)
    later = SIGNER.sign(played.record.game_id, played.record.size + 9, ROOT)
    policy = Policy(SIGNER.verifier, receipts=(later,))
    assert played.audit(policy=policy).verdict is Verdict.LOSS
    cut = games.build_file(played.header, played.entries[:-3], played.notes[-4])
    assert played.audit(cut, policy).verdict is Verdict.STALE
    lost, played = lost_and_found()
    short = games.build_file(played.header, played.entries[: parting() + 1], played.notes[parting()])
    named = Policy(SIGNER.verifier, receipts=(lost.notes[-2],))
    assert played.audit(short, named).verdict is Verdict.LOSS
    assert played.audit(short, Policy(SIGNER.verifier, receipts=(lost.notes[-3],))).verdict is Verdict.STALE


def test_while_the_game_goes_on_the_declaration_has_to_be_signed_for() -> None:
    """A running game has no last checkpoint: one of those before it must cover the declaration."""
    lost, played = lost_and_found(known=False)
    for signed_at, expected in ((parting() + 1, Verdict.LOSS), (parting(), Verdict.CORRUPT)):
        frames = evil.frames(played.file())[: 1 + parting() + 3]
        frames.insert(1 + signed_at, encode_frame(FrameType.OLD_CHECKPOINT, played.notes[signed_at - 1]))
        policy = Policy(SIGNER.verifier, receipts=(lost.notes[parting() + 1],))
        report = played.audit(MAGIC + b"".join(frames), policy)
        assert report.verdict is expected, report.as_text()


def test_two_files_of_which_one_declares_the_other_lost() -> None:
    for known in (True, False):
        lost, played = lost_and_found(known=known)
        cut = games.build_file(lost.header, lost.entries[:-1], lost.notes[-2])
        ours, theirs = (read_side(data, SIGNER.verifier) for data in (played.file(), cut))
        for pair in ((ours, theirs), (theirs, ours)):
            fork = find_fork(*pair)
            assert fork is not None
            assert (fork.index, fork.declared_by) == (parting(), parting())


def test_a_fork_after_the_declaration_is_a_fork() -> None:
    """Both histories have the declaration, so it is not between them."""
    loss = log_pb2.Recovered(copied_ms=COPIED_MS)
    played, declared, silent = found(loss), found(loss, 1), found(loss, 1)
    at = declared.record.size
    declared.write(log_pb2.Recovered(copied_ms=COPIED_MS + 1))
    games.abort(silent)
    ours = read_side(played.file(), SIGNER.verifier)
    for other, declared_by in ((declared, at), (silent, None)):
        fork = find_fork(
            ours, read_side(games.build_file(other.header, other.entries, other.notes[-1]), SIGNER.verifier)
        )
        assert fork is not None
        assert (fork.index, fork.declared_by) == (at, declared_by)


def test_what_parts_before_the_declaration_is_a_fork() -> None:
    """Both are known, so a declaration that came later excuses nothing."""
    lost, honest = games.play(start()), start()
    games.join_and_reveal(honest)
    honest.write(log_pb2.Recovered(copied_ms=COPIED_MS))
    games.step(honest)
    honest.write(log_pb2.Recovered(copied_ms=COPIED_MS + 1))
    other = start()
    games.join_and_reveal(other)
    games.abort(other)
    sides = [
        read_side(games.build_file(each.header, each.entries, each.notes[-1]), SIGNER.verifier)
        for each in (honest, other, lost)
    ]
    assert [fork.declared_by for fork in map(find_fork, sides[:1] * 2, sides[1:]) if fork] == [parting()] * 2
    late = start()
    games.join_and_reveal(late)
    games.step(late)
    late.write(log_pb2.Recovered(copied_ms=COPIED_MS))
    third = read_side(games.build_file(late.header, late.entries, late.notes[-1]), SIGNER.verifier)
    fork = find_fork(third, sides[1])
    assert fork is not None
    assert (fork.index, fork.declared_by) == (parting(), None)


def test_two_declarations_about_one_copy_differ() -> None:
    """A copy is put back twice: each history declares the other one lost."""
    first, second_ = (found(log_pb2.Recovered(copied_ms=COPIED_MS, declared_ms=at), 3) for at in (1, 2))
    sides = [
        read_side(games.build_file(each.header, each.entries, each.notes[-1]), SIGNER.verifier)
        for each in (first, second_)
    ]
    fork = find_fork(*sides)
    assert fork is not None
    assert (fork.index, fork.declared_by) == (parting(), parting())


def test_a_dealt_game_that_ended_without_its_deck_cannot_grow_either() -> None:
    played = found(log_pb2.Recovered(copied_ms=COPIED_MS), 1)
    games.abort(played)
    while not decode_entry(played.entries[-1]).HasField("end"):
        del played.entries[-1], played.notes[-1]
    size = len(played.entries)
    for more, expected in ((1, Verdict.STALE), (2, Verdict.LOSS)):
        receipt = SIGNER.sign(played.record.game_id, size + more, ROOT)
        assert played.audit(policy=Policy(SIGNER.verifier, receipts=(receipt,))).verdict is expected


def roll_and_write(loss: log_pb2.Recovered | None = None) -> Played:
    """Return the beginning of a game that the verifier knows, with a loss declared in entry 7 or not."""
    played, choose = opened("rollwrite"), at_random(1)
    games.join_and_reveal(played)
    while played.record.size < 7:
        assert games.step(played, choose)
    if loss is not None:
        played.write(loss)
    for _ in range(9):
        assert games.step(played, choose)
    return games.abort(played)


def test_the_verifier_in_javascript_says_the_same() -> None:
    if why := why_not():
        pytest.skip(why)
    lost, jobs = roll_and_write(), list[Job]()
    named = head_of(lost.notes[-3])
    for loss in (
        log_pb2.Recovered(copied_ms=COPIED_MS),
        log_pb2.Recovered(lost_size=named.size, lost_root=named.root),
    ):
        played = roll_and_write(loss)
        game_id = played.record.game_id
        later = SIGNER.sign(game_id, played.record.size + 9, ROOT)
        before = SIGNER.sign(game_id, 2, ROOT)
        receipts = [(note,) for note in (*lost.notes, later, before)] + [(lost.notes[7], before), (before, later)]
        files = [played.file(), games.build_file(played.header, played.entries[:8], played.notes[7]), lost.file()]
        jobs += [(data, Policy(SIGNER.verifier, receipts=notes)) for data in files for notes in receipts]
        jobs += [(running(played, size), Policy(SIGNER.verifier, receipts=(lost.notes[9],))) for size in (6, 9, 12)]
        for signed_at in (7, 8, 11):
            frames = evil.frames(played.file())[:13]
            frames.insert(1 + signed_at, encode_frame(FrameType.OLD_CHECKPOINT, played.notes[signed_at - 1]))
            policies = [Policy(SIGNER.verifier, receipts=(lost.notes[at],)) for at in (5, 7, 9)]
            jobs += [(MAGIC + b"".join(frames), policy) for policy in policies]
        ended = played.entries[:-1]  # without the disclosure
        undisclosed = games.build_file(played.header, ended, played.notes[-2])
        beyond = [SIGNER.sign(game_id, len(ended) + more, ROOT) for more in (1, 2)]
        jobs += [(undisclosed, Policy(SIGNER.verifier, receipts=(note,))) for note in beyond]
        wrong = evil.entries(played)
        wrong[7].recovered.lost_size, wrong[7].recovered.copied_ms = 99, COPIED_MS
        data = evil.relinked(wrong)
        jobs.append((games.build_file(played.header, data, evil.head(played, data)), Policy(SIGNER.verifier)))
    expected = {Verdict.COMPLETE, Verdict.LOSS, Verdict.FORK, Verdict.STALE, Verdict.PREFIX, Verdict.CORRUPT}
    assert agree(jobs) >= expected


def test_remarks_are_not_crowded_out() -> None:
    played = start()
    for _ in range(30):
        recovered(played, 2)
    games.play(played)
    remarks = played.audit().remarks
    assert len(remarks) == 21
    assert remarks[-1] == "and 10 more losses"
