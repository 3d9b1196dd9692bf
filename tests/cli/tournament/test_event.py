"""``referee event`` as an organiser runs it, from an empty folder to final standings."""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from referee.log.verdict import Verdict
from referee.text.words.catalogue import ENGLISH, languages, load
from tests.cli.inside import referee
from tests.text.words.reports import in_english

NAMES = ["Anna", "Ben", "Cara", "Dan", "Eva", "Finn", "Gina"]


class Event:
    """An event in a folder, by its commands."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "spring.eventlog"

    def __call__(self, command: str, *words: object) -> CompletedProcess[str]:
        return referee("event", command, self.path, *words)

    def does(self, command: str, *words: object) -> str:
        done = self(command, *words)
        assert (done.returncode, done.stderr) == (0, ""), done
        return done.stdout

    def fails(self, command: str, *words: object, code: int) -> str:
        """Return what the command prints; the file stays as it was."""
        before = self.path.read_bytes() if self.path.exists() else b""
        done = self(command, *words)
        assert done.returncode == code, done
        assert done.stdout == ""
        assert (self.path.read_bytes() if self.path.exists() else b"") == before
        (line,) = done.stderr.splitlines()
        return line.removeprefix("referee: ")

    def play(self, number: int) -> None:
        """A round in which player 1 wins everywhere."""
        self.does("pair")
        self.does("publish")
        tables = json.loads(self.exported())["rounds"][number - 1]["tables"]
        for each in tables:
            places = ",".join(str(place) for place in range(1, len(each["players"]) + 1))
            self.does("result", each["table"], places)

    def exported(self) -> str:
        new = self.path.with_name("now.json")
        new.unlink(missing_ok=True)
        self.does("export", "--json", new)
        return new.read_text(encoding="utf-8")


@pytest.fixture
def event(tmp_path: Path) -> Event:
    """Seven have entered and are there; two rounds."""
    made = Event(tmp_path)
    made.does("new", "--rules", "kingdomino", "--rounds", 2)
    made.does("enter", *NAMES)
    made.does("checkin", "--all")
    return made


@pytest.mark.parametrize("language", [each for each in languages("report") if each != ENGLISH])
def test_a_pairing_is_shown_with_its_reasons_in_a_language(event: Event, language: str) -> None:
    say = load("report", language)
    shown = event.does("pair", "--dry-run", "--language", language)
    assert shown.startswith(f"{say('draft')}\n{say('pairing.head', n=1, origin=say('origin.swiss'))}\n")
    assert say("pairing.why") in shown.splitlines()
    assert f"  {say('why.round')}: {say('why.swiss')}" in shown.splitlines()
    assert shown.endswith(f"{say('pairing.dry')}\n")
    assert not in_english(" ".join(shown.split()), say)
    wrong = event.fails("pair", "--language", language, code=2)
    assert f"--language {language}: nothing is written in it; expected --dry-run with it" in wrong


def test_an_event_over_the_board(event: Event) -> None:
    shown = event.does("pair", "--dry-run")
    assert shown.endswith("no one here sat at a short table before.\na dry run: nothing is entered\n")
    assert event.does("pair").splitlines()[:3] == shown.splitlines()[:3]
    assert event.does("publish") == "round 1 is published: 2 tables\n"
    assert "still without: 2" in event.does("result", 1, "--scores", "40,52,52,12", "--forfeited", "3")
    assert "round 1 is played: 1 table without a result\ntable 2: " in event.does("status")
    assert "that was the last of the round" in event.does("result", 2, "1,2,3")
    event.does("amend", 2, "2,1,3", "--reason", "the sheet was read wrongly")
    event.does("withdraw", "gina")
    event.does("readmit", 7)
    event.play(2)
    told = event.does("close").splitlines()
    assert len(told) == 1 + len(NAMES) + 1
    assert told[-1].endswith("the event is over")
    assert event.does("standings").splitlines() == told[:-1]
    key = event.path.with_suffix(".vkey")
    assert event.does("check", "--key", key).splitlines()[0] == "COMPLETE"
    assert referee("audit", event.path, "--key", key).stdout.startswith("COMPLETE\n")
    untrusted = event("check")
    assert (untrusted.returncode, untrusted.stdout.splitlines()[0]) == (5, "UNTRUSTED_KEY")


def test_what_was_entered_is_shown(event: Event) -> None:
    event.does("forbid", "Anna", "Ben")
    event.play(1)
    event.does("award", "Cara", "2.5", "--reason", "a spilled glass")
    first, *_, last = event.does("show").splitlines()
    assert first.startswith("1  ")
    assert first.endswith("  1 Anna enters")
    assert last.endswith("  round 1: 3 Cara is given 2.5 points: a spilled glass")
    assert "  1 Anna and 2 Ben should not meet\n" in event.does("show")


def test_what_is_secret_is_the_organisers_alone(event: Event) -> None:
    private = event.path.with_suffix(".private")
    assert private.stat().st_mode & 0o777 == 0o700
    assert {path.name: path.stat().st_mode & 0o777 for path in private.iterdir()} == dict.fromkeys(
        ("names.csv", "organiser.pem", "referee.pem", "seed"), 0o600
    )
    seed = bytes.fromhex((private / "seed").read_text(encoding="ascii"))
    data = event.path.read_bytes()
    assert seed not in data
    assert b"Anna" not in data


def test_a_pairing_by_hand_is_recorded_beside_the_engines(event: Event) -> None:
    assert "EVT-E2" in event.fails("pair", "--tables", "1,2,3,4;5,6,7", code=8)
    event.does("pair", "--tables", "1,2,3,4;5,6,7", "--reason", "they share a car")
    (round_,) = json.loads(event.exported())["rounds"]
    assert (round_["origin"], round_["reason"]) == ("manual", "they share a car")
    assert len(round_["engine_vector"]) == len(round_["vector"]) == 9
    event.does("pair", "--tables", "1,2,3,5;4,6,7", "--external", "swiss-o-mat 3", "--reason", "the league's own")
    (round_,) = json.loads(event.exported())["rounds"]
    assert (round_["origin"], round_["engine"]) == ("external", "swiss-o-mat 3")


def test_entrants_have_a_share_in_the_draw(tmp_path: Path) -> None:
    event = Event(tmp_path)
    event.does("new", "--rules", "kingdomino")
    event.does("enter", *NAMES)
    shares = {}
    for number in (1, 2):
        told = dict(line.split() for line in referee("event", "share", number).stdout.splitlines())
        shares[number] = told["share"]
        event.does("checkin", number, "--commitment", told["commitment"])
    event.does("checkin", "--all")
    assert "draw: entrants 1, 2 have a share in it" in event.fails("pair", code=2)
    assert "(EVT-S13" in event.fails("draw", "--share", f"2={shares[1]}", code=8)
    assert event.does("draw", "--share", f"1={shares[1]}").endswith("entrant 2 did not open a share\n")
    event.does("pair")


def test_who_comes_during_the_event_plays_from_the_next_round(tmp_path: Path) -> None:
    event = Event(tmp_path)
    event.does("new", "--rules", "kingdomino", "--late-until", 2)
    event.does("enter", *NAMES)
    event.does("checkin", *NAMES[:6])
    event.play(1)
    event.does("checkin", "Gina")
    event.does("enter", "Hugo", "--late", 2)
    event.does("pair")
    (first, second) = json.loads(event.exported())["rounds"]
    assert {who for table in second["tables"] for who in table["players"]} == set(range(1, 9))
    assert first["absent"] == [7]
    event.does("publish")
    assert referee("event", "check", event.path.with_name("now.json")).returncode == 0


def test_after_the_last_round_there_is_only_the_end(event: Event) -> None:
    event.play(1)
    event.play(2)
    assert "round: all of them are played, expected `referee event close`" in event.fails("pair", code=2)


def test_a_plan_is_followed_where_it_fits(event: Event) -> None:
    event.does("plan", "--round", 1, "--tables", "1,2,3,4;5,6,7")
    assert "round 1, planned\n" in event.does("pair")
    event.does("withdraw", 7)
    assert "round 1, swiss\n" in event.does("pair")


@pytest.mark.long
def test_all_rounds_are_planned(tmp_path: Path) -> None:
    event = Event(tmp_path)
    event.does("new", "--rules", "kingdomino", "--sizes", "3", "--points", "3: 4,2,0", "--rounds", 4)
    event.does("enter", *NAMES, "Hugo", "Ida")
    event.does("checkin", "--all")
    told = event.does("status")
    assert "rounds in which no two players meet twice: 4 are known, more than 4 cannot be" in told
    assert "9 players: tables of 3 give 4 without meeting twice" in told
    assert "pairs meet again, expected at most 4 rounds" in event.fails("plan", "--rounds", 5, code=2)
    assert event.does("plan") == "rounds 1 to 4 are planned\n"
    for number in range(1, 5):
        event.play(number)
    event.does("close")
    rounds = json.loads(event.exported())["rounds"]
    assert [each["origin"] for each in rounds] == ["planned"] * 4
    assert [each["vector"][3] for each in rounds] == [0] * 4
    assert referee("event", "check", event.path.with_name("now.json")).returncode == 0


def test_a_knock_out(tmp_path: Path) -> None:
    event = Event(tmp_path)
    event.does("new", "--rules", "rollwrite", "--rounds", 1, "--cut", 4, "--cut-size", 2, "--cut-advance", 1)
    event.does("enter", *NAMES, "Hugo")
    event.does("checkin", "--all")
    event.play(1)
    event.play(2)
    event.play(3)
    standings = event.does("close").splitlines()
    rounds = json.loads(event.exported())["rounds"]
    assert [each["origin"] for each in rounds] == ["swiss", "knock-out", "knock-out"]
    assert [len(each["tables"]) for each in rounds] == [2, 2, 1]
    first, second = rounds[2]["tables"][0]["players"]
    assert standings[1].split()[-2:] == [str(first), [*NAMES, "Hugo"][first - 1]]
    assert standings[2].split()[-2] == str(second)


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("enter", "anna"), 2, "name: 'anna' is entrant 1 already, expected another name"),
        (("enter", "a\nb"), 2, "name: 'a\\nb', expected 1 to 80 characters on one line"),
        (("enter",), 2, "NAME: no name, expected names, or --csv"),
        (("checkin", 9), 8, "nothing entered: entrant 9: no such entrant (EVT-R1"),
        (("withdraw", 99999999999), 2, "act: a number that is too large, expected numbers of an event"),
        (("absent", 1, 99999999999), 2, "act: a number that is too large, expected numbers of an event"),
        (("draw", "--share", "99999999999=00"), 2, "--share: '99999999999=00', expected NUMBER=HEX, once for each"),
        (("checkin", "Zoe"), 2, "entrant: 'Zoe', expected an entrant's number or whole name"),
        (("checkin", 1), 8, "the entrant has checked in already (EVT-R1"),
        (("publish",), 8, "round 1: the round is not paired, or is closed (EVT-U1"),
        (("result", 1, "1,2,3,4"), 2, "round: none is paired, expected `referee event pair` first"),
        (("close",), 8, "rounds are left to play; to stop early is to abandon (EVT-E3"),
        (("close", "--abandon"), 8, "(EVT-E2"),
        (("absent", 1, 3), 8, "(EVT-R7"),
        (("forbid", 1, 1), 8, "a pair needs two different entrants (EVT-R1"),
        (("plan", "--tables", "1,2,2,4"), 8, "(EVT-P11"),
        (("plan", "--tables", "1,x"), 2, "--tables: '1,x', expected numbers with commas between them"),
        (("pair", "--tables", "1,2,3,4", "--reason", "so"), 2, "pairing: entrant 5, who is not there or not in it"),
        (("export",), 2, "export: nothing to write, expected --json, --csv, --html or --trf"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_entered(
    event: Event, words: tuple[object, ...], code: int, told: str
) -> None:
    command, *rest = words
    assert told in event.fails(str(command), *rest, code=code)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--rules", "chess"), "--rules: chess, expected one of alhambra, kingdomino, rollwrite"),
        (
            ("--rules", "kingdomino", "--sizes", "3,2"),
            '--points: no points for tables of 2, expected points for each size, such as --points "3: 5,3,1; 2: 2,1"',
        ),
        (("--rules", "kingdomino", "--sizes", "7"), "--points: no points for tables of 7, expected"),
        (("--rules", "kingdomino", "--sizes", "7", "--points", "7: 1,0,0,0,0,0,0"), "sizes: 7; expected 2 to 6"),
        (("--rules", "kingdomino", "--points", "4: 1,3,2,1; 3: 5,3,1"), "points: of tables of 4: 1, 3, 2, 1; expected"),
        (("--rules", "kingdomino", "--points", "4: 5,3,2,1; 4: 5,3,1"), "--points: '4: 5,3,1', expected a size"),
        (("--rules", "kingdomino", "--bye-points", "6"), "bye_points: 6; expected at most 5, a first place"),
        (("--rules", "kingdomino", "--bye-points", "1/7"), "--bye-points: '1/7', expected points such as"),
        (("--rules", "kingdomino", "--tie-breaks", "luck"), "--tie-breaks: luck, expected some of wins,"),
        (("--rules", "kingdomino", "--points", "4: 2,2,2,2; 3: 5,3,1"), "points: of tables of 4: 2, 2, 2, 2; expected"),
        (("--rules", "kingdomino", "--points", "4: 5,3,2; 3: 5,3,1"), "points: of tables of 4: 3 places; expected 4"),
        (("--rules", "kingdomino", "--sizes", "4,4"), "--points"),
        (("--rules", "kingdomino", "--sizes", ""), "--sizes: '', expected numbers with commas between them"),
        (("--rules", "kingdomino", "--rounds", "21"), "rounds: 21; expected 1 to 20"),
        (
            ("--rules", "kingdomino", "--cut-size", "4"),
            "cut: a knock-out without players; expected the number that advances",
        ),
    ],
)
def test_terms_that_cannot_be_are_refused(tmp_path: Path, words: tuple[str, ...], told: str) -> None:
    event = Event(tmp_path)
    assert told in event.fails("new", *words, code=2)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("result", 9, "1,2,3,4"), 8, "round 1, table 9: the round has no such table (EVT-G2"),
        (("result", 1, "1,2,3"), 8, "round 1, table 1: expected a place for each of 4 seats"),
        (("result", 1, "1,1,2,4"), 8, "round 1, table 1: expected a place for each of 4 seats"),
        (("result", 1, "1,x,3,4"), 2, "PLACES: '1,x,3,4', expected numbers with commas between them"),
        (("result", 1), 2, "no result, expected places by seat"),
        (("result", 1, "--scores", "40,30"), 8, "round 1, table 1: expected a place for each of 4 seats"),
        (("result", 1, "1,2,3,4", "--scores", "40,30"), 8, "round 1, table 1: expected the scores of 4 seats"),
        (("result", 1, "1,2,3,4", "--forfeited", "4"), 8, "round 1, table 1: a player who forfeits was at the table"),
        (("result", 1, "1,2,3,4", "--log", "none.gamelog"), 2, "--log: places or points beside it"),
        (("result", 1, "--log", "none.gamelog"), 1, "none.gamelog: No such file or directory"),
        (("result", 2, "1,2,3"), 8, "round 1, table 2: the table has a result; another is an amendment (EVT-G3"),
        (("amend", 1, "1,2,3,4", "--reason", "so"), 8, "round 1, table 1: the table has no result to amend (EVT-G3"),
        (("amend", 2, "2,1,3", "--reason", "so", "--round", 2), 8, "round 2: the round is not published (EVT-G2"),
        (("award", "Zoe", "3", "--reason", "so"), 2, "entrant: 'Zoe', expected an entrant's number or whole name"),
        (("award", 1, "1/7", "--reason", "so"), 2, "POINTS: '1/7', expected points such as 3, 2.5 or 5/3"),
        (("award", 1, "3", "--reason", "a\nb"), 8, "expected a reason of 1 to 200 characters on one line (EVT-E2"),
        (("void", 9, "--reason", "so"), 8, "round 1, table 9: the round has no such table (EVT-G2"),
        (("open", 1, "12"), 2, "GAME: '12', expected"),
        (("pair",), 8, "nothing entered: round 1, table 1: the table has no result (EVT-G4"),
        (("close",), 8, "EVT-G4"),
        (("enter", "Zoe", "--late", 3), 8, "entrant 8, round 3: a late entrant begins in a round"),
        (("withdraw", "entrant 1"), 2, "entrant: 'entrant 1', expected an entrant's number or whole name"),
    ],
)
def test_a_round_takes_only_what_fits(event: Event, words: tuple[object, ...], code: int, told: str) -> None:
    """The round is published, and its second table has a result. One line says what is wrong and where."""
    event.does("pair")
    event.does("publish")
    event.does("result", 2, "1,2,3")
    command, *rest = words
    assert told in event.fails(str(command), *rest, code=code)


def test_nothing_is_entered_after_the_end(event: Event) -> None:
    event.play(1)
    event.play(2)
    event.does("close")
    acts = [("enter", "Zoe"), ("result", 1, "1,2,3,4"), ("withdraw", 1), ("close",)]
    acts += [("amend", 1, "1,2,3,4", "--reason", "so"), ("void", 1, "--reason", "so"), ("checkin", 1)]
    for command, *rest in acts:
        assert "the event is over" in event.fails(str(command), *rest, code=8), command


def test_too_few_for_any_table(tmp_path: Path) -> None:
    """These players cannot fill the sizes: no player is left with a round of byes."""
    event = Event(tmp_path)
    event.does("new", "--rules", "kingdomino", "--sizes", "4", "--points", "4: 5,3,2,1")
    event.does("enter", "Anna", "Ben", "Cara")
    event.does("checkin", "--all")
    assert event.fails("pair", code=2).startswith("round: 3 of the entrants are there, expected 4 or more")


def test_an_event_is_no_game(event: Event) -> None:
    """The audit of an event as a file names it an event, and the commands that show more; commands for games show
    nothing."""
    event.play(1)
    key = event.path.with_suffix(".vkey")
    told = referee("audit", event.path, "--key", key)
    assert told.returncode == Verdict.PREFIX
    assert "entrants: 7, rounds closed: 0, tables: 2, results: 2, state: being played" in told.stdout.splitlines()
    event.play(2)
    event.does("close")
    told = referee("audit", event.path, "--key", key)
    _, what, _, course, more, *_ = told.stdout.splitlines()
    assert what.startswith("event ")
    assert course == "entrants: 7, rounds closed: 2, tables: 4, results: 4, state: over"
    assert more == "`referee event check FILE --games DIR` compares the results with the logs of the games"
    assert not any(word in told.stdout for word in ("seat 0", "wins", "ending", "chance"))
    document = json.loads(referee("audit", event.path, "--key", key, "--json").stdout)
    assert document["event"] == {"entrants": 7, "rounds_closed": 2, "tables": 4, "results": 4, "state": "over"}
    assert (document["result"], document["ending"], document["places"]) == (None, "", [])
    for command in ("show", "report", "score"):
        told = referee(command, event.path)
        assert (told.returncode, told.stdout) == (Verdict.UNSUPPORTED, "")
        assert "the file is an event's, not a game's; expected `referee event show FILE`" in told.stderr


def test_unequal_sums_are_told(tmp_path: Path) -> None:
    assert "note: a table of 3 shares 9 points among 3" in Event(tmp_path).does("new", "--rules", "kingdomino")


def test_an_event_is_never_replaced(event: Event) -> None:
    assert "File exists" in event.fails("new", "--rules", "kingdomino", code=1)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"Zoe\n\nYves\n", "entered 2 players: 8 to 9"),
        (b"\xef\xbb\xbfno;name;club\r\n1;Zoe;Red\r\n;;\r\n2;Yves;Blue\r\n", "entered 2 players: 8 to 9"),
        (b"name\tclub\nZoe\tRed\n", "entered 1 player: 8"),
        (b'"Name"\n"Zoe, the younger"\n', "entered 1 player: 8"),
        (b"Zoe\nYv\xe9s\n", "line 2: byte 6 is not UTF-8, expected a file in UTF-8"),
        (b"Zoe\nAnna\n", "line 2: name: 'Anna' is entrant 1"),
        (b"club;name\nRed\n", "line 2: no name, expected 2 columns"),
        (b"Zoe;Red\n", "line 1: 2 columns, expected one name, in quotation marks if it has a comma, or a first line"),
        ("Zoë\nDvořák, Antonín\n".encode(), "line 2: 2 columns, expected one name, in quotation marks if it has"),
        (b"name\nZo\x07e\n", "line 2, name: 'Zo\\x07e', expected 1 to 80 characters"),
        (b"", "list: no names"),
        (b"\r\n  \r\n;;\r\n", "list: no names"),
        (b"\n\nno;name\n\n1;Zoe\n", "entered 1 player: 8"),
        (b"no|name\n1|Zoe\n", "entered 1 player: 8"),
        (b"Zoe\rYves\r", "entered 2 players: 8 to 9"),
        (b"name,no\nZoe,1\n\n,2\n", "line 4, name: '', expected 1 to 80 characters"),
        ("name\nZo\u202ee\n".encode(), "line 2, name: 'Zo\\u202ee', expected 1 to 80 characters"),
        (b"name\n" + b"Z" * 81 + b"\n", "line 2, name: 'ZZ"),
        (b"name\nZoe\nYves\nzoe\n", "line 4: name: 'zoe' is entrant 8"),
        ("name\nZoe\n".encode("utf-16"), "line 1: byte 0 is not UTF-8, expected a file in UTF-8"),
        ("name\nZoe\n".encode("utf-16-le"), "line 1, name: 'n\\x00a"),
        (b'name\n"Zoe\nYves\n', "line 3, name: 'Zoe\\nYves"),
        (b"name\n" + b"Z" * 200_000, "line 2: field larger than field limit"),
    ],
)
def test_a_list_of_names(event: Event, data: bytes, told: str) -> None:
    path = event.path.with_name("list.csv")
    path.write_bytes(data)
    if told.startswith("entered"):
        assert event.does("enter", "--csv", path) == f"{told}\n"
    else:
        assert told in event.fails("enter", "--csv", path, code=2)


def test_two_organisers_at_once(event: Event) -> None:
    descriptor = os.open(event.path.with_suffix(".private"), os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        assert "another command, or a desk, is entering something in this event; try again" in event.fails(
            "enter", "Zoe", code=1
        )
        assert event.does("status").startswith("event ")
    finally:
        os.close(descriptor)


# Arbiters


def test_arbiters_sign_with_keys_of_their_own(tmp_path: Path) -> None:
    event = Event(tmp_path)
    for name in ("ann", "bob", "eve"):
        assert referee("keys", tmp_path / f"{name}.pem", "--new").returncode == 0
    arbiters = [word for name in ("ann", "bob") for word in ("--arbiter", tmp_path / f"{name}.pem")]
    event.does("new", "--rules", "kingdomino", "--rounds", 1, *arbiters)
    event.does("enter", *NAMES)
    event.does("checkin", "--all")
    event.does("pair")
    event.does("publish")
    event.does("result", 1, "2,1,3,4", "--key", tmp_path / "ann.pem")
    stranger = event.fails("result", 2, "1,2,3", "--key", tmp_path / "eve.pem", code=4)
    assert "the key is neither the organiser's nor an arbiter's of this event" in stranger
    event.does("result", 2, "1,2,3")
    event.does("amend", 1, "1,2,3,4", "--reason", "read wrongly", "--key", tmp_path / "bob.pem")
    event.does("award", "Anna", 3, "--reason", "a spilled glass", "--key", tmp_path / "bob.pem")
    signed = [line.rsplit(", signed by ", 1)[-1] for line in event.does("show").splitlines() if "signed by" in line]
    assert signed == ["arbiter 1", "arbiter 2", "arbiter 2"]
    event.does("close")
    told = [line.split("  ") for line in event.does("arbiters").splitlines()]
    assert [(who, acts) for who, _, acts in told[1:]] == [("arbiter 1", "1 act"), ("arbiter 2", "2 acts")]
    key = event.path.with_suffix(".vkey")
    report = event.does("check", "--key", key)
    own = int(told[0][2].split()[0])
    assert f"acts: {own} by the organiser, 1 by arbiter 1, 2 by arbiter 2\n" in report
    found = json.loads(event.does("check", "--key", key, "--json"))
    assert found["signed"] == {"the organiser": own, "arbiter 1": 1, "arbiter 2": 2}


def test_an_arbiter_is_named_once(tmp_path: Path) -> None:
    event = Event(tmp_path)
    assert referee("keys", tmp_path / "ann.pem", "--new").returncode == 0
    twice = ["--arbiter", tmp_path / "ann.pem"] * 2
    assert "scribe_keys" in event.fails("new", "--rules", "kingdomino", *twice, code=4)
    assert "--arbiter nobody.pem: No such file" in event.fails(
        "new", "--rules", "kingdomino", "--arbiter", "nobody.pem", code=2
    )
    assert not event.path.with_suffix(".private").exists()


# Documents


def test_a_document_makes_the_same_event_again(event: Event) -> None:
    event.play(1)
    event.does("amend", 1, "4,3,2,1", "--reason", "read from the wrong end")
    event.does("award", "Anna", "5/3", "--reason", "a spilled glass")
    event.play(2)
    event.does("amend", 2, "3,2,1", "--round", 1, "--reason", "found later")
    event.does("close")
    document = event.path.with_name("spring.json")
    event.does("export", "--json", document)
    assert referee("event", "check", document).stdout.startswith("COMPLETE\n2 rounds checked")
    again = Event(event.path.parent / "again")
    again.path.parent.mkdir()
    again.does("import", document)
    found, expected = json.loads(again.exported()), json.loads(document.read_text(encoding="utf-8"))
    assert found.pop("event_id") != expected.pop("event_id")
    assert found == expected


def _swap(document: Any) -> None:
    first, second = [table["players"] for table in document["rounds"][1]["tables"]]
    first[0], second[0] = second[0], first[0]


def _drop(document: Any) -> None:
    document["rounds"][1]["tables"][0]["players"].pop()


def _fraction(document: Any) -> None:
    document["standings"][0]["tie_breaks"]["relative"] = "1/3"


def _points(document: Any) -> None:
    document["rounds"][0]["tables"][0]["points"][0] += 1


def _vector(document: Any) -> None:
    document["rounds"][0]["vector"][6] += 60


@pytest.mark.parametrize(
    ("change", "code", "told"),
    [
        (_swap, 11, "(EVT-P6"),
        (_drop, 11, "times 0, present True (EVT-P1"),
        (_vector, 11, "round 1, stated"),
        (_fraction, 12, "relative: 1/3; by the results"),
        (_points, 12, "round 1, table 1: points"),
    ],
)
def test_what_is_wrong_with_a_document_is_named(event: Event, change: Any, code: int, told: str) -> None:
    event.play(1)
    event.play(2)
    event.does("close")
    document = json.loads(event.exported())
    change(document)
    path = event.path.with_name("changed.json")
    path.write_text(json.dumps(document), encoding="utf-8")
    done = referee("event", "check", path)
    assert done.returncode == code, done.stdout
    assert told in done.stdout
    assert referee("event", "import", event.path.with_name("new.eventlog"), path).returncode in (
        (8,) if code == 11 else (0,)
    )


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda d: d.pop("terms"), "terms: nothing, expected this field"),
        (lambda d: d.update(version=2), "version: 2, expected 1"),
        (lambda d: d["entrants"][0].update(number="1"), "entrants[0].number: '1', expected a number from 0 on"),
        (lambda d: d["terms"].update(sizes=[9]), "terms.sizes: 9; expected 2 to 6"),
        (lambda d: d["standings"][0]["tie_breaks"].update(wins="0.5"), "standings[0].tie_breaks.wins: '0.5', expected"),
        (lambda d: d["rounds"][0].update(origin="magic"), "rounds[0].origin: 'magic', expected one of swiss"),
    ],
)
def test_a_document_of_another_form_is_refused(event: Event, change: Any, told: str) -> None:
    event.play(1)
    document = json.loads(event.exported())
    change(document)
    path = event.path.with_name("changed.json")
    path.write_text(json.dumps(document), encoding="utf-8")
    for words in (("check", path), ("import", event.path.with_name("new.eventlog"), path)):
        done = referee("event", *words)
        assert (done.returncode, done.stdout) == (2, "")
        assert told in done.stderr
    assert not event.path.with_name("new.eventlog").exists()


def test_tables_and_pages(event: Event) -> None:
    event.does("enter", "<b>=Zoe & co</b>", "=1+1")
    event.does("checkin", 8, 9)
    event.play(1)
    folder = event.path.with_name("out")
    event.does("export", "--csv", folder, "--html", folder)
    assert sorted(path.name for path in folder.iterdir()) == [
        "crosstable.csv",
        "crosstable.html",
        "entrants.csv",
        "pairings.csv",
        "round-1-names.html",
        "round-1-slips.html",
        "round-1-tables.html",
        "round-1-why.html",
        "standings.csv",
        "standings.html",
    ]
    for page in folder.glob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert ("&lt;b&gt;=Zoe &amp; co&lt;/b&gt;" in text) == (page.name != "round-1-why.html")
        assert "<b>" not in text
        assert "<script" not in text
        assert "http" not in text
    assert ",'=1+1," in (folder / "standings.csv").read_text(encoding="utf-8")
    event.does("export", "--html", folder, "--without-names", "--web", "https://club.example")
    assert "Anna" not in (folder / "standings.html").read_text(encoding="utf-8")
    slips = (folder / "round-1-slips.html").read_text(encoding="utf-8")
    assert "Anna" not in slips
    assert "https://club.example/event/" in slips
    assert "--web: 'club.example', expected an address" in event.fails(
        "export", "--html", folder, "--web", "club.example", code=2
    )


def test_what_a_slip_says_names_its_table(event: Event) -> None:
    event.does("pair")
    event.does("publish")
    number = event.does("status").split()[1]
    assert "table 2, places 1, 2, 3" in event.does("result", f"{number} 1 2", "1,2,3")
    assert "table 1, places 2, 1, 3, 3" in event.does(
        "result", f"https://x.example/event/{number}?round=1&table=1", "2,1,3,3"
    )
    assert "TABLE: a slip of round 2, expected one of round 1" in event.fails(
        "amend", f"{number} 2 2", "2,1,3", "--reason", "so", code=2
    )
    assert f"TABLE: a slip of event 1234567, expected one of this event, {number}" in event.fails(
        "result", "1234567 1 2", "1,2,3", code=2
    )
    assert "TABLE: 'two', expected a table's number" in event.fails("result", "two", "1,2,3", code=2)


def test_players_whom_nobody_can_tell_apart(event: Event) -> None:
    """One name is one player, in whatever form of Unicode and with whatever blanks; a likeness is pointed out."""
    event.does("enter", "Jan Novák")
    for same in ("Jan Nova\u0301k", "Jan  Novák", "JAN NOVÁK", "Jan\u00a0Novák"):
        assert "already, expected another name" in event.fails("enter", same, code=2)
    done = event("enter", "Jаn Novák")  # with a Cyrillic letter
    assert done.returncode == 0
    assert "warning: Jаn Novák and Jan Novák, entrant" in done.stderr
