"""``referee prove-inclusion`` and ``referee prove-fork`` as their users run them."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.games.alhambra import Options
from referee.log.intent import intent_encoding
from referee.log.keys import PublicKey
from referee.log.note import VerifierKey
from referee.log.v1 import log_pb2
from tests.cli.inside import in_bytes, referee
from tests.log import evil
from tests.log.alhambra import CODEC, alhambra, at_random
from tests.log.games import SIGNER, Played, key, play, seat_key


@pytest.fixture(scope="module")
def played() -> Played:
    return play(alhambra(seats=2, options=CODEC.encode_options(Options(max_turns=6))), at_random(3))


@pytest.fixture
def log(played: Played, tmp_path: Path) -> Path:
    path = tmp_path / "game.gamelog"
    path.write_bytes(played.file())
    return path


def move(played: Played, seat: int) -> int:
    """Return the number of the seat's first move."""
    for number, entry in enumerate(evil.entries(played)):
        intent = log_pb2.Intent.FromString(entry.signed.intent)
        if intent.WhichOneof("act") == "move" and intent.seat == seat:
            return number
    raise AssertionError


def proof_of(log: Path, entry: int, out: Path) -> None:
    done = in_bytes("prove-inclusion", log, "--key", SIGNER.verifier, "--entry", entry)
    assert done.returncode == 0
    out.write_bytes(done.stdout)


def test_a_move_is_proved_and_told(played: Played, log: Path, tmp_path: Path) -> None:
    number, proof = move(played, 1), tmp_path / "move.tlog-proof"
    proof_of(log, number, proof)
    log.unlink()
    done = referee("prove-inclusion", "--check", proof, "--key", str(SIGNER.verifier))
    assert (done.returncode, done.stderr) == (0, "")
    first, entry, _, act, author = done.stdout.splitlines()
    assert first == "HOLDS"
    assert entry.startswith(f"entry {number} of {len(played.entries)} signed entries, game ")
    assert act.startswith("move by seat 1: ")
    assert author.endswith("not checked: no --author-key was given")
    pem = tmp_path / "seat.pem"
    pem.write_text(PublicKey(seat_key(1).public.raw).pem())
    done = referee("prove-inclusion", "--check", proof, "--key", str(SIGNER.verifier), "--author-key", pem)
    assert (done.returncode, done.stdout.splitlines()[-1][:33]) == (0, "signed with the key that you gave")
    done = referee(
        "prove-inclusion", "--check", proof, "--key", str(SIGNER.verifier), "--author-key", seat_key(0).public.raw.hex()
    )
    assert (done.returncode, done.stdout, "AUTHOR_SIGNATURE: not signed with key" in done.stderr) == (5, "", True)


def test_what_the_referee_entered(log: Path, tmp_path: Path) -> None:
    proof = tmp_path / "open.tlog-proof"
    proof_of(log, 0, proof)
    done = referee("prove-inclusion", "--check", proof, "--key", str(SIGNER.verifier))
    assert done.stdout.splitlines()[-1] == "open, entered by the referee"


def test_what_was_signed_for_elsewhere_is_not_proved(played: Played, tmp_path: Path) -> None:
    """By a referee that puts it there with its real key: an act of another place, an entry of another game."""
    number = move(played, 1)

    def another_place(entries: list[log_pb2.Entry]) -> None:
        intent = log_pb2.Intent.FromString(entries[number].signed.intent)
        intent.seq += 1
        body = intent.SerializeToString(deterministic=True)
        entries[number].signed.intent = body
        entries[number].signed.signature = seat_key(1).sign(intent_encoding(body))

    def another_game(entries: list[log_pb2.Entry]) -> None:
        entries[number].game_id = bytes(16)

    for edit, said in (
        (another_place, "STALE_HEAD: intent with seq"),
        (another_game, "WRONG_GAME: entry of game 0000"),
    ):
        log, proof = tmp_path / "evil.gamelog", tmp_path / "evil.tlog-proof"
        log.write_bytes(evil.forged(played, edit))
        proof_of(log, number, proof)
        author = seat_key(1).public.raw.hex()
        done = referee("prove-inclusion", "--check", proof, "--key", str(SIGNER.verifier), "--author-key", author)
        assert (done.returncode, done.stdout) == (4, "")
        assert said in done.stderr


@pytest.mark.parametrize(
    ("words", "code", "expected"),
    [
        (["--entry", "9999"], 2, "--entry 9999: the referee signed only entries 0 to "),
        ([], 2, "expected either --entry N for a game file, or --check for a proof"),
        (["--check", "--entry", "1"], 2, "expected either --entry N"),
        (["--check"], 4, "NOTE: "),
        (["--entry", "1", "--author-key", "x"], 2, "--author-key: expected only with --check"),
    ],
)
def test_wrong_words(log: Path, words: list[str], code: int, expected: str) -> None:
    done = referee("prove-inclusion", log, "--key", str(SIGNER.verifier), *words)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (code, "", 1)
    assert expected in done.stderr


def test_another_referees_key(log: Path) -> None:
    other = str(VerifierKey.of("other.example", key("other").public))
    for words in (("prove-inclusion", log, "--entry", "1"), ("prove-fork", log, log)):
        done = referee(*words, "--key", other)
        assert (done.returncode, done.stdout) == (5, "")
        assert "UNTRUSTED_KEY" in done.stderr


def test_a_fork_and_its_evidence(played: Played, log: Path, tmp_path: Path) -> None:
    def edit(entries: list[log_pb2.Entry]) -> None:
        entries[-4].referee_ms += 1

    other, out = tmp_path / "other.gamelog", tmp_path / "evidence"
    other.write_bytes(evil.forged(played, edit, players=True))
    done = referee("prove-fork", log, other, "--key", str(SIGNER.verifier), "--out", out)
    number = len(played.entries) - 4
    assert (done.returncode, done.stderr) == (0, "")
    assert f"FORK: both have an entry {number}, and they differ" in done.stdout
    evidence = sorted(out.iterdir())
    assert [path.name for path in evidence] == ["fork-a.tlog-proof", "fork-b.tlog-proof"]
    again = referee("prove-fork", *evidence, "--key", str(SIGNER.verifier))
    assert (again.returncode, f"FORK: both have an entry {number}" in again.stdout) == (0, True)
    receipt = tmp_path / "receipt"
    receipt.write_bytes(played.notes[-2])
    done = referee("prove-fork", receipt, other, "--key", str(SIGNER.verifier))
    assert (done.returncode, "entries do not have the signed root" in done.stdout) == (0, True)
    done = referee("prove-fork", receipt, other, "--key", str(SIGNER.verifier), "--out", out)
    assert (done.returncode, "keep both files as they are" in done.stderr) == (1, True)


def test_no_fork(played: Played, log: Path, tmp_path: Path) -> None:
    receipt = tmp_path / "receipt"
    receipt.write_bytes(played.notes[3])
    done = referee("prove-fork", log, receipt, "--key", str(SIGNER.verifier))
    assert (done.returncode, done.stdout.splitlines()[-1]) == (1, "NO FORK: the two do not contradict each other")
