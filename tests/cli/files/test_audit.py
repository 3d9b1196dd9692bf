"""``referee audit`` as its users run it: verdict, exit code, one plain line when something is wrong."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from referee.log.note import VerifierKey
from referee.log.v1 import log_pb2
from tests.cli.inside import referee
from tests.log import evil
from tests.log.alhambra import alhambra, at_random
from tests.log.games import SIGNER, Played, build_file, key, play, seat_key
from tests.log.proved import a_game, with_frames


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
    assert "player 2: self-declared" in done.stdout


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
    assert "player 1 with key" in done.stdout


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


def test_certificates_are_checked_without_a_solver(tmp_path: Path) -> None:
    """In a Python that has none."""
    proved, frames = a_game(log_pb2.PROOF_POLICY_ALL)
    log = tmp_path / "proved.gamelog"
    log.write_bytes(with_frames(proved, frames))
    program = "import sys; sys.modules['z3'] = None; from referee.cli import main; main()"
    python = (sys.executable, "-W", "error", "-c")
    words = ("audit", str(log), "--key", str(SIGNER.verifier), "--json")
    done = subprocess.run([*python, program, *words], capture_output=True, text=True, check=False)
    report = json.loads(done.stdout)
    count = sum(map(len, frames.values()))
    assert (done.returncode, report["verdict"], done.stderr) == (0, "COMPLETE", "")
    assert report["certificates"] == {
        "terms": "ALL",
        "checked": count,
        "failed": 0,
        "not_compared": 0,
        "wanted": count,
        "lacking": [],
    }
    import_it = program.replace("from referee.cli", "import z3; from referee.cli")
    done = subprocess.run([*python, import_it, *words], capture_output=True, text=True, check=False)
    assert "ModuleNotFoundError" in done.stderr, "it would be noticed"


def test_bad_certificates_are_told(tmp_path: Path) -> None:
    proved, frames = a_game(log_pb2.PROOF_POLICY_ALL)
    log, seq = tmp_path / "altered.gamelog", max(frames)
    wrong = bytearray(frames[seq][0])
    wrong[-1] ^= 1
    log.write_bytes(with_frames(proved, {**frames, seq: [bytes(wrong)]}))
    done = referee("audit", log, "--key", str(SIGNER.verifier))
    assert done.returncode == 4
    assert done.stdout.startswith(f"CORRUPT at entry {seq}\n  certificates: PROOF at entry {seq}, byte ")
    assert f"comment: the terms ask for certificates; missing for entry {seq}\n" in done.stdout
    # It is a failure of the copy, and what is missing is none.
    log.write_bytes(with_frames(proved, {**frames, seq: []}))
    assert referee("audit", log, "--key", str(SIGNER.verifier)).returncode == 0


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["nowhere.gamelog", "--key", "{vkey}"], 1, "nowhere.gamelog: No such file or directory"),
        (["{log}", "--key", "nonsense"], 2, "--key nonsense: No such file or directory; expected a .vkey file"),
        (["{log}", "--key", "{log}"], 2, ": not a verifier key; expected a .vkey file or its text"),
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


# --- a directory ---------------------------------------------------------------------------------------------


def test_a_directory_gets_a_line_a_file_and_the_gravest_code(played: Played, files: tuple[Path, Path]) -> None:
    log, vkey = files
    folder = log.parent / "games"
    (folder / "second").mkdir(parents=True)
    whole, cut = played.file(), played.file()[:-400]
    bad = bytearray(whole)
    bad[len(bad) // 2] ^= 1
    for name, data in (("a", whole), ("second/b", cut), ("second/c", bytes(bad)), ("d", whole), ("e", whole)):
        (folder / f"{name}.gamelog").write_bytes(data)
    for number in range(6):  # enough for two processes
        (folder / f"more-{number}.gamelog").write_bytes(whole)
    (folder / "notes.txt").write_text("not a game")
    done = referee("audit", folder, "--key", vkey)
    lines = done.stdout.splitlines()
    assert (done.returncode, done.stderr, len(lines)) == (4, "", 12)
    assert lines[0] == f"COMPLETE      a.gamelog, {len(played.entries)} entries"
    assert [line.split()[:2] for line in lines[-3:-1]] == [
        ["PREFIX", "second/b.gamelog,"],
        ["CORRUPT", "second/c.gamelog,"],
    ]
    assert lines[-1] == "11 files: 9 COMPLETE, 1 PREFIX, 1 CORRUPT"
    done = referee("audit", folder, "--key", vkey, "--json")
    reports = [json.loads(line) for line in done.stdout.splitlines()]
    assert [report["file"] for report in reports] == [line.split()[1].rstrip(",") for line in lines[:-1]]
    assert {report["verdict"] for report in reports} == {"COMPLETE", "PREFIX", "CORRUPT"}
    for path in (folder / "second" / "c.gamelog", *folder.glob("more-*")):  # and a process of its own for none
        path.unlink()
    assert referee("audit", folder, "--key", vkey).returncode == 3


def test_files_of_one_game_are_compared(played: Played, files: tuple[Path, Path]) -> None:
    """The files: the same, shorter, longer, damaged, and two histories that the referee signed."""
    log, vkey = files
    folder = log.parent / "games"
    folder.mkdir()
    size, middle = len(played.entries), len(played.entries) // 2

    def put(name: str, data: bytes) -> None:
        (folder / f"{name}.gamelog").write_bytes(data)

    def later(entries: list[log_pb2.Entry]) -> None:
        entries[middle].referee_ms += 1

    put("a", evil.signed_file(played, played.entries[:middle]))
    put("b", played.file())
    put("c", played.file())
    put("d", evil.signed_file(played, played.entries[: middle - 1]))
    put("e", evil.forged(played, later, players=True))
    put("f", played.file()[:-1] + bytes([played.file()[-1] ^ 1]))
    put("g", play(alhambra(seats=3), at_random(4)).file())
    done = referee("audit", folder, "--key", vkey)
    said = dict(re.findall(r"^\S+ +(\w)\.gamelog, \d+ entries(.*)$", done.stdout, re.MULTILINE))
    assert (said["a"].count("same"), said["c"], said["g"]) == (0, ": the same game as b.gamelog", "")
    assert said["b"] == f": the same game as a.gamelog, {size - middle} entries more"
    assert said["d"].endswith(f"; the same game as b.gamelog, {size - middle + 1} entries fewer")
    fork = f"another history than b.gamelog: both have an entry {middle}, and they differ; "
    assert fork + "`referee prove-fork` with both files writes the evidence" in said["e"]
    assert done.returncode == 7
    proof = referee("prove-fork", folder / "b.gamelog", folder / "e.gamelog", "--key", vkey)
    assert (proof.returncode, fork.split(": ")[1].removesuffix("; ") in proof.stdout) == (0, True)
    lines = referee("audit", folder, "--key", vkey, "--json").stdout.splitlines()
    again = {line["file"][0]: line.get("again") for line in map(json.loads, lines)}
    assert again["c"] == {"file": "b.gamelog", "more_entries": 0, "fork": ""}
    assert [name for name, each in again.items() if each is None] == ["a", "g"]
    forked = json.loads(lines[4])
    assert (forked["verdict"], forked["exit_code"], bool(forked["again"]["fork"])) == ("FORK", 7, True)


def test_a_directory_without_games_and_keys_of_one_game(files: tuple[Path, Path], tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    done = referee("audit", empty, "--key", files[1])
    assert (done.returncode, done.stderr) == (1, f"referee: {empty}: this directory has no .gamelog file\n")
    done = referee("audit", tmp_path, "--key", files[1], "--seat-key", f"0={seat_key(0).public.raw.hex()}")
    assert (done.returncode, "; expected one file" in done.stderr) == (2, True)


def test_a_name_of_a_file_makes_no_line_and_steers_no_terminal(files: tuple[Path, Path], tmp_path: Path) -> None:
    """Files come from strangers, by mail."""
    log, vkey = files
    folder = tmp_path / "games"
    folder.mkdir()
    forged = "x\nCOMPLETE      final.gamelog, 124 entries\x1b[31m\n.gamelog"
    (folder / forged).write_bytes(log.read_bytes()[:-40])
    done = referee("audit", folder, "--key", vkey)
    assert done.returncode == 3
    assert done.stdout.count("\n") == 2
    assert done.stdout.startswith("PREFIX        x\\nCOMPLETE      final.gamelog, 124 entries\\x1b[31m\\n.gamelog, ")
    missing = folder / "none\x1b[2J\n.gamelog"
    for words in (("show", missing), ("audit", missing, "--key", vkey), ("docket", missing), ("report", missing)):
        done = referee(*words)
        assert (done.stdout, done.stderr.count("\n"), "\x1b" in done.stderr) == ("", 1, False)
        assert "none\\x1b[2J\\n.gamelog: No such file" in done.stderr
