"""``referee score``, ``adjudicate`` and ``report`` as their users run them."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from hashlib import sha256
from pathlib import Path

import pytest

from referee.games.results import Contest
from referee.log.keys import PrivateKey
from referee.log.note import CheckpointSigner
from referee.log.v1 import log_pb2
from referee.telling.recorder import Recorder, recorded
from referee.text.notation.game_text import write
from referee.text.notation.headers import Setup
from referee.text.notation.violations import NotationError
from referee.text.report.adjudication import adjudicate
from referee.text.report.rulings import Policy
from tests.cli.adjudicate import fact, keys, spoilt
from tests.cli.inside import referee
from tests.log import registered
from tests.log.games import SIGNER
from tests.log.games import play as play_log
from tests.text.notation.page import BOARDS
from tests.text.notation.setups import PLAIN, name_of, play, text_of
from tests.text.report.adjudication import AWAY, START

NAMES = '[Player0 "Weiß & <b>Söhne</b>"]\n[Player1 "Rot"]\n'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the keys of a scribe, a referee and an arbiter, and a record with one illegal move."""
    folder = tmp_path_factory.mktemp("table")
    for name in ("scribe", "referee", "arbiter"):
        PrivateKey.generate().save(folder / f"{name}.pem")
    game = text_of(PLAIN[1], play(PLAIN[1], seed=5))
    (folder / "fair.txt").write_text(write(game), encoding="utf-8")
    record = START.replace('"2"]\n', f'"2"]\n{NAMES}')
    (folder / "foul.txt").write_text(f"{record}{AWAY}\n0: choose 23\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("policy", "entries", "ruling"),
    [
        ("skip", 14, "arbiter: skip seat 0\n"),
        ("accept-as-played", 12, "0: place 3 forest/forest 2,0 2,1 against KDO-14\n"),
    ],
)
def test_rulings_are_in_the_log_and_in_the_report(policy: str, entries: int, ruling: str, folder: Path) -> None:
    log, page, plain = (folder / f"{policy}.{kind}" for kind in ("gamelog", "html", "txt"))
    made = ("--out", log, *keys(folder, "scribe", "referee", "arbiter"), "--report", page, "--report", plain)
    done = referee("adjudicate", folder / "foul.txt", "--on-illegal", policy, *made)
    assert (done.returncode, done.stderr) == (0, "")
    told = plain.read_text(encoding="utf-8")
    assert "line 14: 0: place 3 2,0 2,1" in re.sub(r"\s+", " ", told)
    assert f"wrote {page}\nwrote {plain}\nwrote {log}\n" in done.stdout
    audit = referee("audit", log, "--key", fact("verifier key", told))
    assert (audit.returncode, audit.stdout.split("\n")[0]) == (3, f"PREFIX({entries})")
    assert f"game {fact('game', told.partition('Evidence in the log')[2])}," in audit.stdout
    assert ruling in referee("show", log, "--moves").stdout

    names = ("Weiß & <b>Söhne</b>", "Rot")
    salts, hashes = (re.findall(rf"^ +{word} +([0-9a-f]+)$", told, re.MULTILINE) for word in ("salt", "player"))
    expected = [
        sha256(b"tile-referee/v1/player\0" + bytes.fromhex(salt) + name.encode()).hexdigest()
        for salt, name in zip(salts, names, strict=True)
    ]
    assert hashes == expected
    data = log.read_bytes()
    assert all(bytes.fromhex(player) in data for player in hashes)
    assert not any(secret in data for secret in (*map(bytes.fromhex, salts), *(name.encode() for name in names)))
    assert "Weiß &amp; &lt;b&gt;Söhne&lt;/b&gt;" in page.read_text(encoding="utf-8")

    again = referee("report", log, "--key", fact("verifier key", told))
    assert again.returncode == 3
    assert "rulings           1\n" in again.stdout
    assert f"refused attempts  {int(policy == 'skip')}\n" in again.stdout
    assert all(player in again.stdout for player in hashes)
    assert re.search(r"^\d+ +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d  .*  \[ruling\]$", again.stdout, re.MULTILINE)


def test_stop_tells_the_line_and_ends_with_the_code_of_the_rules(folder: Path) -> None:
    log = folder / "stopped.gamelog"
    made = ("--out", log, *keys(folder, "scribe", "referee"))
    done = referee("adjudicate", folder / "foul.txt", *made)
    assert (done.returncode, done.stderr) == (8, "")
    assert "Stopped at line 14." in done.stdout
    assert 'KDO-14 at 2,0 and 2,1 (left: forest, right: forest): "A half touches the castle' in done.stdout
    assert "The game is not over: these are the points so far." in done.stdout
    audit = referee("audit", log, "--key", fact("verifier key", done.stdout))
    assert (audit.returncode, audit.stdout.split("\n")[0]) == (3, "PREFIX(10)")
    assert "salt " in done.stdout
    # Without a log there is nothing that a salt would prove.
    alone = referee("adjudicate", folder / "foul.txt")
    assert (alone.returncode, "salt " in alone.stdout) == (8, False)


def test_a_fair_game_is_complete(folder: Path) -> None:
    log = folder / "fair.gamelog"
    done = referee("adjudicate", folder / "fair.txt", "--out", log, *keys(folder, "scribe", "referee"))
    assert (done.returncode, "Nothing illegal." in done.stdout) == (0, True)
    assert referee("audit", log, "--key", fact("verifier key", done.stdout)).returncode == 0
    assert referee("show", log, "--notation").stdout == (folder / "fair.txt").read_text(encoding="utf-8")
    # The log, the record and its last position give equal points.
    position = folder / "end.txt"
    position.write_text(referee("show", log, "--position").stdout, encoding="utf-8")
    sheets = [json.loads(referee("score", file, "--json").stdout) for file in (log, folder / "fair.txt", position)]
    assert sheets[0] == sheets[1] == sheets[2]
    (result,) = re.findall(r'\[Result "(.*)"\]', (folder / "fair.txt").read_text(encoding="utf-8"))
    assert [player["total"] for player in sheets[0]["players"]] == list(map(int, result.split()))
    assert sheets[0]["rules"].keys() == {"KDO-20"}
    told = referee("score", log).stdout
    assert told.startswith("Kingdomino, 2 players, rules version 1\n")
    assert all(f"{points} points, place " in told for points in result.split())


@pytest.mark.long
@pytest.mark.parametrize("setup", PLAIN, ids=name_of)
def test_whatever_a_record_says_the_log_says_what_was_adjudicated(setup: Setup) -> None:
    """Records that are spoilt in every way: judged to an end, and every ruling is one that a log can have."""
    rng = random.Random(5)
    lines = write(text_of(setup, play(setup, seed=7))).split("\n")
    signers = [PrivateKey.generate() for _ in range(3)]
    ends: Counter[tuple[bool, bool]] = Counter()
    for _ in range(20):
        text = "\n".join(spoilt(rng, spoilt(rng, lines)))
        for policy in Policy:
            try:
                found = adjudicate(text, policy)
            except NotationError:
                continue
            ends[found.stopped is None, found.has_rulings] += 1
            if policy is not Policy.STOP and found.entered:
                recorder = recorded(found, signers[0], signers[2:])
                assert recorder.record.game.position.state.digest() == found.state.digest()
    assert ends[False, False]
    assert setup.seats == 1 or ends[True, True] + ends[False, True]


def test_what_adjudicate_is_not_asked_rightly(folder: Path, tmp_path: Path) -> None:
    foul, out, there = folder / "foul.txt", tmp_path / "out.gamelog", tmp_path / "there.html"
    there.write_text("mine", encoding="ascii")
    scribe, both = keys(folder, "scribe"), keys(folder, "scribe", "referee")
    twice = [*keys(folder, "scribe"), "--referee-key", folder / "scribe.pem"]
    skip = ("--on-illegal", "skip")
    for options, code, message in (
        (("--out", out, *scribe), 2, "--out needs --referee-key"),
        ((*skip, "--out", out, *both), 2, "--out needs --arbiter-key (skipping and accepting are rulings)"),
        (tuple(scribe), 2, "--key: keys sign the game file; expected --out"),
        (("--out", out, *twice), 2, "--key and --referee-key: the same key twice; expected two different keys"),
        (("--report", tmp_path / "x.pdf"), 2, "expected a file name that ends in .html or .txt"),
        (("--report", there), 1, f"{there}: File exists"),
    ):
        done = referee("adjudicate", foul, *options)
        assert (done.returncode, done.stdout, message in done.stderr) == (code, "", True), done.stderr
        assert done.stderr.count("\n") == 1
    assert not out.exists()
    assert there.read_text(encoding="ascii") == "mine"
    wrong = tmp_path / "wrong.txt"
    wrong.write_text(START + "0: plaice 3\n", encoding="ascii")
    done = referee("adjudicate", wrong)
    assert (done.returncode, "line 12, column 4: syntax: found 'plaice'" in done.stderr) == (2, True)


def test_points_that_a_position_cannot_have(tmp_path: Path) -> None:
    position = tmp_path / "position.txt"
    head = '[Game "alhambra"]\n[Seats "3"]\n'
    seats = " | ".join(["score 5 hand reserve won laid"] * 3)
    table = "market free free free free | row | discard | neutral | bought"
    line = f"action seat 0 start 0 turns 9 | scorings 0 due | piles 90 turned 0 | {table} | {seats}"
    position.write_text(f'{head}[Position "{line}"]\n', encoding="ascii")
    done = referee("score", position)
    assert (done.returncode, done.stdout) == (8, "")
    assert done.stderr == f"referee: {position}: player 1: 5 points with 0 scoring rounds held; expected 0\n"


def test_boards_alone_are_scored_and_make_no_record(folder: Path) -> None:
    file = folder / "boards.txt"
    file.write_text(BOARDS["kingdomino"], encoding="ascii")
    done = referee("score", file)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Player 1: 10 points, place 1\n" in done.stdout
    assert "Scored from the boards alone: the moves that led to them were not checked." in " ".join(done.stdout.split())
    found = json.loads(referee("score", file, "--json").stdout)
    assert (found["over"], found["result"], found["places"]) == (True, "10 3", [1, 2])
    keys = ("--key", folder / "scribe.pem", "--referee-key", folder / "referee.pem", "--out", folder / "no.gamelog")
    for command in (("adjudicate",), ("record", *keys)):
        done = referee(command[0], file, *command[1:])
        assert (done.returncode, done.stdout) == (2, ""), command
        assert "boards alone, without a game or a position: only `referee score` and `referee show`" in done.stderr


def test_the_report_of_a_dealt_game_with_refused_attempts(tmp_path: Path) -> None:
    game = registered.play_with_attempts(registered.opened("kingdomino", seats=2, recorded=True), seed=3)
    file, page = tmp_path / "game.gamelog", tmp_path / "game.html"
    file.write_bytes(game.file())
    done = referee("report", file, "--key", str(SIGNER.verifier), "--html", "--out", page)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"wrote {page}: COMPLETE\n", "")
    told = referee("report", file, "--key", str(SIGNER.verifier)).stdout
    assert told.split("\n")[3:5] == ["COMPLETE.", "The game is whole, and all of it is correct."]
    moves = referee("show", file, "--moves").stdout
    assert f"refused attempts  {moves.count('refused (')}\n" in told
    assert told.count("-> refused, without effect") == moves.count("refused (") > 1
    assert "<strong>COMPLETE</strong>" in page.read_text(encoding="utf-8")
    unknown = referee("report", file)
    assert (unknown.returncode, unknown.stdout.split("\n")[3]) == (5, "UNTRUSTED_KEY.")
    other = tmp_path / "other.txt"
    unknown = referee("report", file, "--out", other)
    assert (unknown.returncode, unknown.stdout) == (5, f"wrote {other}: UNTRUSTED_KEY\n")


def test_the_result_of_a_game_that_a_forfeit_ended_is_not_the_sheets(tmp_path: Path) -> None:
    """Player 1 leads, and forfeits: player 2 is first."""
    keys = [PrivateKey.generate() for _ in range(3)]
    played = play(PLAIN[1], seed=5)
    assert played.state.scores[0] > played.state.scores[1]  # type: ignore[attr-defined]
    recorder = Recorder(PLAIN[1], keys[0], keys[2:])
    for event in played.events[:-1]:
        recorder.take(event)
    forfeit = log_pb2.Forfeit(seat=0, ending=log_pb2.ENDING_ADJUDICATED)
    recorder.rule(log_pb2.Rule(forfeit=forfeit, rule_id="TBL-4"))
    recorder.end(Contest())
    signer = CheckpointSigner("club.example", keys[1])
    file = tmp_path / "game.gamelog"
    file.write_bytes(recorder.file(signer))
    done = referee("report", file, "--key", str(signer.verifier))
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"^1 +player 2.*\n2 +player 1", done.stdout, re.MULTILINE)
    assert done.stdout.count("Player 2 wins: an arbiter put player 1 out.\n") == 2
    assert "  [ruling]\n" in done.stdout


def test_the_report_of_a_damaged_file_is_of_what_is_before_the_damage(tmp_path: Path) -> None:
    game = play_log(registered.opened("kingdomino", seats=2), registered.at_random(1))
    data = bytearray(game.file())
    data[len(data) // 2] ^= 1
    file = tmp_path / "game.gamelog"
    file.write_bytes(data)
    done = referee("report", file, "--key", str(SIGNER.verifier))
    assert done.returncode == 4
    assert done.stdout.split("\n")[3].startswith("CORRUPT")
    assert "The game is not over: these are the points so far." in done.stdout
    text = tmp_path / "game.txt"
    text.write_text(START, encoding="ascii")
    other = referee("report", text)
    assert (other.returncode, other.stdout) == (2, "")
    assert "not a game file; expected one, or referee adjudicate for the record of a game" in other.stderr
