"""The file: torn, cut and damaged are distinct at every offset; nothing can be added; limits."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.log import entry, file, heads
from referee.log.audit import audit
from referee.log.errors import Code, LogError
from referee.log.file import HEAD_BYTES, MAGIC, TAIL_BYTES, Frame, FrameType, Writer, encode_frame
from referee.log.note import Checkpoint, VerifierKey, open_checkpoint
from referee.log.v1 import log_pb2
from referee.log.verdict import Layer, Policy, Verdict
from tests.core import needs_source
from tests.log import evil, games, toy
from tests.log.games import SIGNER, Played, play, start
from tests.sizes import Part, in_parts

SMALL_HEADER = games.small_header()


@pytest.fixture(scope="module")
def small() -> Played:
    """Return an aborted game of three entries in a file of less than 1 KiB."""
    return games.abort(start(header=SMALL_HEADER))


@pytest.fixture(scope="module")
def whole() -> Played:
    return play(start(header=SMALL_HEADER))


def boundaries(data: bytes) -> list[int]:
    out = [len(MAGIC)]
    for frame in evil.frames(data):
        out.append(out[-1] + len(frame))
    return out


def test_a_file_comes_back(whole: Played) -> None:
    frames = list(file.read(BytesIO(whole.file())))
    assert [f.type for f in frames] == [1] + [2] * len(whole.entries) + [3, 5]
    assert [f.payload for f in frames if f.type == 2] == whole.entries
    assert list(file.entries(BytesIO(whole.file()))) == whole.entries
    assert b"".join(encode_frame(f.type, f.payload) for f in frames) == whole.file()[len(MAGIC) :]


# --- damage: exhaustive on a small file (attacks 37, 38, 39, 40) ---------------------------------------------------


@in_parts(4)
def test_no_flipped_bit_is_overlooked(small: Played, part: Part) -> None:
    """37: every bit of every byte. The CRC finds each; the entry named is the one that was hit."""
    good = small.file()
    ends = boundaries(good)
    for at in part.of(range(len(good) * 8)):
        data = bytearray(good)
        data[at // 8] ^= 1 << at % 8
        report = small.audit(bytes(data))
        assert report.verdict is Verdict.CORRUPT, (at, report.as_text())
        assert report.exit_code == 4
        finding = report.decisive
        assert finding is not None
        frame = sum(end <= at // 8 for end in ends)  # 0: magic, 1: HEADER, 2...: entries
        assert finding.layer is Layer.FRAMES
        assert finding.entry == min(max(frame - 2, 0), 3), (at, report.as_text())


def test_no_flipped_byte_is_overlooked(small: Played) -> None:
    good = small.file()
    for at in range(len(good)):
        data = bytearray(good)
        data[at] ^= 0xFF
        assert small.audit(bytes(data)).verdict is Verdict.CORRUPT


def test_cut_anywhere(small: Played) -> None:
    """38: a cut at a frame's end is a clean prefix, elsewhere torn; never COMPLETE, never damage."""
    good = small.file()
    ends = boundaries(good)
    for size in range(len(good)):
        report = small.audit(good[:size])
        frames = found(report)
        if size in ends:
            assert frames is Code.INCOMPLETE
        else:
            assert frames is Code.TORN
        whole_entries = max(0, min(3, sum(end <= size for end in ends) - 2))
        assert report.entries == whole_entries
        assert report.verdict is Verdict.PREFIX, (size, report.as_text())
        assert report.exit_code == 3


def found(report: Any) -> Code | None:
    return next((f.code for f in report.findings if f.layer is Layer.FRAMES), None)


def test_cut_of_a_whole_game(whole: Played) -> None:
    good = whole.file()
    for end in boundaries(good)[:-1]:
        for size in (end - 1, end, end + 1, end + 5, end + 6):
            report = whole.audit(good[:size])
            assert report.verdict is Verdict.PREFIX, (size, report.as_text())
            assert report.findings[0].layer is Layer.FRAMES


def test_lengths(whole: Played) -> None:
    """39: no length makes a whole file look torn."""
    good = whole.file()
    for end in boundaries(good)[:-1]:
        real = int.from_bytes(good[end : end + 4], "big")
        left = len(good) - end - 9
        wrong = {0, 1, real - 1, real + 1, real + 9, left, left + 1, left + 100, 32 * 1024, 2**16, 2**31, 2**32 - 1}
        for length in wrong - {real}:
            data = good[:end] + length.to_bytes(4, "big") + good[end + 4 :]
            report = whole.audit(data)
            assert report.verdict is Verdict.CORRUPT, (end, length, report.as_text())
            assert found(report) is Code.FRAME, (end, length)


def test_types(small: Played) -> None:
    good = small.file()
    for end in boundaries(good)[:-1]:
        for kind in (0, 1, 2, 3, 4, 5, 6, 0x7F, 0x80, 0xFF):
            if good[end + 4] != kind:
                data = good[: end + 4] + bytes([kind]) + good[end + 5 :]
                assert small.audit(data).verdict is Verdict.CORRUPT


def test_doubled_and_swapped_frames(small: Played) -> None:
    """40: also when END counts and hashes them afresh."""
    frames = evil.frames(small.file())
    for i in range(len(frames)):
        doubled = [*frames[: i + 1], *frames[i:]]
        for data in (MAGIC + b"".join(doubled), evil.ended(doubled)):
            if i < len(frames) - 1 or data != small.file():
                assert small.audit(data).verdict is Verdict.CORRUPT or data == small.file(), i
        for j in range(i):
            swapped = list(frames)
            swapped[i], swapped[j] = swapped[j], swapped[i]
            assert small.audit(MAGIC + b"".join(swapped)).verdict is Verdict.CORRUPT
            if swapped[-1] == frames[-1]:
                assert small.audit(evil.ended(swapped)).verdict is Verdict.CORRUPT


def test_left_out_frames(small: Played) -> None:
    frames = evil.frames(small.file())
    for i in range(len(frames)):
        kept = frames[:i] + frames[i + 1 :]
        report = small.audit(MAGIC + b"".join(kept))
        if i == len(frames) - 1:
            assert report.verdict is Verdict.PREFIX
        else:
            assert report.verdict is Verdict.CORRUPT, i


@pytest.mark.parametrize("extra", [b"\0", b"\x89TLR", encode_frame(0x82, b"x"), encode_frame(2, b"x"), bytes(100)])
def test_nothing_after_end(small: Played, extra: bytes) -> None:
    report = small.audit(small.file() + extra)
    assert report.verdict is Verdict.CORRUPT
    assert found(report) is Code.FRAME


def test_ignorable_frames_are_ignored(small: Played) -> None:
    frames = evil.frames(small.file())
    for at in range(1, len(frames)):
        data = MAGIC + b"".join([*frames[:at], encode_frame(0x9C, b"something new"), *frames[at:]])
        assert small.audit(data).verdict is Verdict.COMPLETE
    data = MAGIC + encode_frame(0x9C, b"x") + b"".join(frames)
    assert small.audit(data).verdict is Verdict.CORRUPT


def test_key_sets_are_for_later(small: Played) -> None:
    frames = evil.frames(small.file())
    data = MAGIC + b"".join([frames[0], encode_frame(4, b"x"), *frames[1:]])
    assert small.audit(data).verdict is Verdict.UNSUPPORTED


@given(st.binary(max_size=400))
@settings(max_examples=300)
def test_anything_gets_a_verdict(data: bytes) -> None:
    played = Played(None, b"", toy.ENGINES)  # type: ignore[arg-type]
    for start_of_file in (b"", MAGIC, MAGIC + encode_frame(1, SMALL_HEADER)):
        assert played.audit(start_of_file + data).verdict is not Verdict.COMPLETE


@given(st.data())
@settings(max_examples=300)
def test_any_mutation_gets_a_verdict(data: st.DataObject) -> None:
    """Entries and frames mutated below valid CRCs and END: one failure type at the boundary."""
    played = _mutable()
    leaves = list(played.entries)
    at = data.draw(st.integers(0, len(leaves) - 1))
    where = data.draw(st.integers(0, len(leaves[at]) - 1))
    new = data.draw(st.binary(max_size=4))
    leaves[at] = leaves[at][:where] + new + leaves[at][where + data.draw(st.integers(0, 4)) :] or b"\0"
    report = played.audit(evil.signed_file(played, leaves))
    if leaves == played.entries:
        assert report.verdict is Verdict.COMPLETE
        return
    assert report.verdict is not Verdict.COMPLETE or _only_clock(played, leaves, at), report.as_text()


def _only_clock(played: Played, leaves: list[bytes], at: int) -> bool:
    """The referee's times are its own claim; after the last intent they have no other witness."""
    last = log_pb2.Entry.FromString(leaves[at])
    good = log_pb2.Entry.FromString(played.entries[at])
    for name in ("referee_ms", "charged_ms", "lag_ms", "overhead_ms"):
        last.ClearField(name)
        good.ClearField(name)
    return last == good and at == len(leaves) - 1


_KEPT: list[Played] = []


def _mutable() -> Played:
    if not _KEPT:
        _KEPT.append(play(start(header=SMALL_HEADER)))
    return _KEPT[0]


# --- limits -------------------------------------------------------------------------------------------------------


def test_limits(monkeypatch: pytest.MonkeyPatch, small: Played) -> None:
    with pytest.raises(LogError) as caught:
        encode_frame(2, bytes(32 * 1024 + 1))
    assert caught.value.code is Code.LIMIT
    data = small.file()
    monkeypatch.setattr(file, "MAX_ENTRIES", 2)
    report = small.audit(data)
    assert report.findings[0].layer is Layer.LIMITS
    assert report.decisive is not None
    assert report.decisive.entry == 2


def test_file_size_limit(monkeypatch: pytest.MonkeyPatch, small: Played) -> None:
    data = small.file()
    monkeypatch.setattr(file, "MAX_FILE_BYTES", len(data) - 1)
    assert small.audit(data).findings[0].code is Code.LIMIT
    with pytest.raises(LogError):
        small.file()


class Counting(BytesIO):
    """How much of a file was read."""

    taken = 0

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(size)
        self.taken += len(data)
        return data


def test_a_file_over_the_limit_is_not_read(monkeypatch: pytest.MonkeyPatch, small: Played) -> None:
    stream = Counting(b"before" + small.file())
    stream.seek(6)
    monkeypatch.setattr(file, "MAX_FILE_BYTES", len(small.file()) - 1)
    report = audit(stream, Policy(SIGNER.verifier), engines=toy.ENGINES)
    assert report.findings[0].code is Code.LIMIT
    assert report.verdict is Verdict.CORRUPT
    assert stream.taken == 0


@pytest.mark.parametrize(
    "garbage",
    [bytes(1 << 20), (b"\0\0\0\1\2\xff" + bytes(4)) * 100_000, encode_frame(2, b"\xff") * 100_000],
    ids=["zeros", "tiny entries", "tiny entries without a header"],
)
def test_garbage_is_left_at_its_first_frame(garbage: bytes, small: Played) -> None:
    """Also by the first look for r: it decoded whatever looked like an entry, 10 bytes each."""
    stream = Counting(MAGIC + garbage)
    report = audit(stream, Policy(SIGNER.verifier), engines=toy.ENGINES)
    assert report.verdict is Verdict.CORRUPT
    assert stream.taken < 1000


def test_a_small_file_is_taken_from_its_stream_once(monkeypatch: pytest.MonkeyPatch, small: Played) -> None:
    """And what its frames are kept for says the same of every damage as to read it twice."""
    good = small.file()
    flipped = [good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :] for at in range(0, len(good), 7)]
    files = [good, *(good[:at] for at in range(0, len(good), 7)), *flipped]
    taken: list[list[int]] = []
    reports = []
    for kept in (len(good), 0):
        monkeypatch.setattr(file, "KEPT_BYTES", kept)
        streams = [Counting(b"before" + data) for data in files]
        for stream in streams:
            stream.seek(6)
        reports.append([audit(stream, Policy(SIGNER.verifier), engines=toy.ENGINES) for stream in streams])
        taken.append([stream.taken for stream in streams])
    assert reports[0] == reports[1]
    assert (taken[0][0], taken[1][0]) == (len(good), 2 * len(good))


@needs_source
def test_only_what_ends_like_a_seed_is_decoded_for_it(whole: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    decoded: list[bytes] = []
    decode = entry.decode_entry

    def spy(data: bytes) -> log_pb2.Entry:
        decoded.append(data)
        return decode(data)

    monkeypatch.setattr("referee.log.audit.decode_entry", spy)
    assert whole.audit().verdict is Verdict.COMPLETE
    assert decoded == [whole.entries[-1], *whole.entries]


def test_ignorable_frames_are_limited(monkeypatch: pytest.MonkeyPatch, small: Played) -> None:
    monkeypatch.setattr(file, "MAX_ENTRIES", 20)
    frames = evil.frames(small.file())
    for count, verdict in ((20, Verdict.COMPLETE), (21, Verdict.CORRUPT)):
        data = MAGIC + b"".join([frames[0], *[encode_frame(0x9C, b"x")] * count, *frames[1:]])
        report = small.audit(data)
        assert report.verdict is verdict
        assert count == 20 or report.findings[0].code is Code.LIMIT


def test_reading_is_streaming() -> None:
    """The reader never asks for more than a frame and the head of the next, and takes what a raw stream gives."""

    class Drip(BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            assert size is not None
            assert 0 <= size <= HEAD_BYTES + 256 * 1024 + TAIL_BYTES
            return super().read(min(size, 7))

    played = _mutable()
    assert list(file.entries(Drip(played.file()))) == played.entries


def test_a_frame_is_read_at_once(whole: Played) -> None:
    """Each read costs as much as a hash."""
    reads: list[int] = []

    class Counting(BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            reads.append(size or 0)
            return super().read(size)

    frames = list(file.read(Counting(whole.file())))
    assert len(reads) <= len(frames) + 4, "and the magic, the first head, the end"


# --- the writer ----------------------------------------------------------------------------------------------------


def test_a_live_file_is_a_prefix_that_checks(whole: Played) -> None:
    stream = BytesIO()
    writer = Writer(stream)
    writer.header(whole.header)
    for data, note in zip(whole.entries, whole.notes, strict=True):
        writer.entry(data)
        writer.old_checkpoint(note)
    report = whole.audit(stream.getvalue())
    assert report.verdict is Verdict.PREFIX
    assert report.signed_entries == len(whole.entries)
    writer.end(whole.notes[-1])
    assert whole.audit(stream.getvalue()).verdict is Verdict.COMPLETE
    with pytest.raises(LogError) as caught:
        writer.old_checkpoint(whole.notes[-1])
    assert caught.value.code is Code.FRAME


def test_the_writer_keeps_the_order(small: Played) -> None:
    writer = Writer(BytesIO())
    for wrong in (writer.entry, writer.end, writer.old_checkpoint):
        with pytest.raises(LogError) as caught:
            wrong(b"x")
        assert caught.value.code is Code.FRAME
    writer.header(small.header)
    with pytest.raises(LogError):
        writer.header(small.header)
    assert Frame(FrameType.REMARK, b"", 0).critical is False


# --- checkpoints inside the file -------------------------------------------------------------------------------------


def with_old(played: Played, at: int, note: bytes) -> bytes:
    frames = evil.frames(played.file())
    return MAGIC + b"".join([*frames[: at + 2], encode_frame(0x80, note), *frames[at + 2 :]])


def test_old_checkpoints(whole: Played) -> None:
    n = len(whole.entries)
    for at in range(n):
        report = whole.audit(with_old(whole, at, whole.notes[at]))
        assert report.verdict is Verdict.COMPLETE
        assert report.remarks == whole.audit().remarks
    fork = SIGNER.sign(whole.record.game_id, 5, bytes(32))
    report = whole.audit(with_old(whole, 4, fork))
    assert report.verdict is Verdict.FORK
    assert report.decisive is not None
    assert report.decisive.entry == 4
    later = SIGNER.sign(whole.record.game_id, n + 1, bytes(32))
    assert whole.audit(with_old(whole, 4, later)).verdict is Verdict.STALE


def test_old_checkpoints_locate_an_altered_copy(whole: Played) -> None:
    """The copy was changed at entry 5, the true heads were left in."""
    leaves = list(whole.entries)
    changed = log_pb2.Entry.FromString(leaves[5])
    changed.referee_ms += 1
    leaves[5] = changed.SerializeToString(deterministic=True)
    frames = evil.frames(games.build_file(whole.header, leaves, whole.notes[-1]))
    mixed = [frames[0]]
    for i, frame in enumerate(frames[1:-2]):
        mixed += [frame, encode_frame(0x80, whole.notes[i])]
    report = whole.audit(MAGIC + b"".join(mixed + frames[-2:]))
    assert report.verdict is Verdict.CORRUPT
    assert report.decisive is not None
    assert report.decisive.entry == 6
    assert report.signed_entries == 5


@needs_source
def test_old_checkpoints_are_limited(whole: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each costs a signature: one for each entry before it, no more."""
    verified: list[bytes] = []
    check = open_checkpoint

    def spy(data: bytes, key: VerifierKey) -> Checkpoint:
        verified.append(data)
        return check(data, key)

    monkeypatch.setattr(heads, "open_checkpoint", spy)
    frames = evil.frames(whole.file())
    old = encode_frame(0x80, whole.notes[-1])
    for at, count, verdict in ((1, 1, Verdict.CORRUPT), (5, 4, Verdict.COMPLETE), (5, 5000, Verdict.CORRUPT)):
        verified.clear()
        report = whole.audit(MAGIC + b"".join([*frames[:at], *[old] * count, *frames[at:]]))
        assert report.verdict is verdict, report.as_text()
        assert len(verified) == at - 1
        assert verdict is Verdict.COMPLETE or report.findings[0].code is Code.LIMIT


def test_a_mismatch_in_the_file_hides_no_receipt(whole: Played) -> None:
    """The first of each kind and game is kept."""
    size = len(whole.entries)
    other = SIGNER.sign(whole.record.game_id, size, bytes(32))
    policy = Policy(SIGNER.verifier, receipts=(other,))
    report = whole.audit(with_old(whole, 4, SIGNER.sign(whole.record.game_id, 5, bytes(32))), policy)
    assert report.verdict is Verdict.FORK


def test_useless_old_checkpoints_are_remarked(whole: Played) -> None:
    for at, note in ((4, b"nonsense"), (4, whole.notes[2])):
        report = whole.audit(with_old(whole, at, note))
        assert report.verdict is Verdict.COMPLETE
        assert len(report.remarks) == 1 + len(whole.audit().remarks)
    report = whole.audit(with_old(whole, 4, SIGNER.sign(bytes(16), 5, bytes(32))))
    assert report.verdict is not Verdict.COMPLETE
    assert whole.audit(with_old(whole, 4, b"x"), Policy()).remarks == whole.audit().remarks
