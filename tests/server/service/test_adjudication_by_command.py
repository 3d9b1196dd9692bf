"""AdjudicationService says what ``referee adjudicate``, ``referee score`` and ``referee report`` say."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from referee.games.kingdomino.moves import DiscardDomino
from referee.server.service import adjudication
from referee.text.notation.game_text import write
from referee.text.notation.headers import Setup
from referee.text.report.rulings import Policy
from referee.v1 import adjudication_service_pb2 as pb
from referee.v1 import adjudication_service_pb2_grpc as pb_grpc
from referee_clients.sdk.adjudication import HTML, TEXT
from tests.cli.inside import referee
from tests.server.service.adjudication import API, FOUL, judging
from tests.server.service.player import Client, Play, refused, token_of
from tests.text.notation.page import BOARDS
from tests.text.notation.setups import PLAIN, play, text_of
from tests.text.report.adjudication import AWAY, START
from tests.text.report.sheet import POSITION

ALHAMBRA, KINGDOMINO, ROLLWRITE = PLAIN
MARKS = {
    pb.EnteredEvent.STEP_PLAYED: "",
    pb.EnteredEvent.STEP_REFUSED: "refused",
    pb.EnteredEvent.STEP_STAND_IN: "stand-in",
    pb.EnteredEvent.STEP_ACCEPTED: "accepted",
}


@cache
def whole(setup: Setup) -> str:
    """Return the record of a whole game."""
    return write(text_of(setup, play(setup, seed=5)))


def spoilt(setup: Setup, change: Callable[[str], list[str]]) -> str:
    """Return the record with lines in the place of a move, the fifth from the end."""
    lines = whole(setup).split("\n")
    at = [number for number, line in enumerate(lines) if re.match(r"\d: ", line)][-5]
    return "\n".join([*lines[:at], *change(lines[at]), *lines[at + 1 :]])


def as_played(setup: Setup) -> Callable[[], str]:
    return partial(whole, setup)


def twice(setup: Setup) -> Callable[[], str]:
    """With one move twice."""
    return partial(spoilt, setup, lambda line: [line, line])


def left_out(setup: Setup) -> Callable[[], str]:
    """Without one move."""
    return partial(spoilt, setup, lambda _: [])


def other_result() -> str:
    return re.sub(r'\[Result ".*"\]', '[Result "99 1"]', whole(KINGDOMINO))


def plain(text: str) -> str:
    """Without line breaks and indents."""
    return re.sub(r"\s+", " ", text)


# --- records -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Record:
    """A record, what becomes of illegal moves in it, and what the command and the service say of it."""

    text: Callable[[], str]
    policy: Policy
    code: int = 0
    """The exit code of the command."""
    illegal: int = 0
    """The number of illegal lines."""
    stops: bool = False
    """True if the last one of them ends the adjudication."""
    claims: bool = False
    """True if the record has another result than the rules."""
    marks: frozenset[str] = frozenset({""})
    """Those of what is entered."""


STOP, SKIP, ACCEPT = Policy.STOP, Policy.SKIP, Policy.ACCEPT
REFUSED, STOOD_IN, ACCEPTED = (
    frozenset({"", "refused"}),
    frozenset({"", "refused", "stand-in"}),
    frozenset({"", "accepted"}),
)
RECORDS = {
    "a whole game of alhambra": Record(as_played(ALHAMBRA), STOP),
    "a whole game of kingdomino": Record(as_played(KINGDOMINO), STOP),
    "a whole game of rollwrite": Record(as_played(ROLLWRITE), STOP),
    "alhambra, a move twice, stops": Record(twice(ALHAMBRA), STOP, 8, 1, stops=True),
    "kingdomino, a move twice, stops": Record(twice(KINGDOMINO), STOP, 8, 1, stops=True),
    "rollwrite, a move twice, stops": Record(twice(ROLLWRITE), STOP, 8, 1, stops=True),
    "alhambra, a move twice, does not count": Record(twice(ALHAMBRA), SKIP, 0, 1, marks=REFUSED),
    "kingdomino, a move twice, does not count": Record(twice(KINGDOMINO), SKIP, 0, 1, marks=REFUSED),
    "rollwrite, a move twice, does not count": Record(twice(ROLLWRITE), SKIP, 0, 1),
    "alhambra, a move twice, cannot stand": Record(twice(ALHAMBRA), ACCEPT, 8, 1, stops=True),
    "a move in the place of one that does not count": Record(left_out(KINGDOMINO), SKIP, 0, 1, marks=STOOD_IN),
    "too few moves for the result": Record(left_out(ALHAMBRA), SKIP, 0, 4, claims=True, marks=STOOD_IN),
    "an illegal move that stands": Record(lambda: f"{START}{AWAY}\n", ACCEPT, 0, 1, marks=ACCEPTED),
    "one that stands and one that cannot": Record(lambda: FOUL, ACCEPT, 8, 2, stops=True, marks=ACCEPTED),
    "another result, which is wrong": Record(other_result, STOP, 8, claims=True),
    "another result, which does not count": Record(other_result, SKIP, 0, claims=True),
}


@pytest.mark.parametrize("record", RECORDS.values(), ids=RECORDS)
async def test_the_command_says_the_same_of_a_record(record: Record, tmp_path: Path) -> None:
    """In its reports, in both formats, and on its terminal; every field is in them."""
    file, *reports = (tmp_path / name for name in ("record.txt", "report.html", "report.txt"))
    text = record.text()
    file.write_text(text, encoding="utf-8")
    words = ("--on-illegal", record.policy, *(f"--report={path}" for path in reports))
    done = referee("adjudicate", file, *words)
    async with judging(tmp_path) as (_, _, _, adjudicator):
        answer = await adjudicator.adjudicate(text, API[record.policy], (HTML, TEXT))
    assert (done.returncode, done.stderr) == (record.code, "")
    assert [path.read_text(encoding="utf-8") for path in reports] == [*answer.reports]
    assert len(answer.illegal) == record.illegal
    assert [each.stopped for each in answer.illegal[-1:]] == [record.stops] * bool(record.illegal)
    assert not any(each.stopped for each in answer.illegal[:-1])
    assert answer.HasField("claimed") == record.claims
    assert {MARKS[each.step] for each in answer.entered} == record.marks
    check_what_happened(answer, answer.reports[1])
    check_illegal_lines(answer, done.stdout)
    check_result(answer, done.stdout)
    check_sheet(answer, done.stdout)


def check_what_happened(answer: pb.AdjudicateRecordResponse, report: str) -> None:
    """Compare the answer's events with the report's, line by line."""
    table = report.partition("\nWhat happened\n")[2].partition("\n\nSignatures\n")[0].partition("\n")[2]
    assert [plain(row).strip() for row in table.splitlines()] == [plain(_row(each)) for each in answer.entered]
    assert all(each.words.startswith(f"{each.seat}: ") for each in answer.entered if each.HasField("seat"))


def _row(each: pb.EnteredEvent) -> str:
    number = str(each.line) if each.HasField("line") else "-"
    mark = MARKS[each.step] + (f" ({', '.join(each.rule_ids)})" if each.rule_ids else "")
    return f"{number} {each.words}" + (f" [{mark}]" if mark else "")


def check_illegal_lines(answer: pb.AdjudicateRecordResponse, told: str) -> None:
    """All of them, in order, with every violation and what becomes of it, and nothing else has an outcome."""
    flat, at = plain(told), 0
    for found in answer.illegal:
        reasons = [violation.text for violation in found.violations] or [found.reason]
        words = plain(f"line {found.line}: {found.words} {' '.join(reasons)} -> {found.outcome}")
        at = flat.index(words, at) + len(words)
    assert flat.count(" -> ") == len(answer.illegal) + answer.HasField("claimed")


def check_result(answer: pb.AdjudicateRecordResponse, told: str) -> None:
    flat = plain(told)
    assert f" result {'none: the game is not over' if answer.result == '*' else answer.result} " in flat
    if answer.HasField("claimed"):
        assert f"the result: {answer.claimed} By the rules it is {answer.result}." in flat
    if answer.over:
        points = [int(word) for word in answer.result.split()]
        assert [player.total for player in answer.sheet.players][: len(points)] == points


def check_sheet(answer: pb.AdjudicateRecordResponse, told: str) -> None:
    flat = plain(told)
    for player in answer.sheet.players:
        assert f" {player.place} {player.name} {player.total} " in flat or not answer.over
        for item in player.items:
            assert plain(f"{item.what} {item.how} {item.points} {', '.join(item.rule_ids)}") in flat
    for rule in answer.sheet.rules:
        assert plain(f"{rule.id}: {rule.text}") in flat


@pytest.mark.parametrize("line", ["0: plaice 3", "0: place 3", "0: place 3 2,0 9999,0"])
async def test_the_command_says_the_same_of_what_cannot_be_read(line: str, tmp_path: Path) -> None:
    file = tmp_path / "record.txt"
    file.write_text(f"{START}{line}\n", encoding="utf-8")
    done = referee("adjudicate", file)
    async with judging(tmp_path) as (_, _, asker, _):
        found = await refused(asker.adjudicate(f"{START}{line}\n"))
    assert (found.reason, found.metadata["line"]) == ("INVALID_ARGUMENT", "12")
    assert done.stderr.startswith(f"referee: {file}: {found.message.removesuffix('…')}")


@pytest.mark.parametrize(
    ("last", "words"),
    [
        (pb.LineRuling(line=14, move="1: place 5 0,1 0,2"), "1: place 5 0,1 0,2"),
        (pb.LineRuling(line=14, on_illegal=pb.ON_ILLEGAL_STOP, places=[1, 2]), "stop, places 1 2"),
    ],
    ids=["another move", "a result where the record stops"],
)
async def test_rulings_by_line_are_those_of_the_command(last: pb.LineRuling, words: str, tmp_path: Path) -> None:
    """Line 12 stands with points off, line 14 has this one."""
    text = f"{START}{AWAY}\n0: choose 23\n1: place 5 2,0 3,0\n1: choose 4\n"
    off = pb.LineRuling.PointsOff(seat=0, points=2)
    stands = pb.LineRuling(line=12, on_illegal=pb.ON_ILLEGAL_ACCEPT_AS_PLAYED, points_off=[off])
    record, rulings, report = (tmp_path / f"{kind}.txt" for kind in ("game", "rulings", "out"))
    record.write_text(text, encoding="utf-8")
    rulings.write_text(f"12: stands, 2 points off seat 0\n14: {words}\n", encoding="utf-8")
    done = referee("adjudicate", record, "--rulings", rulings, "--report", report)
    async with judging(tmp_path) as (_, _, _, adjudicator):
        answer = await adjudicator.adjudicate(text, rulings=[stands, last], formats=[TEXT])
    assert (done.returncode, done.stderr) == (0, "")
    assert answer.reports == [report.read_text(encoding="utf-8")]
    assert [each.ruling for each in answer.illegal] == ["stands, 2 points off seat 0", words]
    assert pb.EnteredEvent.STEP_PENALTY in [each.step for each in answer.entered]
    assert [*answer.places] == [*last.places]
    assert not answer.unreached


# --- positions -----------------------------------------------------------------------------------------------


def begun(setup: Setup) -> str:
    """Return the first half of a game."""
    text = whole(setup)
    return re.sub(r"\[Result .*\n", "", text[: text.index("\n", len(text) // 2) + 1])


POSITIONS = {
    **{f"a whole game of {setup.rules_id}": (as_played(setup), True) for setup in PLAIN},
    **{f"half a game of {setup.rules_id}": (partial(begun, setup), False) for setup in PLAIN},
    **{f"boards of {setup.rules_id}": (partial(BOARDS.__getitem__, setup.rules_id), True) for setup in PLAIN},
    "a position of alhambra": (lambda: POSITION, False),
    "a start of kingdomino": (lambda: START, False),
}


@pytest.mark.parametrize(("written", "over"), POSITIONS.values(), ids=POSITIONS)
async def test_the_command_says_the_same_of_a_position(written: Callable[[], str], over: bool, tmp_path: Path) -> None:
    text = written()
    file = tmp_path / "text.txt"
    file.write_text(text, encoding="utf-8")
    told = json.loads(referee("score", file, "--json").stdout)
    async with judging(tmp_path) as (_, _, _, adjudicator):
        answer = await adjudicator.score(text)
    assert told == as_told(answer)
    assert answer.over == over
    assert bool(answer.sheet.ties) or text != START
    assert all(rule.citation and rule.kind and rule.function for rule in answer.sheet.rules)


def as_told(answer: pb.ScorePositionResponse) -> dict[str, Any]:
    """Return every field, as the command has it in JSON."""
    players = [
        {
            "name": player.name,
            "items": [
                {
                    "group": item.group,
                    "what": item.what,
                    "how": item.how,
                    "points": item.points,
                    "rules": [*item.rule_ids],
                }
                for item in player.items
            ],
            "total": player.total,
            "place": player.place,
        }
        for player in answer.sheet.players
    ]
    return {
        "game": answer.rules_id,
        "version": answer.rules_version,
        "seats": len(players) - any(player["name"] == "the neutral player" for player in players),
        "over": answer.over,
        "result": answer.result,
        "places": [*answer.places],
        "outcome": answer.outcome,
        "players": players,
        "ties": [{"words": tie.words, "rules": [*tie.rule_ids]} for tie in answer.sheet.ties],
        "remarks": [*answer.sheet.remarks],
        "rules": {rule.id: rule.text for rule in answer.sheet.rules},
    }


# --- games of the referee ------------------------------------------------------------------------------------


async def with_attempt(client: Client, entries: int) -> Play:
    """Return a game that has come so far, or to its end, with a refused attempt after the twelfth entry."""
    played = await client.play(rules_id="kingdomino")
    while len(played.entries) < entries and await played.step():
        if len(played.entries) == 12:
            codec, components = played.record.game.position.codec, played.record.game.position.components
            seat = played.seat_on_turn()
            wrong = played.move(seat, codec.encode_move(DiscardDomino(48), components))
            assert (await played.submit(wrong, token_of(played, seat))).WhichOneof("verdict") == "refused"
    return played


@pytest.mark.parametrize(
    ("entries", "verdict"),
    [(0, "PREFIX(1)"), (12, "PREFIX("), (10_000, "COMPLETE")],
    ids=["joining", "in play", "over"],
)
async def test_the_command_says_the_same_of_a_game(entries: int, verdict: str, tmp_path: Path) -> None:
    async with judging(tmp_path) as (server, client, asker, adjudicator):
        played = await with_attempt(client, entries)
        file = tmp_path / "played.gamelog"
        file.write_bytes(await client.log(played.id))
        key = ("--key", played.created.verifier_key)
        texts = [referee("report", file, *key, kind).stdout for kind in ("--text", "--html")]
        assert texts == [await adjudicator.report(played.id, wanted) for wanted in (TEXT, HTML)]
        answer = await asker.report(game_id=played.id)
        assert answer.report == texts[0]
        assert f"\nentries  {answer.size}\n" in texts[0].replace("       ", "  ")
        assert texts[0].split("\n")[3].startswith(verdict)
        assert server.adjudication.workers.started == 1


async def test_reports_that_cannot_be_had(tmp_path: Path) -> None:
    async with judging(tmp_path) as (_, client, asker, _):
        played = await client.play(rules_id="kingdomino")
        for fields, reason in (
            ({"game_id": "12"}, "INVALID_ARGUMENT"),
            ({"game_id": "0" * 32}, "UNKNOWN_GAME"),
            ({"game_id": played.id, "format": 3}, "INVALID_ARGUMENT"),
        ):
            assert (await refused(asker.report(**fields))).reason == reason
        stranger: Any = pb_grpc.AdjudicationServiceStub(client.channel)
        found = await refused(stranger.ReportGame(pb.ReportGameRequest(game_id=played.id)))
        assert found.reason == "UNAUTHENTICATED"


async def test_a_game_is_reported_up_to_a_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with judging(tmp_path) as (_, client, asker, _):
        played = await with_attempt(client, 12)
        size = len(await client.log(played.id))
        monkeypatch.setattr(adjudication, "MAX_FILE_BYTES", size)
        assert (await asker.report(game_id=played.id)).size == played.record.size
        monkeypatch.setattr(adjudication, "MAX_FILE_BYTES", size - 1)
        limit = f"files of {size - 1} bytes; fetch it and make the report of the file"
        assert (await refused(asker.report(game_id=played.id))).metadata == {"limit": limit}
