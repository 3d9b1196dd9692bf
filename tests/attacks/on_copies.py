"""Attacks of a person who holds a copy of a file and no key. Every byte of it: ``damage``."""

from __future__ import annotations

from dataclasses import replace

from referee.log import merkle
from referee.log.certificates import encode_proof
from referee.log.errors import Code
from referee.log.file import FrameType, encode_frame
from referee.log.note import CheckpointSigner, Note, NoteSignature
from referee.log.v1 import log_pb2
from referee.log.verdict import Policy, Verdict
from tests.attacks.corpus import other_course, other_game
from tests.attacks.forge import (
    FORGER,
    PINNED,
    Attacks,
    Forgery,
    corrupt,
    raw_frame,
    split,
    whole,
    with_note,
    with_payload,
)
from tests.log import evil
from tests.log.games import ORIGIN, SIGNER, Played, build_file

COPIES = Attacks()
attack = COPIES.by("copy's holder")


def last_entry_redated(played: Played) -> bytes:
    """The last entry with another time of the referee's: nothing but the tree vouches for it."""
    entry = evil.entries(played)[-1]
    entry.referee_ms += 1
    return entry.SerializeToString(deterministic=True)


# --- bytes ------------------------------------------------------------------------------------------------


@attack
def flipped_bit(table: str, played: Played) -> Forgery:
    """One bit of an entry's signature or outcome."""
    data = bytearray(played.file())
    frames = evil.frames(played.file())
    at = len(played.entries) // 2
    data[10 + sum(map(len, frames[: at + 1])) + len(frames[at + 1]) // 2] ^= 1
    return corrupt(bytes(data), Code.FRAME, at)


@attack
def flipped_bit_in_a_frame_that_may_be_skipped(table: str, played: Played) -> Forgery:
    """No hash is over such frames."""
    frames = evil.frames(played.file())
    frame = bytearray(encode_frame(0x83, b"for later"))
    frame[7] ^= 1
    return corrupt(whole([*frames[:-1], bytes(frame), frames[-1]]), Code.FRAME, len(played.entries))


@attack
def flipped_bit_with_a_new_crc(table: str, played: Played) -> Forgery:
    """The frame is right again, END is not."""
    frames = evil.frames(played.file())
    at = len(played.entries)
    frames[at] = with_payload(frames[at], last_entry_redated(played))
    return corrupt(whole(frames), Code.FRAME, len(played.entries))


@attack
def last_entry_altered_under_a_new_end(table: str, played: Played) -> Forgery:
    """Frames and END are right again; the checkpoint signs another tree."""
    leaves = [*played.entries[:-1], last_entry_redated(played)]
    return corrupt(build_file(played.header, leaves, played.notes[-1]), Code.CHECKPOINT, None)


@attack
def entry_altered_under_a_new_end(table: str, played: Played) -> Forgery:
    """In the middle: the next entry names what stood there before."""
    at = len(played.entries) // 2
    entry = evil.entries(played)[at]
    entry.referee_ms += 1
    leaves = [*played.entries[:at], entry.SerializeToString(deterministic=True), *played.entries[at + 1 :]]
    return corrupt(build_file(played.header, leaves, played.notes[-1]), Code.STALE_HEAD, at + 1)


@attack
def another_magic(table: str, played: Played) -> Forgery:
    """The format's version in the first bytes."""
    data = played.file()
    return corrupt(data[:9] + b"\x02" + data[10:], Code.FRAME, 0)


@attack
def line_ends_converted(table: str, played: Played) -> Forgery:
    """A transfer in text mode converts them."""
    return corrupt(played.file().replace(b"\r\n", b"\n"), Code.FRAME, 0)


# --- cuts and lengths -----------------------------------------------------------------------------------------


@attack
def torn_in_a_frame(table: str, played: Played) -> Forgery:
    """An interrupted copy ends so."""
    at = len(played.entries) // 2
    frames = evil.frames(played.file())
    cut = whole([*frames[: at + 1], frames[at + 1][:-3]])
    return Forgery(cut, Verdict.PREFIX, Code.TORN, at)


@attack
def cut_between_two_frames(table: str, played: Played) -> Forgery:
    """A clean prefix."""
    cut = whole(evil.frames(played.file())[: len(played.entries) // 2])
    return Forgery(cut, Verdict.PREFIX, Code.INCOMPLETE, None)


@attack
def without_end(table: str, played: Played) -> Forgery:
    """All entries and the checkpoint are there."""
    return Forgery(whole(evil.frames(played.file())[:-1]), Verdict.PREFIX, Code.INCOMPLETE, None)


@attack
def without_checkpoint_and_end(table: str, played: Played) -> Forgery:
    """All entries are there."""
    return Forgery(whole(evil.frames(played.file())[:-2]), Verdict.PREFIX, Code.INCOMPLETE, None)


@attack
def without_checkpoint_under_a_new_end(table: str, played: Played) -> Forgery:
    """END counts what is left."""
    frames = evil.frames(played.file())
    return corrupt(evil.ended([*frames[:-2], frames[-1]]), Code.FRAME, len(played.entries))


@attack
def length_that_reaches_over_the_rest(table: str, played: Played) -> Forgery:
    """So that the rest of the file looks like a torn tail."""
    at = len(played.entries) // 2
    frames = evil.frames(played.file())
    rest = b"".join(frames[at + 1 :])
    longer = min(len(rest), 32 * 1024)
    data = whole(frames[: at + 1]) + longer.to_bytes(4, "big") + rest[4:]
    return corrupt(data, Code.FRAME, at)


@attack
def length_zero(table: str, played: Played) -> Forgery:
    """No frame is empty."""
    frames = evil.frames(played.file())
    return corrupt(whole([frames[0], bytes(4) + frames[1][4:], *frames[2:]]), Code.FRAME, 0)


@attack
def greatest_length(table: str, played: Played) -> Forgery:
    """4 GiB are announced."""
    frames = evil.frames(played.file())
    return corrupt(whole([frames[0], b"\xff" * 4 + frames[1][4:], *frames[2:]]), Code.FRAME, 0)


# --- frames -----------------------------------------------------------------------------------------------------


@attack
def two_headers(table: str, played: Played) -> Forgery:
    """The second as good as the first, under an END that fits."""
    frames = evil.frames(played.file())
    return corrupt(evil.ended([frames[0], *frames]), Code.FRAME, 0)


@attack
def two_checkpoints(table: str, played: Played) -> Forgery:
    """An old one before the last, under an END that fits."""
    frames = evil.frames(played.file())
    old = encode_frame(FrameType.CHECKPOINT, played.notes[0])
    return corrupt(evil.ended([*frames[:-2], old, *frames[-2:]]), Code.FRAME, len(played.entries))


@attack
def doubled_entry(table: str, played: Played) -> Forgery:
    """Under an END that fits."""
    frames = evil.frames(played.file())
    at = len(played.entries) // 2
    return corrupt(evil.ended([*frames[: at + 2], *frames[at + 1 :]]), Code.STALE_HEAD, at + 1)


@attack
def dropped_entry(table: str, played: Played) -> Forgery:
    """Under an END that fits."""
    frames = evil.frames(played.file())
    at = len(played.entries) // 2
    return corrupt(evil.ended([*frames[: at + 1], *frames[at + 2 :]]), Code.STALE_HEAD, at)


@attack
def swapped_entries(table: str, played: Played) -> Forgery:
    """Under an END that fits."""
    frames = evil.frames(played.file())
    at = len(played.entries) // 2
    frames[at + 1], frames[at + 2] = frames[at + 2], frames[at + 1]
    return corrupt(evil.ended(frames), Code.STALE_HEAD, at)


@attack
def entry_of_another_game(table: str, played: Played) -> Forgery:
    """Spliced in, under an END that fits."""
    frames = evil.frames(played.file())
    others = evil.frames(other_game(table).file())
    at = min(len(frames), len(others)) // 2 - 1
    return corrupt(evil.ended([*frames[: at + 1], others[at + 1], *frames[at + 2 :]]), Code.WRONG_GAME, at)


@attack
def entries_of_another_game(table: str, played: Played) -> Forgery:
    """All of them, under this game's header and checkpoint."""
    other = other_game(table)
    return corrupt(build_file(played.header, other.entries, played.notes[-1]), Code.CHECKPOINT, None)


@attack
def entry_of_another_course(table: str, played: Played) -> Forgery | None:
    """The other history is of the same game and signed by the referee as well: two copies are mixed."""
    other = other_course(table)
    at = split(played, other)
    leaves = [*played.entries[:at], other.entries[at], *played.entries[at + 1 :]]
    return corrupt(build_file(played.header, leaves, played.notes[-1]), Code.STALE_HEAD, at + 1)


@attack
def unknown_critical_frame(table: str, played: Played) -> Forgery:
    """Its meaning is unknown."""
    frames = evil.frames(played.file())
    unknown = raw_frame(0x7F, b"x")
    return corrupt(evil.ended([*frames[:-1], unknown, frames[-1]]), Code.FRAME, len(played.entries))


@attack
def bytes_after_end(table: str, played: Played) -> Forgery:
    """Anything."""
    return corrupt(played.file() + b"more", Code.FRAME, len(played.entries))


@attack
def frame_after_end(table: str, played: Played) -> Forgery:
    """A good one, of a type that may be skipped."""
    more = encode_frame(0x83, b"for later")
    return corrupt(played.file() + more, Code.FRAME, len(played.entries))


@attack
def end_of_other_frames(table: str, played: Played) -> Forgery:
    """END with the right count and another hash."""
    frames = evil.frames(played.file())
    end = log_pb2.End(count=len(played.entries), frames_hash=bytes(32))
    frames[-1] = with_payload(frames[-1], end.SerializeToString(deterministic=True))
    return corrupt(whole(frames), Code.FRAME, len(played.entries))


@attack
def more_old_checkpoints_than_entries(table: str, played: Played) -> Forgery:
    """Each costs the auditor a signature."""
    frames = evil.frames(played.file())
    old = encode_frame(FrameType.OLD_CHECKPOINT, played.notes[0])
    return corrupt(whole([*frames[:2], old, old, *frames[2:]]), Code.LIMIT, 1)


@attack
def long_frame_that_may_be_skipped(table: str, played: Played) -> Forgery:
    """It has 64 KiB and a byte."""
    frames = evil.frames(played.file())
    return corrupt(whole([frames[0], raw_frame(0x9C, bytes(64 * 1024 + 1)), *frames[1:]]), Code.FRAME, 0)


@attack
def worthless_certificate(table: str, played: Played) -> Forgery | None:
    """A frame that calls itself a certificate of an entry."""
    if not table.startswith("alhambra"):
        return None
    frames = evil.frames(played.file())
    proof = encode_proof(1, bytes(32), b"trust me")
    frame = encode_frame(FrameType.CERTIFICATE, proof)
    return corrupt(whole([*frames[:-2], frame, *frames[-2:]]), Code.PROOF, 1)


# --- the checkpoint -----------------------------------------------------------------------------------------------


@attack
def older_checkpoint(table: str, played: Played) -> Forgery:
    """The referee's, of fewer entries."""
    return corrupt(with_note(played, played.notes[-2]), Code.CHECKPOINT, None)


@attack
def checkpoint_of_another_game(table: str, played: Played) -> Forgery:
    """The referee's, as all its games have one key."""
    return corrupt(with_note(played, other_game(table).notes[-1]), Code.CHECKPOINT, None)


@attack
def signature_line_stripped(table: str, played: Played) -> Forgery:
    """The text without any signature."""
    note = played.notes[-1]
    return corrupt(with_note(played, note[: note.index(b"\n\n") + 2]), Code.NOTE, None)


@attack
def signature_line_doubled(table: str, played: Played) -> Forgery:
    """One line stands there twice."""
    note = played.notes[-1]
    return corrupt(with_note(played, note + note[note.index(b"\n\n") + 2 :]), Code.NOTE, None)


@attack
def signature_of_zeros(table: str, played: Played) -> Forgery:
    """Under the referee's name and key id, over a tree with another last entry."""
    leaves = [*played.entries[:-1], last_entry_redated(played)]
    note = Note.parse(evil.head(played, leaves))
    line = replace(note.signatures[0], signature=bytes(64))
    return corrupt(
        build_file(played.header, leaves, replace(note, signatures=(line,)).encode()), Code.NOTE_SIGNATURE, None
    )


@attack
def signed_by_a_stranger(table: str, played: Played) -> Forgery:
    """With a key of the copy's holder, under the referee's name, over a tree with another last entry."""
    leaves = [*played.entries[:-1], last_entry_redated(played)]
    root = merkle.root([merkle.leaf_hash(leaf) for leaf in leaves])
    note = CheckpointSigner(ORIGIN, FORGER).sign(played.record.game_id, len(leaves), root)
    data = build_file(played.header, leaves, note)
    return Forgery(data, Verdict.UNTRUSTED_KEY, Code.UNTRUSTED_KEY, None)


@attack
def referees_line_replaced_by_a_strangers(table: str, played: Played) -> Forgery:
    """The text is the referee's, the only signature is not."""
    note = Note.parse(played.notes[-1])
    line = NoteSignature("stranger.example", bytes(4), FORGER.sign(note.text.encode()))
    data = with_note(played, replace(note, signatures=(line,)).encode())
    return Forgery(data, Verdict.UNTRUSTED_KEY, Code.UNTRUSTED_KEY, None)


@attack
def header_of_another_producer(table: str, played: Played) -> Forgery:
    """Under the same entries and an END that fits."""
    header = log_pb2.Header.FromString(played.header)
    header.producer = "somebody else"
    data = build_file(header.SerializeToString(deterministic=True), played.entries, played.notes[-1])
    return corrupt(data, Code.HEADER, 0)


@attack
def entry_that_decodes_to_the_same(table: str, played: Played) -> Forgery:
    """Its game id twice: the value is the same, the bytes are not."""
    first = b"\x0a\x10" + played.record.game_id
    assert played.entries[-1].startswith(first)
    leaves = [*played.entries[:-1], first + played.entries[-1]]
    return corrupt(build_file(played.header, leaves, played.notes[-1]), Code.MALFORMED, len(leaves) - 1)


@attack
def an_older_file_against_a_receipt(table: str, played: Played) -> Forgery:
    """The file as it was some entries ago, for the holder of a later checkpoint."""
    size = len(played.entries) - 2
    data = build_file(played.header, played.entries[:size], played.notes[size - 1])
    receipts = (played.notes[-1],)
    return Forgery(data, Verdict.STALE, Code.STALE, None, Policy(SIGNER.verifier, receipts=receipts))


@attack
def anothers_file_under_the_pinned_key(table: str, played: Played) -> Forgery:
    """Everything is right, but for whose key it is."""
    policy = replace(PINNED, verifier=CheckpointSigner(ORIGIN, FORGER).verifier)
    return Forgery(played.file(), Verdict.UNTRUSTED_KEY, Code.UNTRUSTED_KEY, None, policy)
