"""``referee adjudicate`` with rulings by line, its list, and the headings of reports, as an arbiter uses them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from referee.log.keys import PrivateKey
from referee.text.notation.game_text import write
from tests.cli.adjudicate import fact, keys
from tests.cli.inside import referee
from tests.log import registered
from tests.log.games import SIGNER
from tests.log.games import play as play_log
from tests.text.notation.setups import PLAIN, play, text_of
from tests.text.report.adjudication import AWAY, FINE, NEXT, OUTSIDE, START

RIGHT = "1: buy tower-12 (slot 3) with ducat-5 ducat-9"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Keys, a game of Alhambra with a wrong payment, one of Kingdomino with a wrong placement, and a fair one."""
    folder = tmp_path_factory.mktemp("table")
    for name in ("scribe", "referee", "arbiter"):
        PrivateKey.generate().save(folder / f"{name}.pem")
    fair = write(text_of(PLAIN[0], play(PLAIN[0], seed=3)))
    (folder / "fair.txt").write_text(fair, encoding="utf-8")
    assert fair.count(RIGHT) == 1
    (folder / "paid.txt").write_text(fair.replace(RIGHT, "1: buy tower-12 (slot 3) with ducat-9"), encoding="utf-8")
    (folder / "foul.txt").write_text(f"{START}{AWAY}\n0: choose 23\n", encoding="utf-8")
    return folder


def rulings(folder: Path, text: str) -> Path:
    path = folder / "rulings.txt"
    path.write_text(text, encoding="utf-8")
    return path


def line_of(folder: Path) -> int:
    return (folder / "fair.txt").read_text(encoding="utf-8").partition(RIGHT)[0].count("\n") + 1


@pytest.mark.parametrize("how", ["another move", "a result"])
def test_a_wrong_payment_comes_to_a_result_that_every_tool_states(how: str, folder: Path, tmp_path: Path) -> None:
    log, plain, page = (tmp_path / f"game.{kind}" for kind in ("gamelog", "txt", "html"))
    line = line_of(folder)
    given = {
        "another move": f"{line}: {RIGHT}, 3 points off seat 1   ; seen after the count\n",
        "a result": f"{line}: skip\n{line + 2}: stop, points 41 60\n",
    }[how]
    made = ("--out", log, *keys(folder, "scribe", "referee", "arbiter"), "--report", page, "--report", plain)
    done = referee("adjudicate", folder / "paid.txt", "--rulings", rulings(tmp_path, given), *made)
    assert (done.returncode, done.stderr) == (0, "")
    told = plain.read_text(encoding="utf-8")
    (outcome,) = re.findall(r"^result +(.*)$", told, re.MULTILINE)
    places = re.findall(r"^\d +player \d +\d+$", told, re.MULTILINE)
    assert len(places) == 2
    if how == "another move":
        assert "By the record as played the points cannot be computed (line" in told
    audit = referee("audit", log, "--key", fact("verifier key", told))
    assert (audit.returncode, audit.stdout.split("\n")[0]) == (0, "COMPLETE")
    assert f"result: {outcome}\n" in audit.stdout
    report = referee("report", log, "--key", fact("verifier key", told)).stdout
    shown = referee("show", log, "--moves").stdout
    assert re.findall(r"^\d +player \d +\d+$", report, re.MULTILINE) == places
    assert f"result: {outcome}\n" in shown
    for ruling in given.replace("   ; seen after the count", "").splitlines():
        number, _, words = ruling.partition(": ")
        if "stop" not in words:
            assert f'"line {number} of the record: {words}"' in shown
            assert f'"line {number} of the record: {words}"' in report
    score = referee("score", log)
    assert score.returncode == 0
    assert "Signatures" in told.splitlines()
    assert '<section class="signatures">' in page.read_text(encoding="utf-8")


def test_nothing_is_written_if_a_ruling_cannot_be_applied(folder: Path, tmp_path: Path) -> None:
    log, foul = tmp_path / "game.gamelog", folder / "foul.txt"
    made = ("--out", log, *keys(folder, "scribe", "referee", "arbiter"))
    for text, words in (
        (f"{NEXT}: stands\n{NEXT + 1}: skip", f"line 2: nothing is illegal in line {NEXT + 1} of the record"),
        ("99: skip", "line 1: the record has no move in line 99; expected a line with a move"),
        (f"{NEXT}: skip\n{NEXT}: stop", f"line 2: line {NEXT} of the record already has a ruling, in line 1; expected"),
        (f"{NEXT}: {OUTSIDE}", "is illegal, too: it breaks KDO-14, KDO-16; expected a legal move"),
        (f"{NEXT}: skpi", "line 1: found 'skpi'; expected skip, stands, stop, or another move"),
    ):
        path = rulings(tmp_path, text)
        done = referee("adjudicate", foul, "--rulings", path, *made)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"referee: --rulings {path}: ")
        assert words in done.stderr
        assert done.stderr.count("\n") == 1
    two = ("--out", log, *keys(folder, "scribe", "referee"))
    done = referee("adjudicate", foul, "--rulings", rulings(tmp_path, f"{NEXT}: stands"), *two)
    assert (done.returncode, "--out needs --arbiter-key" in done.stderr) == (2, True)
    assert not log.exists()
    missing = referee("adjudicate", foul, "--rulings", tmp_path / "no.txt")
    assert (missing.returncode, "No such file" in missing.stderr) == (2, True)


def test_the_list_rules_on_nothing(folder: Path, tmp_path: Path) -> None:
    done = referee("adjudicate", folder / "paid.txt", "--list")
    assert (done.returncode, done.stderr) == (8, "")
    assert done.stdout.startswith(f"paid.txt: 1 illegal line\nline {line_of(folder)}: 1: buy tower-12")
    assert done.stdout.endswith(f"-> taken as {RIGHT}\n")
    fair = referee("adjudicate", folder / "fair.txt", "--list")
    assert (fair.returncode, fair.stdout) == (0, "fair.txt: nothing illegal\n")
    wrong = tmp_path / "wrong.txt"
    text = (folder / "fair.txt").read_text(encoding="utf-8")
    wrong.write_text(re.sub(r'\[Result ".*"\]', '[Result "1 2"]', text), encoding="utf-8")
    done = referee("adjudicate", wrong, "--list")
    assert (done.returncode, done.stdout.split("\n")[:2]) == (8, ["wrong.txt: a wrong result", "the result: 1 2"])
    both = referee("adjudicate", folder / "fair.txt", "--list", "--report", tmp_path / "x.txt")
    assert (both.returncode, "--list with --report: expected --list alone" in both.stderr) == (2, True)


def test_what_an_illegal_move_that_stands_is_worth_is_in_the_report(folder: Path) -> None:
    record = Path(__file__).parent.parent.parent.parent / "docs" / "examples" / "final.txt"
    stands = referee("adjudicate", record, "--on-illegal", "accept-as-played").stdout
    assert "By the record as played 28:27; with the rulings 28:27.\n" in stands
    assert "Without the moves that stand it would be 22:27.\n" in stands
    skipped = referee("adjudicate", record, "--on-illegal", "skip").stdout
    assert "By the record as played 28:27; with the rulings 22:27.\n" in skipped
    assert "Without" not in skipped
    fair = referee("adjudicate", folder / "fair.txt").stdout
    assert "By the record" not in fair


def test_the_heading_and_the_names_are_in_both_reports(folder: Path, tmp_path: Path) -> None:
    log, plain, roster = tmp_path / "game.gamelog", tmp_path / "game.txt", tmp_path / "names.txt"
    roster.write_text("; the final\n0: Blue Öl\n1: Green\n", encoding="utf-8")
    head = ("--date", "2026-11-22", "--event", "Brno Open", "--arbiter", "Ada Jones", "--names", roster)
    more = ("--round", 3, "--table", 7)
    made = ("--out", log, *keys(folder, "scribe", "referee"), "--report", plain)
    done = referee("adjudicate", folder / "fair.txt", *head, *more, *made)
    assert (done.returncode, done.stderr) == (0, "")
    told = plain.read_text(encoding="utf-8")
    out = tmp_path / "report.txt"
    reported = referee("report", log, "--key", fact("verifier key", told), *head, "--out", out)
    assert (reported.returncode, reported.stdout) == (0, f"wrote {out}: COMPLETE\n")
    for text in (told, out.read_text(encoding="utf-8")):
        for name, value in (
            ("date", "2026-11-22"),
            ("name of the event", "Brno Open"),
            ("arbiter", "Ada Jones"),
            ("round", "3"),
            ("table", "7"),
        ):
            assert re.search(rf"^{name} +{value}$", text, re.MULTILINE), name
        signatures = text.partition("\nSignatures\n")[2]
        assert re.findall(r"^(\S.*?)  +_+$", signatures, re.MULTILINE) == [
            "Scribe",
            "Arbiter, Ada Jones",
            "Blue Öl",
            "Green",
        ]
    # The log has hashes of the names, as if the record had them.
    assert all(name.encode() not in log.read_bytes() for name in ("Blue Öl", "Green"))
    assert told.count("\n  salt    ") == 2


def test_headings_that_are_wrong_or_say_something_else(folder: Path, tmp_path: Path) -> None:
    game = tmp_path / "game.txt"
    head = START.replace('"2"]\n', '"2"]\n[Player0 "Blue"]\n[Round "3"]\n', 1)
    game.write_text(f"{head}{FINE}\n", encoding="utf-8")
    roster = tmp_path / "names.txt"
    for text, options, message in (
        ("", ("--round", 4), "--round 4: the game says 3; expected the same, or no option"),
        ("", ("--date", "22.11."), "--date 22.11.: expected a date such as 2026-11-22"),
        ("", ("--event", "a\nb"), "--event: expected at most 100 characters that can be seen"),
        ("0: Red", ("--names", roster), "seat 0 is Red; expected Blue"),
        ("4: Red", ("--names", roster), "the game has no seat 4"),
        ("0: Red\n0: Blue", ("--names", roster), "line 2: 0 again; expected each once"),
        ("Red", ("--names", roster), "line 1: expected a seat or a key and a name, such as 0: Blue"),
        ('0: "Red"', ("--names", roster), "line 1: expected a name of at most 100 characters"),
    ):
        roster.write_text(text, encoding="utf-8")
        done = referee("adjudicate", game, *options)
        assert (done.returncode, done.stdout, message in done.stderr) == (2, "", True), done.stderr
        assert done.stderr.count("\n") == 1
    roster.write_text("0: Blue\n1: Red\n", encoding="utf-8")
    same = referee("adjudicate", game, "--round", 3, "--names", roster)
    assert (same.returncode, "Player 1: Blue\nPlayer 2: Red\n" in same.stdout) == (0, True)


def test_a_roster_names_seats_by_their_keys(tmp_path: Path) -> None:
    game = play_log(registered.opened("kingdomino", seats=2), registered.at_random(1))
    file, roster = tmp_path / "game.gamelog", tmp_path / "names.txt"
    file.write_bytes(game.file())
    key = ("--key", str(SIGNER.verifier))
    (first, second) = re.findall(r"^  key +\S+ ([0-9a-f]{64})$", referee("report", file, *key).stdout, re.MULTILINE)
    roster.write_text(f"{second}: Green\n{first.upper()}: Blue\n{'ab' * 32}: Nobody\n", encoding="utf-8")
    told = referee("report", file, *key, "--names", roster)
    assert (told.returncode, told.stderr) == (0, "")
    assert re.findall(r"^Player .: .*$", told.stdout, re.MULTILINE)[:2] == ["Player 1: Blue", "Player 2: Green"]
    assert "Nobody" not in told.stdout
    assert "Signatures" not in told.stdout
    page = referee("report", file, *key, "--names", roster, "--html").stdout
    assert page.count("<figcaption>Blue</figcaption>") == 1
    roster.write_text(f"{first}: Blue\n0: Red\n", encoding="utf-8")
    other = referee("report", file, *key, "--names", roster)
    assert (other.returncode, "expected Red" in other.stderr) == (2, True)
