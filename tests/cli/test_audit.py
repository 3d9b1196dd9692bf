"""``referee audit`` as its users run it: verdict, exit code, one plain line when something is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from referee.log.note import VerifierKey
from tests.cli.command import referee
from tests.log.alhambra import alhambra, at_random
from tests.log.games import SIGNER, Played, build_file, key, play, seat_key


@pytest.fixture(scope="module")
def played() -> Played:
    return play(alhambra(seats=2), at_random(4))


@pytest.fixture
def files(played: Played, tmp_path: Path) -> tuple[Path, Path]:
    log, vkey = tmp_path / "game.gamelog", tmp_path / "game.vkey"
    log.write_bytes(played.file())
    vkey.write_text(f"{SIGNER.verifier}\n")
    return log, vkey


def test_whole_game_is_complete(files: tuple[Path, Path]) -> None:
    log, vkey = files
    done = referee("audit", log, "--key", vkey)
    assert (done.returncode, done.stdout.splitlines()[0], done.stderr) == (0, "COMPLETE", "")
    assert "seat 1: self-declared" in done.stdout


def test_key_as_text_and_pinned_seat_as_json(files: tuple[Path, Path], tmp_path: Path) -> None:
    pem = tmp_path / "seat.pem"
    pem.write_text(seat_key(1).public.pem())
    done = referee("audit", files[0], "--key", str(SIGNER.verifier), "--seat-key", f"1={pem}", "--json")
    report = json.loads(done.stdout)
    assert (done.returncode, report["verdict"], report["seats"][1]["standing"]) == (0, "COMPLETE", "pinned")


def test_another_referees_key(files: tuple[Path, Path], tmp_path: Path) -> None:
    other = VerifierKey.of("other.example", key("other").public)
    done = referee("audit", files[0], "--key", str(other))
    assert (done.returncode, done.stdout.splitlines()[0]) == (5, "UNTRUSTED_KEY")


def test_another_seat_key_is_named(files: tuple[Path, Path]) -> None:
    done = referee("audit", files[0], "--key", files[1], "--seat-key", f"0={key('other').public.raw.hex()}")
    assert done.returncode == 5
    assert "authors: UNTRUSTED_KEY at entry" in done.stdout
    assert "seat 0 with key" in done.stdout


def test_running_game_is_a_prefix(played: Played, tmp_path: Path) -> None:
    log = tmp_path / "prefix.gamelog"
    log.write_bytes(build_file(played.header, played.entries[:60], played.notes[59]))
    done = referee("audit", log, "--key", str(SIGNER.verifier))
    assert (done.returncode, done.stdout.splitlines()[0]) == (3, "PREFIX(60)")


def test_newer_receipt_is_stale(played: Played, tmp_path: Path) -> None:
    log, receipt = tmp_path / "cut.gamelog", tmp_path / "receipt"
    log.write_bytes(build_file(played.header, played.entries[:60], played.notes[59]))
    receipt.write_bytes(played.notes[80])
    done = referee("audit", log, "--key", str(SIGNER.verifier), "--receipt", receipt)
    assert (done.returncode, done.stdout.split()[0]) == (6, "STALE")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["nowhere.gamelog", "--key", "{vkey}"], 1, "nowhere.gamelog: No such file or directory"),
        (["{log}", "--key", "nonsense"], 2, "--key nonsense: No such file or directory; expected a .vkey file"),
        (["{log}", "--key", "{log}"], 2, "…'; expected name+hex(key id)+base64(type and key)"),
        (["{log}", "--key", "a+" * 1000], 2, "…'; expected name+hex(key id)+base64(type and key)"),
        (["{log}", "--key", "a+b"], 2, "expected name+hex(key id)+base64(type and key)"),
        (["{log}", "--key", "{vkey}", "--seat-key", "1"], 2, "expected NUMBER=KEY"),
        (["{log}", "--key", "{vkey}", "--seat-key", "0=" + "00" * 32], 2, "weak public key"),
        (["{log}", "--key", "{vkey}", "--receipt", "{log}"], 2, "--receipt"),
        (["{log}"], 2, "--key"),
        (["{log}", "--key", "{vkey}", "--bogus"], 2, "--bogus"),
    ],
    ids=[
        "no file",
        "no key file",
        "not a key file",
        "long key",
        "bad key",
        "no number",
        "weak key",
        "not a receipt",
        "no key",
        "unknown option",
    ],
)
def test_what_is_wrong_is_one_line(files: tuple[Path, Path], words: list[str], code: int, message: str) -> None:
    done = referee("audit", *(word.format(log=files[0], vkey=files[1]) for word in words))
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith("referee: ")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert len(done.stderr) < 400
