"""Reports in FIDE's form: what is written is read again as the same, and what is wrong is named by line and columns."""

from __future__ import annotations

import json
import random
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.games.game import InputError
from referee.tournament.check import PAIRING, STANDINGS, check_document
from referee.tournament.file import EventFile
from referee.tournament.log import EventLog
from referee.tournament.names import Names
from referee.tournament.organiser import pair
from referee.tournament.rebuild import rebuild
from referee.tournament.rules import State
from referee.tournament.rules.acts import Award, EnterResult, Forbid, Publish, Result, Void
from referee.tournament.rules.scoring import Scores
from referee.tournament.simulate import Chances, Simulation
from referee.tournament.trf import parsed, written
from referee.tournament.trf_acts import acts
from tests.cli.inside import referee
from tests.docs.shell import ROOT
from tests.log.games import key
from tests.tournament.made import made
from tests.tournament.rules.stages import SEED, terms

TWOS = {"sizes": (2,), "points": ((1, 0),), "bye_points": 60}


def row(number: int, name: str, points: str, rank: int, *cells: str) -> str:
    """Return a record 001, by the columns of the form."""
    line = f"001 {number:>4} m    {name}".ljust(48) + "2000 ITA"
    return line.ljust(80) + f"{points:>4} {rank:>4}".ljust(11) + "  ".join(cells)


FOREIGN = "\n".join([
    "012 Club championship",
    "### a comment",
    "042 2026/01/02",
    "062 4",
    "XXR 3",
    "162  W 1.0    D 0.5",
    row(1, "Ferrari, Anna", "1.5", 1, "   3 w 1", "   2 b ="),
    row(2, "Ng, Ben", "1.5", 1, "   4 b +", "   1 w ="),
    "",
    row(3, "Šťastná, Cara", "1.0", 3, "   1 b 0", "0000 - U"),
    row(4, "Dan", "0.5", 4, "   2 w -", "0000 - H"),
    "",
])  # fmt: skip


def remade(text: str) -> EventLog:
    report = parsed(text.encode())
    said = acts(report, SEED)
    log = EventLog.new(said.terms, key("organiser"))
    rebuild(log, said)
    return log


def points(state: State) -> dict[int, int]:
    return dict(Scores(state, state.rounds).points)


def comparable(text: str) -> list[str]:
    """Without what the form does not say all of: comments, who paired, and ranks, as it has no points of the game."""
    lines = [line for line in text.splitlines() if not line.startswith(("###", "182", "092"))]
    return [f"{line[:85]}{line[89:]}" if line.startswith("001") else line for line in lines]


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 20))])
def test_what_is_written_is_read_as_the_same_event(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    log = EventLog.new(terms(**TWOS, rounds=5, late_until=5, late_points=chance.choice((0, 30))), key("organiser"))
    players = chance.randint(5, 16)
    chances = Chances(absent=0.1, late=0.2, withdraw=0.05, forfeit=0.2, amend=0.2)
    Simulation(log, SEED, players, chances, seed).run()
    text, _ = written(log.state, Names({}), "spring")
    again = remade(text)
    assert comparable(written(again.state, Names({}), "spring")[0]) == comparable(text)
    assert points(again.state) == points(log.state)
    (tmp_path / "spring.trf").write_bytes(text.encode())
    assert check_document(tmp_path / "spring.trf").exit_code == 0
    assert [each.tables for each in again.state.rounds] == [
        tuple(sorted((tuple(table) for table in each.tables), key=lambda table: table[0])) for each in log.state.rounds
    ]


def test_rulings_are_bonuses_and_comments() -> None:
    log = made(6, **TWOS, rounds=2)
    log.enter(Forbid(1, 2, hard=True))
    _, paired = pair(log, SEED)
    log.enter(Publish(1))
    first, second, third = paired.tables
    log.enter(EnterResult(1, 1, Result((1, 1))))
    log.enter(Void(1, 2, "nobody came"))
    log.enter(Award(1, second[0], 30, "he waited"))
    log.enter(Award(1, first[1], 6, "a penalty"))
    assert "260 001 002    1    2\r\n" in written(log.state, Names({}), "spring")[0]
    text, _ = written(log.state, Names({}), "spring")
    assert "### round 1, table 2 does not count\r\n" in text
    assert f"299          -0.4  001 {first[1]:>4}\r\n" in text
    row = next(line for line in text.splitlines() if line.startswith(f"001 {second[0]:>4}"))
    assert row[80:84] == " 0.5"
    assert row[91:] == "0000 - H"
    undecided = next(line for line in text.splitlines() if line.startswith(f"001 {third[0]:>4}"))
    assert undecided[91:] == f"{third[1]:>4} w"
    assert remade(text).state.rounds[0].undecided
    log.enter(EnterResult(1, 3, Result((1, 2), forfeited=(1,))))
    text, _ = written(log.state, Names({}), "spring")
    cells = {int(line[4:8]): line[91:] for line in text.splitlines() if line.startswith("001")}
    assert (cells[third[0]], cells[third[1]]) == (f"{third[1]:>4} w +", f"{third[0]:>4} b -")


def test_a_foreign_report(tmp_path: Path) -> None:
    path = tmp_path / "club.trf"
    for data in (
        FOREIGN.encode(),
        FOREIGN.replace("\n", "\r\n").encode("utf-8-sig"),
        FOREIGN.replace("\n", "\r").encode("utf-16"),
    ):
        path.write_bytes(data)
        report = check_document(path)
        assert (report.exit_code, report.wrong, report.rounds) == (0, (), 2)
    path.write_bytes(FOREIGN.encode("cp1250"))
    with pytest.raises(InputError, match=r"line 10: byte \d+ is not UTF-8, expected UTF-8, or --encoding"):
        check_document(path)
    assert check_document(path, "cp1250").exit_code == 0
    with pytest.raises(InputError, match="--encoding: 'klingon'"):
        check_document(path, "klingon")
    log = remade(FOREIGN)
    first, second = log.state.rounds
    assert (first.tables, second.tables, second.byes) == (((1, 3), (4, 2)), ((2, 1),), (3,))
    assert first.results[2] == Result((2, 1), forfeited=(0,))
    assert second.awards == {4: 30}


@pytest.mark.parametrize(
    ("old", "new", "code", "told"),
    [
        (" 1.5    1     3", " 2.0    1     3", STANDINGS, "line 7, columns 81 to 84: player 1 has 2.0 points; by the"),
        (" 0.5    4", " 0.5    2", STANDINGS, "line 11, columns 86 to 89: player 4 is ranked 2, before player 3"),
        ("0000 - U", "0000 - Z", STANDINGS, "line 10, columns 81 to 84: player 3 has 1.0 points; by the results 0.0"),
        ("0000 - H", "0000 - U", PAIRING, "EVT-B2"),
    ],
)  # fmt: skip
def test_what_does_not_follow_is_named(tmp_path: Path, old: str, new: str, code: int, told: str) -> None:
    path = tmp_path / "club.trf"
    assert old in FOREIGN
    path.write_text(FOREIGN.replace(old, new), encoding="utf-8")
    report = check_document(path)
    assert report.exit_code == code
    assert told in "; ".join(report.wrong)


def test_meeting_again_is_a_comment(tmp_path: Path) -> None:
    path = tmp_path / "club.trf"
    players = [
        row(1, "Anna", "2.0", 1, "   2 w 1", "   2 b 1"),
        row(2, "Ben", "0.0", 2, "   1 b 0", "   1 w 0"),
    ]
    path.write_text("\n".join(players), encoding="utf-8")
    report = check_document(path)
    assert (report.exit_code, report.remarks) == (0, ("players 1 and 2 met 2 times (C.04.1.b)",))
    assert "comment: players 1 and 2 met 2 times (C.04.1.b)" in list(report.lines())


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("001    2", "001    1", "line 8, columns 5 to 8: player 1 again, expected each once"),
        ("001    2", "001    x", "line 8, columns 5 to 8: 'x', expected a number from 1 to 9999"),
        ("   3 w 1", "   9 w 1", "line 7, columns 92 to 99: opponent 9, expected another player of the file"),
        ("   3 w 1", "   4 w 1", "line 7, columns 92 to 99: opponent 4, whose line 11 says otherwise"),
        ("   3 w 1", "   3 b 1", "line 7, columns 92 to 99: both play b, expected w and b"),
        ("   3 w 1", "   3 w =", "line 7, columns 92 to 99: result =, and 0 on line 10, expected results that fit"),
        ("   3 w 1", "   3 x 1", "line 7, column 97: 'x', expected w or b, as there is an opponent"),
        ("   3 w 1", "   3 w ?", "line 7, column 99: '?', expected one of 1 0 ="),
        ("   3 w 1", "   3 w H", "line 7, column 99: 'H', expected a result, as there is an opponent"),
        ("0000 - U", "0000 - 1", "line 10, columns 102 to 105: no opponent, and the result 1, expected an opponent"),
        (" 1.5    1     3", " 1,5    1     3", "line 7, columns 81 to 84: '1,5', expected points such as 11.5"),
        (" 1.5    1     3", "1.55    1     3", "line 7, columns 81 to 84: '1.55', expected one digit behind the point"),
        ("XXR 3", "XXR 99", "line 5, columns 5 to 80: '99', expected a number from 1 to 20"),
        ("XXR 3", "XYZ\t3", "line 5, column 4: a tab, expected spaces"),
        ("XXR 3", "777 3", "line 5, columns 1 to 3: '777', expected a record of TRF26"),
        ("XXR 3", "310 3", "line 5, columns 1 to 3: a record of teams, 310, expected a tournament of single players"),
        ("D 0.5", "D 1.0", "line 6, column 6: a draw that is not half of a win and a loss"),
        ("D 0.5", "Q 0.5", "line 6, column 15: 'Q', expected one of W, D, L, A, P, X"),
        ("D 0.5", "A 0.5", "line 6, columns 16 to 19: 0.5 points for absence, expected none (EVT-B4)"),
        ("XXR 3", "299          -9.0  001    1", "line 5: player 1 has less than no points"),
        ("XXR 3", "299           1.0  000    1", "line 5, columns 20 to 22: all rounds, expected the round"),
        ("XXR 3", "299           1.0  001    9", "line 5: player 9, expected a player of the file"),
        ("XXR 3", "260 001 003    1    9", "record 260: players 1 and 9, expected players of the file"),
        ("Ng, Ben", "Ng, \x07Ben", "line 8, columns 15 to 47: 'Ng, \\x07Ben', expected 1 to 80 characters"),
    ],
)
def test_bad_input_is_named(tmp_path: Path, old: str, new: str, told: str) -> None:
    assert old in FOREIGN
    path = tmp_path / "club.trf"
    path.write_text(FOREIGN.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError) as raised:
        check_document(path)
    assert told in str(raised.value)
    assert str(raised.value).startswith(f"{path}: ")


@given(st.data())
def test_any_other_file_is_refused_or_read(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Bytes of a report are exchanged: an error names what is wrong, and nothing else comes out."""
    made = bytearray(FOREIGN.encode())
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(made) - 1))
        made[at : at + data.draw(st.integers(0, 3))] = data.draw(
            st.one_of(st.binary(max_size=3), st.text("0123456789wbUHFZ=+- .\n", max_size=3).map(str.encode))
        )
    path = tmp_path_factory.getbasetemp() / "any.trf"
    path.write_bytes(bytes(made))
    with suppress(InputError):
        assert check_document(path, "latin-1").exit_code in (0, 8, PAIRING, STANDINGS)


@pytest.mark.parametrize("data", [b"", b"\r\n\r\n", b"### nothing\n", b"012 only a name\n"])
def test_a_file_without_players(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "club.trf"
    path.write_bytes(data)
    with pytest.raises(InputError, match="TRF: no record 001"):
        check_document(path)


def test_what_the_form_cannot_say_is_refused() -> None:
    for others, told in (
        ({}, "tables of 4, 3, expected an event of tables of two"),
        ({**TWOS, "cut": 4, "cut_size": 2, "cut_advance": 1}, "a knock-out after the cut"),
        ({**TWOS, "points": ((100, 0),)}, "100 points, expected tenths up to 99.9"),
        ({**TWOS, "bye_points": 1}, "1/60 points, expected tenths"),
    ):
        log = EventLog.new(terms(**others), key("organiser"))
        with pytest.raises(InputError, match=told):
            written(log.state, Names({}), "spring")


def test_long_names_are_cut_with_a_remark() -> None:
    log = made(2, **TWOS)
    names = Names({}).with_unproved(1, "A" * 40).with_unproved(2, "Ben")
    text, remarks = written(log.state, names, "spring")
    assert remarks == [f"entrant 1: the name is cut after 33 columns: {'A' * 33}"]
    assert f"### {remarks[0]}\r\n" in text
    assert f"001    1      {'A' * 33}" in text
    assert parsed(text.encode()).players[2].name == "Ben"


def test_the_commands(tmp_path: Path) -> None:
    path, report, again = tmp_path / "a.eventlog", tmp_path / "a.trf", tmp_path / "b.eventlog"

    def does(*words: object) -> str:
        done = referee("event", *words)
        assert done.returncode == 0, done
        return done.stdout

    does("new", path, "--rules", "kingdomino", "--sizes", 2, "--points", "2: 3,1", "--rounds", 1, "--bye-points", 3)
    does("enter", path, "Anna", "Ben", "Cara")
    does("checkin", path, "--all")
    does("pair", path)
    does("publish", path)
    does("result", path, 1, "2,1")
    does("close", path)
    assert does("export", path, "--trf", report) == f"wrote {report}\n"
    assert does("check", report).startswith("COMPLETE\n1 round checked")
    assert does("import", again, report).endswith(", 1 rounds\n")
    mine, theirs = does("standings", path).splitlines(), does("standings", again).splitlines()
    assert [line.split()[1] for line in mine] == [line.split()[1] for line in theirs]
    assert EventFile.read_only(again).names[2] == "Ben"
    report.write_text("001 nobody\n")
    done = referee("event", "check", report)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{report}: line 1, columns 5 to 8: 'nobo', expected a number from 1 to 9999" in done.stderr


# Another program


def other(**asked: object) -> Any:
    """Return the answer of caissify-pairings, in an environment of its own."""
    python = ROOT / ".venv" / "compare" / "bin" / "python"
    if (
        not python.exists()
        or subprocess.run([python, "-c", "import caissify_pairings"], check=False, stderr=-3).returncode
    ):
        pytest.skip("caissify-pairings is not installed: make compare")
    program = Path(__file__).parent / "other_trf.py"
    done = subprocess.run([python, "-P", program], input=json.dumps(asked), text=True, capture_output=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.long
@pytest.mark.parametrize("players", [9, 20])
def test_reports_of_another_program_are_lawful(tmp_path: Path, players: int) -> None:
    """Its column of the rank has the number at the start, which follows from nothing."""
    path = tmp_path / "theirs.trf"
    path.write_text(other(players=players, rounds=6, seed=players), encoding="utf-8")
    report = check_document(path)
    assert report.rounds == 6
    assert all("columns 86 to 89" in wrong for wrong in report.wrong)
    assert not report.remarks


@pytest.mark.long
def test_another_program_reads_ours() -> None:
    log = EventLog.new(terms(**TWOS, rounds=5, late_until=5), key("organiser"))
    Simulation(log, SEED, 11, Chances(absent=0.1, forfeit=0.1), 1).run()
    text, _ = written(log.state, Names({}), "spring")
    theirs = {player["starting_number"]: player for player in other(trf=text)["players"]}
    report = parsed(text.encode())
    for number, player in report.players.items():
        assert theirs[number]["score"] * 60 == player.points
        for round_, cell in enumerate(player.cells, 1):
            found = theirs[number]["results"][str(round_)]
            assert (found["opponent"] or 0, found["result"]) == (cell.opponent, cell.code)
