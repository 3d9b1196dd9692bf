"""The verifier in JavaScript, written from docs/log-format.md: below the rules it says what the auditor says."""

from __future__ import annotations

import json
import random
import re
import subprocess
from base64 import b64encode
from collections.abc import Callable, Iterator
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from hatch_build import verifier_page
from referee.games import registry as rules
from referee.games.table_rules import VERSION
from referee.log import merkle
from referee.log.audit import audit
from referee.log.certificates import encode_proof
from referee.log.engines import installed
from referee.log.entry import Clock
from referee.log.errors import LogError
from referee.log.file import MAGIC, FrameType, encode_frame
from referee.log.keys import PublicKey
from referee.log.note import CheckpointSigner
from referee.log.remarks import commitment, encode_remark, is_plain
from referee.log.v1 import log_pb2
from referee.log.verdict import Policy, Verdict
from referee.text.words.catalogue import load
from tests.attacks import corpus
from tests.attacks.everything import ATTACKS
from tests.attacks.forge import act_in, acts, put_act, reopened
from tests.log import evil, games, seated
from tests.log import format_vectors as vectors
from tests.log.games import ORIGIN, SIGNER, Played, abort, join_and_reveal, key, play, seat_key, step
from tests.log.registered import KINDS, at_random, codec, header, opened, play_with_attempts
from tests.log.verifier import FOLDER, node, verify
from tests.log.verify_js import (
    NAMES,
    TRUSTED,
    Job,
    agree,
    dealt,
    edits,
    flipped,
    linked,
    running,
    small,
    verified,
    why_not,
    with_longer_intent,
)
from tests.sizes import Part, in_parts, sample_of


@pytest.fixture(autouse=True)
def _node() -> None:
    if why := why_not():
        pytest.skip(why)


@in_parts(2)
@pytest.mark.parametrize("rules_id", NAMES)
def test_honest_games(rules_id: str, part: Part) -> None:
    """Dealt, declared and scribed, with everybody's key and receipt."""
    jobs: list[Job] = []
    for kind in part.of(KINDS.values()):
        terms = dict(kind)
        if "scribed" in terms:
            terms["scribed"] = tuple(seat for seat in terms["scribed"] if seat < 2)
        played = play(opened(rules_id, **terms), at_random(1))
        jobs.append((played.file(), TRUSTED))
        seats = {i: seat_key(i).public.raw for i, seat in enumerate(played.record.opened.seats) if not seat.scribed}
        scribes = {1: key("scribe 1").public.raw} if played.record.opened.scribe_keys else {}
        jobs.append((played.file(), Policy(SIGNER.verifier, seats, scribes, (played.notes[0], played.notes[-1]))))
    assert agree(jobs) == {Verdict.COMPLETE}


@pytest.mark.parametrize("rules_id", NAMES)
def test_games_that_are_aborted(rules_id: str) -> None:
    """At several moments; one with recorded attempts."""
    jobs: list[Job] = []
    for number in (0, 1, 7):
        for is_dealt in (True, False):
            stopped = opened(rules_id, dealt=is_dealt)
            if number:
                join_and_reveal(stopped)
            for _ in range(number):
                step(stopped, at_random(number))
            jobs.append((abort(stopped).file(), TRUSTED))
    attempts = abort(play_with_attempts(opened(rules_id, recorded=True), seed=3, acts=12))
    jobs.append((attempts.file(), TRUSTED))
    assert agree(jobs) == {Verdict.COMPLETE}


@in_parts(3)
@pytest.mark.parametrize("rules_id", NAMES)
def test_games_that_go_on(rules_id: str, part: Part) -> None:
    whole = dealt(rules_id)
    lengths = part.of(range(0, len(whole.entries) + 1, 5))
    assert agree([(running(whole, n), TRUSTED) for n in lengths]) == {Verdict.PREFIX}


def test_how_far_a_pinned_key_holds_is_told_alike() -> None:
    """Changed by its seat, changed by an arbiter, the keys before and after."""
    names = {0: ("seat 0", "seat 0, later"), 2: ("seat 2", "seat 2, as an arbiter ruled")}
    pins = [{seat: key(name).public.raw} for seat, both in names.items() for name in both]
    for rules_id in NAMES:
        data = seated.of(rules_id, "changed").file()
        jobs = [(data, Policy(SIGNER.verifier, pinned)) for pinned in pins]
        assert agree(jobs) == {Verdict.COMPLETE}
        for (_, policy), theirs in zip(jobs, verified(jobs), strict=True):
            (seat,) = policy.seat_keys
            standing = audit(BytesIO(data), policy).seats[seat].standing.removeprefix("pinned")
            assert " entry " in standing
            assert f"player {seat + 1}: the key that you gave holds{standing}" in theirs["remarks"]


@pytest.mark.parametrize("is_dealt", [True, False], ids=["dealt", "declared"])
def test_a_key_in_two_roles_and_one_player_in_several_seats_are_commented_on_alike(is_dealt: bool) -> None:
    """Seat 0 is an arbiter; seat 1 a scribe and the referee; seat 2 has seat 0's player and a key of its own."""
    begun = games.game_open(
        header("kingdomino"),
        dealt=is_dealt,
        seats=3,
        rules=("kingdomino", 1),
        tables=codec("kingdomino").encode_components(None),
    )
    begun.arbiter_keys.append(seat_key(0).public.raw)
    begun.scribe_keys[:] = [seat_key(1).public.raw, key("scribe 1").public.raw]
    begun.seats[2].player = begun.seats[0].player
    played = games.start(begun, header=header("kingdomino"), engines=installed())
    join_and_reveal(played)
    abort(played)
    referee = CheckpointSigner(ORIGIN, seat_key(1))
    note = referee.sign(played.record.game_id, played.record.size, played.record.root())
    job = (played.file(note=note), Policy(referee.verifier))
    assert agree([job]) == {Verdict.COMPLETE}
    expected = [
        "player 1 plays with the key of arbiter 1",
        "player 2 plays with the key of scribe 0",
        "player 2 plays with the referee's own key",
        "the game was opened with one person as players 1, 3",
    ]
    (theirs,) = verified([job])
    assert [each for each in theirs["remarks"] if each in expected] == expected
    assert [each for each in audit(BytesIO(job[0]), job[1]).remarks if each in expected] == expected


@pytest.mark.parametrize(
    ("payload", "code"),
    [
        pytest.param(lambda _: bytes(65_536), "MALFORMED", id="zeros"),
        pytest.param(lambda _: b"\x08", "MALFORMED", id="cut off"),
        pytest.param(lambda _: encode_proof(1, b"short", b"x"), "MALFORMED", id="a short leaf"),
        pytest.param(lambda leaves: encode_proof(len(leaves), bytes(32), b"x"), "PROOF", id="of an entry to come"),
        pytest.param(lambda leaves: encode_proof(6, leaves[7], b"x"), "PROOF", id="another leaf"),
    ],
)
def test_the_form_of_a_certificate(payload: Callable[[list[bytes]], bytes], code: str) -> None:
    played = dealt("kingdomino")
    frames = evil.frames(played.file())
    proof = encode_frame(FrameType.CERTIFICATE, payload([merkle.leaf_hash(entry) for entry in played.entries]))
    job = (evil.ended([*frames[:-2], proof, *frames[-2:]]), TRUSTED)
    assert agree([job]) == {Verdict.CORRUPT}
    (theirs,) = verified([job])
    assert (theirs["verdict"], theirs["code"], theirs["layer"]) == ("CORRUPT", code, "certificates")


def test_what_is_not_checked_is_said_with_the_verdict() -> None:
    """By the command, and on the page, whose documentation has the same words."""
    page = " ".join((FOLDER.parents[1] / "docs" / "web.md").read_text().split())
    assert f'"{load("web")("verify.verdict.COMPLETE")}"' in page
    (theirs,) = verified([(dealt("kingdomino").file(), TRUSTED)])
    assert theirs["message"].endswith(
        "not checked: the rules of the game, whether chance is the deck's, what certificates prove"
    )


# --- attacks ---------------------------------------------------------------------------------------------------


@in_parts(4)
def test_damage_of_a_small_file(part: Part) -> None:
    """Cut at every offset; every seventh bit flipped, so that each byte has its turn."""
    data = corpus.small_game("rollwrite").file()
    assert agree([(data[:size], TRUSTED) for size in part.of(range(len(data)))]) == {Verdict.PREFIX}
    assert agree([(flipped(data, bit), TRUSTED) for bit in part.of(range(0, len(data) * 8, 7))]) == {Verdict.CORRUPT}


@in_parts(2)
@pytest.mark.parametrize("rules_id", NAMES)
def test_damage_of_whole_games(rules_id: str, part: Part) -> None:
    data, rng = dealt(rules_id).file(), random.Random(2)
    flips = [flipped(data, rng.randrange(len(data) * 8)) for _ in range(12)]
    cuts = [data[: rng.randrange(len(data))] for _ in range(12)]
    assert agree([(each, TRUSTED) for each in part.of(flips + cuts)]) == {Verdict.CORRUPT, Verdict.PREFIX}


def framed(frame: bytes, payload: bytes | None = None, kind: int | None = None) -> bytes:
    """Return the frame with another payload or type and a CRC that is right."""
    return encode_frame(frame[4] if kind is None else kind, frame[5:-4] if payload is None else payload)


def in_other_orders(frames: list[bytes], other: list[bytes]) -> Iterator[bytes]:
    """Doubled, left out, swapped, retyped, some from another game; with an END of their own or not."""
    orders = []
    for i in range(len(frames)):
        orders += [[*frames[: i + 1], *frames[i:]], [*frames[:i], *frames[i + 1 :]]]
        orders += [[*frames[:i], *frames[i : i + 2][::-1], *frames[i + 2 :]], [*frames[:i], other[0], *frames[i:]]]
        orders += [[*frames[:i], other[1], *frames[i + 1 :]], [*frames[:i], other[-2], *frames[i + 1 :]]]
        for kind in (0x01, 0x02, 0x03, 0x04, 0x80, 0x81, 0x82, 0xFF):
            orders.append([*frames[:i], framed(frames[i], frames[i][5:-4][:64], kind), *frames[i:]])
    for order in orders:
        yield MAGIC + b"".join(order)
        yield evil.ended(order)


def with_other_heads(data: bytes) -> Iterator[bytes]:
    """Frames with other lengths and other types."""
    at = len(MAGIC)
    for frame in evil.frames(data):
        left = len(data) - at - 9
        lengths = (0, 1, len(frame) - 10, len(frame) - 8, left, left + 1, left + 99, 2**15, 2**18, 2**31, 2**32 - 1)
        for length in lengths:
            yield data[:at] + length.to_bytes(4, "big") + data[at + 4 :]
        for kind in (0, 1, 2, 3, 4, 5, 6, 0x7F, 0x80, 0x82, 0x83, 0xFF):
            yield data[: at + 4] + bytes([kind]) + data[at + 5 :]
            yield data[:at] + framed(frame, frame[5:-4][:64], kind)[:-1] if kind in (1, 2, 5, 0x83) else data[:at]
        at += len(frame)


@in_parts(3)
def test_frames(part: Part) -> None:
    data = small().file()
    frames = evil.frames(data)
    files = [*in_other_orders(frames, evil.frames(abort(opened("rollwrite")).file())), *with_other_heads(data)]
    files += [data + extra for extra in (b"\0", b"\0" * 4, frames[-1], frames[1], data)]
    files += [b"", b"\x89", b"\x89TLS", MAGIC, MAGIC[:-1] + b"\x02", b"PK"]
    some = part.of(random.Random(5).sample(files, 300))
    found = {Verdict.CORRUPT, Verdict.PREFIX, Verdict.UNSUPPORTED, Verdict.COMPLETE}
    assert agree([(each, TRUSTED) for each in some]) == found


def test_a_last_frame_that_reaches_beyond_the_file() -> None:
    """Whole but for that."""
    data, last = small().file(), len(evil.frames(small().file())[-1])
    end = len(data) - last
    files = [data[:end] + bytes([0, 0, 0, length]) + data[end + 4 :] for length in range(last - 8, 65)]
    assert agree([(each, TRUSTED) for each in files]) <= {Verdict.CORRUPT, Verdict.PREFIX}


WITNESS = CheckpointSigner("witness.example", key("witness"))
SAME_NAME = CheckpointSigner(ORIGIN, key("another referee"))


def altered_notes(played: Played) -> list[bytes]:
    """Signature lines stripped, doubled, of others, altered; texts that parsers could read differently."""
    note, size = played.notes[-1].decode(), played.record.size
    text, _, line = note.rpartition("\n\n")
    theirs = WITNESS.sign(played.record.game_id, size, played.record.root()).decode().rpartition("\n\n")[2]
    lines = ("", line * 2, theirs, line + theirs, theirs + line, theirs * 17, line + "\n")
    numbers = ("0", f"0{size}", f"+{size}", f" {size}", "9" * 19, "9" * 20, "\u0661")
    notes = [
        *(f"{text}\n\n{each}" for each in lines),
        *(note.replace("\n", end) for end in ("\r\n", "\n\n", " \n")),
        *(f"{text}\nextension\n\n{line}", f"\n{note}", note[:-1], note + " ", "\ufeff" + note, note.upper()),
        *(note.replace("\u2014", "-"), note.replace(ORIGIN, ORIGIN + "\u200b"), note.replace(ORIGIN, ORIGIN + "+")),
        *(re.sub(r"\n\d+\n", f"\n{number}\n", note) for number in numbers),
        *(note.replace("=", ""), re.sub(r"(.)=\n", r"B=\n", note), note.replace("/g/", "/h/")),
        *("x", "\n\n", "\0" + note),
        f"{text}\n\n\u2014 {ORIGIN} " + b64encode(SIGNER.verifier.id).decode() + "\n" + line,
        f"{text}\n\n\u2014 witness.example AAAAAAA=\n" + line,
        f"{text}\n\n\u2014 witness.example AAAAAA==\n" + line,
    ]
    return [each.encode() for each in notes]


def other_notes(played: Played) -> list[bytes]:
    """Notes of another game, size, tree or key, with wrong signatures, and bytes that are no text."""
    identity, size, root, note = played.record.game_id, played.record.size, played.record.root(), played.notes[-1]
    heads = [
        (bytes(16), size, root),
        (identity, size - 1, root),
        (identity, size + 1, root),
        (identity, size, bytes(32)),
    ]
    wrong = [note[:-10] + b"AAAAAAA==\n", flipped(note, (len(note) - 20) * 8), b"\xff" + note, note + b"x" * 16000]
    others = [each.sign(identity, size, root) for each in (SAME_NAME, WITNESS)]
    return [*(SIGNER.sign(*head) for head in heads), *others, *wrong]


def test_notes() -> None:
    played = small()
    files = [played.file(note=each) for each in (*altered_notes(played), *other_notes(played))]
    policies = (TRUSTED, Policy(), Policy(SAME_NAME.verifier), Policy(WITNESS.verifier))
    seen = agree([(data, policy) for data in files for policy in policies])
    assert seen >= {Verdict.COMPLETE, Verdict.CORRUPT, Verdict.UNTRUSTED_KEY}


@in_parts(3)
def test_receipts_and_older_checkpoints(part: Part) -> None:
    """STALE, FORK, an altered copy, other games, checkpoints that come late: as receipts and in the file."""
    played = small()
    n, identity = len(played.entries), played.record.game_id
    fork = SIGNER.sign(identity, 3, bytes(32))
    later = SIGNER.sign(identity, n + 2, bytes(32))
    elsewhere = SIGNER.sign(bytes(16), 3, bytes(32))
    cut = evil.signed_file(played, played.entries[:-2])
    altered = flipped(played.entries[3], len(played.entries[3]) * 8 - 1)
    copy = games.build_file(played.header, [*played.entries[:3], altered, *played.entries[4:]], played.notes[-1])
    open_file = running(played, n - 1)
    receipts: list[tuple[bytes, ...]] = [(note,) for note in (*played.notes, fork, later, elsewhere)]
    receipts += [(fork, later), (later, fork), (elsewhere, fork), tuple(played.notes)]
    files = [played.file(), cut, copy, open_file, MAGIC, running(played, 0)]
    jobs = [(data, Policy(SIGNER.verifier, receipts=notes)) for data in files for notes in receipts]
    frames = evil.frames(played.file())
    heads = (
        played.notes[2],
        fork,
        later,
        elsewhere,
        b"nonsense",
        CheckpointSigner(ORIGIN, key("x")).sign(identity, 3, bytes(32)),
    )
    for head in heads:
        for at in range(len(frames) + 1):
            mixed = [*frames[:at], encode_frame(0x80, head), *frames[at:]]
            jobs += [
                (MAGIC + b"".join(mixed), policy) for policy in (TRUSTED, Policy(SIGNER.verifier, receipts=(later,)))
            ]
            jobs.append((MAGIC + b"".join(mixed[: n - 1]), TRUSTED))
    found = {Verdict.COMPLETE, Verdict.PREFIX, Verdict.CORRUPT, Verdict.STALE, Verdict.FORK}
    assert agree(part.of(jobs)) >= found


@in_parts(2)
def test_pinned_keys(part: Part) -> None:
    scribed = opened("rollwrite", scribed=(1,))
    join_and_reveal(scribed)
    assert step(scribed, at_random(1))
    assert step(scribed, at_random(1))
    abort(scribed)
    never = abort(opened("rollwrite"))
    names = ("seat 0", "seat 1", "scribe 0", "nobody")
    pins = [{seat: key(name).public.raw} for seat in (0, 1, 2, 300) for name in names]
    pins.append({i: seat_key(i).public.raw for i in (0, 1)})
    files = [small().file(), scribed.file(), never.file(), running(small(), 3), running(small(), 4)]

    def without_join(entries: list[log_pb2.Entry]) -> None:
        del entries[1]

    files.append(evil.forged(small(), without_join, players=True))
    jobs = [(data, Policy(SIGNER.verifier, seat_keys=seats)) for data in files for seats in pins]
    jobs += [(data, Policy(SIGNER.verifier, scribe_keys=seats)) for data in files for seats in pins]
    assert agree(part.of(jobs)) >= {Verdict.COMPLETE, Verdict.UNTRUSTED_KEY}


# --- entries altered, linked and signed again ----------------------------------------------------------------------


@in_parts(3)
def test_entries_altered(part: Part) -> None:
    """Every edit, with the referee's key alone or with everybody's; some without linking the entries again."""
    played, rng = small(), random.Random(6)
    jobs: list[Job] = [(evil.signed_file(played, played.entries[:-1]), TRUSTED)]  # without the seed, in every part
    for _, edit in part.of(edits(played)):
        data = linked(played, edit, players=rng.random() < 0.5)
        if data is not None:
            jobs.append((data, TRUSTED))
        if rng.random() < 0.8:
            continue
        unlinked = evil.entries(played)
        edit(unlinked)
        jobs.append(
            (evil.signed_file(played, [entry.SerializeToString(deterministic=True) for entry in unlinked]), TRUSTED)
        )
    assert agree(jobs) >= {Verdict.COMPLETE, Verdict.CORRUPT, Verdict.RULES, Verdict.UNSUPPORTED, Verdict.UNDISCLOSED}


@in_parts(2)
@pytest.mark.parametrize("rules_id", NAMES)
def test_entries_of_whole_games_altered(rules_id: str, part: Part) -> None:
    played, rng = dealt(rules_id), random.Random(3)
    several = part.of(enumerate(rng.sample(list(edits(played)), 12)))
    files = [linked(played, edit, players=number // 2 % 2 == 0) for number, (_, edit) in several]
    assert len(agree([(data, TRUSTED) for data in files if data is not None])) > 1


@in_parts(3)
def test_bytes_of_entries_altered(part: Part) -> None:
    """One bit, one byte more or less anywhere in an entry or the header, in frames and under a head that fit."""
    played, rng = small(), random.Random(4)
    jobs: list[Job] = []
    for _ in range(200):
        payloads = [played.header, *played.entries]
        which = rng.randrange(len(payloads))
        data, at = payloads[which], rng.randrange(len(payloads[which]))
        extra = bytes([rng.randrange(256)])
        payloads[which] = rng.choice(
            [flipped(data, at * 8 + rng.randrange(8)), data[:at] + extra + data[at:], data[:at] + data[at + 1 :]]
        )
        header, entries = payloads[0], payloads[1:]
        jobs.append((games.build_file(header, entries, evil.head(played, entries)), TRUSTED))
    assert Verdict.CORRUPT in agree(part.of(jobs))


@in_parts(3)
def test_bytes_that_decoders_read_differently(part: Part) -> None:
    """Section 3, in entries, intents and GameOpen, each change signed by everybody."""
    played = small()
    extras = [
        b"\xb8\x3e\x01",
        b"\x12\x03abc",
        b"\x22\x00",
        b"\x10\x07",
        b"\x20\x80\x00",
        b"\x5b\x5c",
        b"\x7a\x00",
        b"\x72\x02\x08\x00",
    ]
    jobs: list[Job] = []
    for extra in extras:
        for at in range(len(played.entries)):
            leaves = list(played.entries)
            leaves[at] += extra
            jobs.append((evil.signed_file(played, leaves), TRUSTED))
        jobs += [(evil.signed_file(played, with_longer_intent(played, at, extra)), TRUSTED) for at in range(1, 6)]
    identity = b"\x0a\x10" + played.record.game_id
    for at in range(1, len(played.entries)):
        others = [
            (b"\x10" + bytes([at]), b"\x10" + bytes([at | 0x80, 0])),  # a varint that is not the shortest
            (b"\x0a\x10", b"\x0a\x90\x00"),
            (identity, identity * 2),
            (identity + b"\x10" + bytes([at]), b"\x10" + bytes([at]) + identity),
        ]
        for old, new in others:
            leaves = list(played.entries)
            leaves[at] = leaves[at].replace(old, new, 1)
            jobs.append((evil.signed_file(played, leaves[: at + 1]), TRUSTED))
    assert Verdict.CORRUPT in agree(part.of(jobs))


@pytest.mark.parametrize(
    "table", sample_of((name for name, table in corpus.TABLES.items() if table.rules_id in NAMES), 2)
)
def test_the_corpus_of_attacks(table: str) -> None:
    played = corpus.game(table)
    forgeries = [attack(table, played) for attack in ATTACKS.values()]
    agree([(forgery.data, forgery.policy) for forgery in forgeries if forgery is not None])


@pytest.mark.parametrize("rules_id", NAMES)
def test_games_by_the_rules_of_the_table(rules_id: str) -> None:
    """Whole, still running, and by terms that make no sense or are of a later version."""
    jobs: list[Job] = []
    for name in ("contested", "corrected", "changed", "undealt"):
        played = seated.of(rules_id, name)
        jobs += [(played.file(), TRUSTED), *((running(played, n), TRUSTED) for n in range(8, len(played.entries), 5))]
    assert agree(jobs) == {Verdict.COMPLETE, Verdict.PREFIX}
    jobs = []
    played = seated.of(rules_id, "contested")
    for name, value in (
        *(
            ("table_rules", 0),
            ("table_rules", VERSION + 1),
            ("strikes", 33),
            ("penalty_ms", 2_592_000_001),
            ("illegal_moves", 0),
            ("grace_ms", 0),
        ),
        *(
            ("protest_ms", 2_592_000_001),
            ("absence_ms", 2_592_000_001),
            ("clock", None),
            ("clock", log_pb2.ClockTerms()),
        ),
        ("clock", log_pb2.ClockTerms(delay=log_pb2.Delay(base_ms=1, delay_ms=86_400_001))),
        ("clock", log_pb2.ClockTerms(per_move=log_pb2.PerMove())),
        ("clock", log_pb2.ClockTerms(correspondence=log_pb2.Correspondence(days=31))),
        ("clock", log_pb2.ClockTerms(per_move=log_pb2.PerMove(move_ms=1), lag_ms=10_001)),
    ):

        def change(opened: log_pb2.GameOpen, name: str = name, value: Any = value) -> None:
            terms: Any = opened.terms
            terms.ClearField(name)
            if isinstance(value, int):
                setattr(terms, name, value)
            elif value is not None:
                terms.clock.CopyFrom(value)

        jobs.append((reopened(played, change), TRUSTED))
    assert agree(jobs) >= {Verdict.CORRUPT, Verdict.UNSUPPORTED}


def test_terms_name_a_grace_from_version_3_on() -> None:
    """A grace is an hour at the most; 0 is none."""

    def aborted(version: int, grace_ms: int) -> Played:
        game = rules.get("kingdomino")
        tables = codec(game.rules_id).encode_components(None)
        made = games.game_open(header(game.rules_id), rules=(game.rules_id, game.version), tables=tables)
        made.terms.table_rules, made.terms.grace_ms = version, grace_ms
        played = games.start(made, header=header(game.rules_id), engines=installed())
        played.keep(played.record.write(log_pb2.GameEnd(ending=log_pb2.ENDING_ABORTED), Clock(played.time_ms)))
        while (event := played.record.due(0)) is not None:
            played.keep(played.record.write(event, Clock(played.time_ms)))
        return played

    assert agree([(aborted(3, grace_ms).file(), TRUSTED) for grace_ms in (0, 3_600_000)]) == {Verdict.COMPLETE}
    for version, grace_ms in ((2, 0), (3, 3_600_001)):
        with pytest.raises(LogError, match="grace_ms"):
            aborted(version, grace_ms)


def test_acts_of_the_table_that_are_malformed() -> None:
    """Commitments of other lengths, no ruling, no seat, unknown fields."""
    played = seated.of("kingdomino", "contested")

    def put(at: int, change: Callable[[log_pb2.Intent], object]) -> bytes:
        entries = evil.entries(played)
        act = act_in(entries[at])
        change(act)
        put_act(entries[at], act)
        return evil.signed_file(played, evil.relinked(entries, players=True))

    jobs: list[Job] = []
    for at in acts(played, "rule"):
        jobs.append((put(at, lambda act: setattr(act.rule, "remark", b"x")), TRUSTED))
        jobs.append((put(at, lambda act: setattr(act.rule, "remark", bytes(32))), TRUSTED))
        jobs.append((put(at, lambda act: act.rule.ClearField("ruling")), TRUSTED))
    for at in acts(played, "protest"):
        jobs.append((put(at, lambda act: setattr(act.protest, "remark", bytes(31))), TRUSTED))
        jobs.append((put(at, lambda act: act.change_key.SetInParent()), TRUSTED))
        jobs.append((put(at, lambda act: setattr(act.protest, "rule_id", "no rule")), TRUSTED))
    for event in (log_pb2.Absent(since_ms=1), log_pb2.StandIn(move=b"x"), log_pb2.Timeout(), log_pb2.Interrupted()):
        entries = evil.entries(played)
        name = next(f.name for f in log_pb2.Entry.DESCRIPTOR.fields if f.message_type is event.DESCRIPTOR)
        getattr(entries[-2], name).CopyFrom(event)
        jobs.append((evil.signed_file(played, evil.relinked(entries)), TRUSTED))
    assert agree(jobs) >= {Verdict.CORRUPT, Verdict.RULES, Verdict.UNSUPPORTED}


def _of_later_rules(header: log_pb2.Header, opened: log_pb2.GameOpen) -> None:
    header.rules_version = opened.rules_version = 99


def _of_a_later_format(header: log_pb2.Header, opened: log_pb2.GameOpen) -> None:
    opened.terms.table_rules = 99


@pytest.mark.parametrize(
    ("change", "decisive"),
    [(_of_later_rules, Verdict.CORRUPT), (_of_a_later_format, Verdict.UNSUPPORTED)],
)
def test_unknown_rules_hide_no_damage(change: Callable[..., None], decisive: Verdict) -> None:
    """Damage is damage whatever the game's rules are; a later log format may have fields that look like damage."""
    played = opened("rollwrite", dealt=False)
    join_and_reveal(played)
    abort(played)

    def later(*, is_damaged: bool) -> bytes:
        entries = evil.entries(played)
        first = log_pb2.GameOpen.FromString(entries[0].open)
        header = log_pb2.Header.FromString(played.header)
        change(header, first)
        first.header_hash = sha256(header.SerializeToString(deterministic=True)).digest()
        entries[0].open = first.SerializeToString(deterministic=True)
        for entry in entries:
            entry.game_id = sha256(entries[0].open).digest()[:16]
        leaves = evil.relinked(entries, players=True)
        if is_damaged:
            leaves[-1] += b"\xfa\x01\x01x"
        signed = SIGNER.sign(entries[0].game_id, len(leaves), merkle.root([merkle.leaf_hash(leaf) for leaf in leaves]))
        return games.build_file(header.SerializeToString(deterministic=True), leaves, signed)

    assert agree([(later(is_damaged=False), TRUSTED)]) == {Verdict.UNSUPPORTED}
    assert agree([(later(is_damaged=True), TRUSTED)]) == {decisive}


SALT = b"s" * 16


def text(seq: int, words: str = "why", salt: bytes = SALT) -> bytes:
    return encode_remark(log_pb2.Remark(seq=seq, salt=salt, text=words))


class Committed:
    """A game whose first protest and first ruling commit to these words."""

    def __init__(self, words: str = "why", salt: bytes = SALT) -> None:
        self.played = seated.of("kingdomino", "contested")
        self.protested, self.ruled = acts(self.played, "protest")[0], acts(self.played, "rule")[0]
        entries = evil.entries(self.played)
        for at, kind in ((self.protested, "protest"), (self.ruled, "rule")):
            act = act_in(entries[at])
            getattr(act, kind).remark = commitment(salt, words)
            put_act(entries[at], act)
        self.leaves = evil.relinked(entries, players=True)
        self.last = len(self.leaves) - 1

    def with_texts(self, after: int, *texts: bytes) -> Job:
        """Return the file with texts after that entry."""
        frames = evil.frames(evil.signed_file(self.played, self.leaves))
        beside = [encode_frame(FrameType.REMARK, each) for each in texts]
        return MAGIC + b"".join([*frames[: after + 2], *beside, *frames[after + 2 :]]), TRUSTED


def told(words: str, salt: bytes = SALT) -> Job:
    """Words that were committed to, beside the entries."""
    game = Committed(words, salt)
    return game.with_texts(game.last, text(game.ruled, words, salt))


def test_texts_that_were_committed_to() -> None:
    game = Committed()
    ruled, protested = text(game.ruled), text(game.protested)
    both = [game.with_texts(game.last), game.with_texts(game.last, ruled, protested)]
    longest = [told(words) for words in ("w" * 4000, "\U0001f409\nb", "\u3000")]
    assert agree([*both, game.with_texts(game.protested, protested), *longest]) == {Verdict.COMPLETE}


def test_texts_that_are_none() -> None:
    """Texts that are altered, doubled, too early, without an author, with hidden characters, or no text at all."""
    game = Committed()
    ruled = game.ruled
    bad = [
        *((text(ruled, "why not"),), (text(ruled, salt=b"t" * 16),), (text(ruled), text(ruled)), (text(0),)),
        *((text(1 << 63),), (b"words", text(ruled, "why not")), (text(ruled) + b"\x28\x01",)),
    ]
    jobs = [game.with_texts(game.last, *texts) for texts in bad]
    jobs.append(game.with_texts(game.protested - 1, text(game.protested)))
    jobs += [told("why", b"short"), *(told(words) for words in ("a\x1bb", "w" * 4001, "\u202e"))]
    assert agree(jobs) == {Verdict.CORRUPT}


def test_hidden_characters_are_the_same() -> None:
    surrogates = range(0xD800, 0xE000)
    assert node().ask("hidden") == [
        code for code in range(0x110000) if code not in surrogates and not is_plain(chr(code))
    ]


# --- the test vectors ------------------------------------------------------------------------------------------


def test_vectors_of_the_document() -> None:
    """The rules of their file exist in the tests only, so its moves are not read."""
    refused = node().ask("vectors", **{name: make() for name, make in vectors.ALL.items()})
    assert refused > len(vectors.strict()["refused"]) / 2


def test_keys() -> None:
    """Weak keys, not canonical ones, no points of the curve, of another subgroup: none may be declared or sign."""
    p, order = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
    numbers = [0, 1, 2, 3, 4, 5, p - 1, p, p + 1, p + 2, 2**255 - 1, *range(100, 130)]
    raws = [number.to_bytes(32, "little") for number in numbers]
    raws += [bytes([*raw[:31], raw[31] | 0x80]) for raw in raws]
    eighth = "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03"
    raws += [bytes.fromhex(eighth + last) for last in ("7a", "fa")] + [seat_key(i).public.raw for i in range(9)]
    message = b"anything"
    good = seat_key(0).sign(message)
    plus = (int.from_bytes(good[32:], "little") + order).to_bytes(32, "little")
    cases = [(seat_key(0).public.raw, good), (seat_key(0).public.raw, good[:32] + plus)]
    cases += [(raw, raws[1] + bytes(32)) for raw in raws]

    def accepted(raw: bytes) -> bool:
        try:
            return PublicKey(raw).raw == raw
        except LogError:
            return False

    asked = [[raw.hex(), signature.hex()] for raw, signature in cases]
    keys, signed = node().ask("keys", raws=[raw.hex() for raw in raws], cases=asked)
    assert keys == [accepted(raw) for raw in raws]
    assert 9 < sum(keys) < len(raws)
    assert signed == [True] + [False] * (len(cases) - 1)


# --- command and page ------------------------------------------------------------------------------------------


TRUST = ("--key", SIGNER.verifier)


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    path = tmp_path / "whole"
    path.write_bytes(small().file())
    return path


@pytest.fixture
def cut(tmp_path: Path) -> Path:
    path = tmp_path / "cut"
    path.write_bytes(evil.signed_file(small(), small().entries[:-1]))
    return path


def test_command(whole: Path, cut: Path) -> None:
    """The command answers alike as a process and in the process that other tests share."""
    pinned = ("--seat-key", f"0={seat_key(0).public.raw.hex()}")
    for words, code, said in (
        ((whole, *TRUST, *pinned), 0, f"COMPLETE (below the rules) {whole}\n"),
        ((cut, *TRUST), 10, "UNDISCLOSED"),
        ((), 2, ""),
    ):
        command = ["node", str(FOLDER / "verify.mjs"), *map(str, words)]
        done, kept = subprocess.run(command, capture_output=True, text=True, check=False), verify(*words)
        assert (done.returncode, done.stderr == "", done.stdout[: len(said)]) == (code, code != 2, said)
        assert (kept.returncode, kept.stdout, kept.stderr) == (done.returncode, done.stdout, done.stderr)


def test_exit_codes(whole: Path, cut: Path, tmp_path: Path) -> None:
    receipt = tmp_path / "receipt"
    receipt.write_bytes(small().notes[-1])
    assert verify(cut, *TRUST, "--receipt", receipt).returncode == 6
    assert verify(whole, *TRUST, "--seat-key", f"1={seat_key(0).public.raw.hex()}").returncode == 5
    assert verify(whole).returncode == 5
    both = verify(whole, cut, *TRUST, "--json")
    assert both.returncode == 10
    assert [json.loads(line)["verdict"] for line in both.stdout.splitlines()] == ["COMPLETE", "UNDISCLOSED"]


def test_wrong_words(whole: Path, tmp_path: Path) -> None:
    for words in ((whole, "--key", "x"), (whole, "--seat-key", "0=00"), (tmp_path / "none",), (whole, "--what")):
        assert verify(*words).returncode == 2
    wrong = verify(whole, *TRUST, "--receipt", whole)
    assert (wrong.returncode, wrong.stdout) == (2, "")


def test_page_holds_the_modules() -> None:
    """All that index.html runs stands in it: no module asks for another one, and each is there once."""
    page = verifier_page()
    assert (FOLDER / "index.html").read_text(encoding="utf-8") == page
    assert not re.search(r"^(import|export) ", page, re.MULTILINE)
    for module in set(FOLDER.glob("*.mjs")) - {FOLDER / "log.mjs", FOLDER / "verify.mjs"}:
        exported = re.findall(r"^export ((?:async )?(?:const|function|class) \w+)", module.read_text(), re.MULTILINE)
        assert exported, module
        assert all(len(re.findall(rf"^{re.escape(each)}\b", page, re.MULTILINE)) == 1 for each in exported), module


def test_the_policy_of_the_page_names_its_scripts() -> None:
    """A script with another hash does not run, and nothing can be sent."""
    page = verifier_page()
    policy = re.search(r'content="(default-src [^"]*)"', page)
    script = re.search(r'<script type="module">(.*?)</script>', page, re.DOTALL)
    assert policy is not None
    assert script is not None
    hashed = b64encode(sha256(script[1].encode()).digest()).decode()
    assert f"script-src 'sha256-{hashed}';" in policy[1]
    assert policy[1].startswith("default-src 'none';")
