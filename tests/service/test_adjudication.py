"""AdjudicationService: what ``referee adjudicate`` and ``referee score`` say, by a worker that may die or hang."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import signal
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from referee.games.game import Ending
from referee.games.kingdomino.moves import DiscardDomino
from referee.games.results import Contest
from referee.notation.errors import Kind, NotationError
from referee.notation.game_text import GameText, write
from referee.notation.headers import Setup
from referee.notation.outcomes import IN_ENGLISH
from referee.report.adjudication import adjudicate
from referee.report.record import Adjudication, Step
from referee.report.rulings import Policy
from referee.service import adjudication
from referee.service.adjudication import MAX_TEXT_BYTES
from referee.service.adjudication_worker import MAX_ILLEGAL
from referee.service.server import Config, Server
from referee.service.worker_queue import MOST_OF_ONE
from referee.v1 import adjudication_service_pb2 as pb
from referee.v1 import adjudication_service_pb2_grpc as pb_grpc
from referee_clients.sdk.adjudication import ACCEPT_AS_PLAYED, HTML, SKIP, STOP, TEXT, Adjudicator
from referee_clients.sdk.errors import Denied
from tests.cli.acts_of_texts import BASE, WRONG
from tests.cli.adjudicate import spoilt
from tests.cli.inside import referee
from tests.notation.contested import contested
from tests.notation.page import BOARDS
from tests.notation.setups import PLAIN, name_of, play, text_of
from tests.report.adjudication import AWAY, OUTSIDE, START
from tests.report.sheet import POSITION
from tests.service.conftest import running
from tests.service.engines import place
from tests.service.facts import believing_in_less
from tests.service.player import Client, Play, bearer, connected, refused, token_of
from tests.waiting import until

FOUL = f"{START}{AWAY}\n{OUTSIDE}\n0: choose 23\n"
API = {Policy.STOP: STOP, Policy.SKIP: SKIP, Policy.ACCEPT: ACCEPT_AS_PLAYED}
MARKS = {
    pb.EnteredEvent.STEP_PLAYED: "",
    pb.EnteredEvent.STEP_REFUSED: "refused",
    pb.EnteredEvent.STEP_STAND_IN: "stand-in",
    pb.EnteredEvent.STEP_ACCEPTED: "accepted",
}


def _mark(step: Step) -> str:
    return "" if step is Step.PLAYED else IN_ENGLISH(f"step.{step.name.lower()}")


class Asker:
    """Who asks with one token; each method gives the call."""

    def __init__(self, client: Client, token: str = "") -> None:
        self._stub: Any = pb_grpc.AdjudicationServiceStub(client.channel)
        self._metadata = bearer(token or client.organiser)

    def adjudicate(self, text: str, **fields: Any) -> Any:
        timeout = fields.pop("timeout", None)
        request = pb.AdjudicateRecordRequest(text=text, **fields)
        return self._stub.AdjudicateRecord(request, metadata=self._metadata, timeout=timeout)

    def score(self, text: str) -> Any:
        return self._stub.ScorePosition(pb.ScorePositionRequest(text=text), metadata=self._metadata)

    def report(self, **fields: Any) -> Any:
        return self._stub.ReportGame(pb.ReportGameRequest(**fields), metadata=self._metadata)


@asynccontextmanager
async def judging(path: Path) -> AsyncIterator[tuple[Server, Client, Asker, Adjudicator]]:
    """With a worker that has answered before."""
    async with running(path / "data") as (server, client):
        asker = Asker(client)
        await asker.score(POSITION)
        yield server, client, asker, Adjudicator(client.channel, client.organiser)
        workers = server.adjudication.workers
    assert not workers.pids


def records(setup: Setup, count: int, seed: int) -> Iterator[str]:
    """A whole game, and as many that are spoilt."""
    rng = random.Random(seed)
    text = write(text_of(setup, play(setup, seed=seed)))
    yield text
    for _ in range(count):
        yield "\n".join(spoilt(rng, text.split("\n")))


def judged(text: str, policy: Policy) -> Adjudication | NotationError:
    try:
        return adjudicate(text, policy)
    except NotationError as error:
        return error


def plain(text: str) -> str:
    """Without line breaks and indents."""
    return re.sub(r"\s+", " ", text)


# --- the same as the commands --------------------------------------------------------------------------------


@pytest.mark.parametrize("setup", PLAIN, ids=name_of)
async def test_the_command_says_the_same_of_a_record(setup: Setup, tmp_path: Path) -> None:
    """Of games with something illegal, whichever way it goes on: reports in both formats, and every field in them."""
    ends: Counter[str] = Counter()
    async with judging(tmp_path) as (_, _, asker, adjudicator):
        for number, text in enumerate(records(setup, 5, seed=5)):
            policy = list(Policy)[number % 3]
            record, *reports = (tmp_path / f"{number}.{kind}" for kind in ("txt", "report.html", "report.txt"))
            record.write_text(text, encoding="utf-8")
            done = referee("adjudicate", record, "--on-illegal", policy, *(f"--report={path}" for path in reports))
            if done.stderr:
                found = await refused(asker.adjudicate(text, on_illegal=1 + number % 3))
                assert done.stderr.startswith(f"referee: {record}: {found.message.removesuffix('…')}")
                continue
            answer = await adjudicator.adjudicate(text, API[policy], (HTML, TEXT))
            ends["stopped" if answer.illegal and answer.illegal[-1].stopped else "to the end"] += 1
            wrong = bool(answer.illegal) or answer.HasField("claimed")
            stopped = bool(answer.illegal) and answer.illegal[-1].stopped
            assert done.returncode == (8 if stopped or (policy is Policy.STOP and wrong) else 0), done.stderr
            assert [path.read_text(encoding="utf-8") for path in reports] == list(answer.reports)
            check_fields(answer, done.stdout, answer.reports[1])
    assert ends["stopped"]
    assert ends["to the end"]


def check_fields(answer: pb.AdjudicateRecordResponse, told: str, report: str) -> None:
    """Every one of them is what the command printed, and in its report."""
    rows = report.partition("\nWhat happened\n")[2].partition("\n\nSignatures\n")[0].partition("\n")[2].splitlines()
    entered = []
    for each in answer.entered:
        mark = MARKS[each.step] + (f" ({', '.join(each.rule_ids)})" if each.rule_ids else "")
        number = str(each.line) if each.HasField("line") else "-"
        entered.append(f"{number} {each.words}" + (f" [{mark}]" if mark else ""))
        assert not each.HasField("seat") or each.words.startswith(f"{each.seat}: ")
    assert [plain(row).strip() for row in rows] == [plain(each) for each in entered]
    flat, at = plain(told), 0
    for found in answer.illegal:
        reasons = [violation.text for violation in found.violations] or [found.reason]
        words = plain(f"line {found.line}: {found.words} {' '.join(reasons)} -> {found.outcome}")
        at = flat.index(words, at) + len(words)
    assert flat.count(" -> ") == len(answer.illegal) + answer.HasField("claimed")
    assert f" result {'none: the game is not over' if answer.result == '*' else answer.result} " in flat
    if answer.HasField("claimed"):
        assert f"the result: {answer.claimed} By the rules it is {answer.result}." in flat
    if answer.over:
        assert [player.total for player in answer.sheet.players][: len(answer.result.split())] == [
            *map(int, answer.result.split())
        ]
    for player in answer.sheet.players:
        assert f"{player.place}. {player.name}" in told or not answer.over
        for item in player.items:
            assert plain(f"{item.what} {item.how} {item.points} {', '.join(item.rule_ids)}") in flat
    for rule in answer.sheet.rules:
        assert plain(f"{rule.id}: {rule.text}") in flat


@pytest.mark.parametrize("setup", PLAIN, ids=name_of)
async def test_fields_are_those_of_the_adjudication(setup: Setup, tmp_path: Path) -> None:
    """Many records, without the command."""
    ends: Counter[object] = Counter()
    async with judging(tmp_path) as (_, _, asker, adjudicator):
        for text in records(setup, 5, seed=6):
            for number, policy in enumerate(Policy, start=1):
                found = judged(text, policy)
                if isinstance(found, NotationError):
                    told = (await refused(asker.adjudicate(text, on_illegal=number))).metadata
                    place = ("text", str(found.line), str(found.column), found.kind)
                    assert (told["field"], told["line"], told["column"], told["kind"]) == place
                    assert found.what.startswith(told["what"].removesuffix("…"))
                    continue
                answer = await adjudicator.adjudicate(text, API[policy])
                ends[found.stopped is None] += 1
                assert not answer.reports
                assert (answer.rules_id, answer.rules_version) == (setup.rules_id, setup.version)
                assert (answer.result, answer.claimed or None) == (found.result, found.claimed)
                assert [(each.line, each.column, each.words) for each in answer.illegal] == [
                    (each.line, each.column, each.words) for each in found.illegal
                ]
                for each, own in zip(answer.illegal, found.illegal, strict=True):
                    assert (each.seat if each.HasField("seat") else None) == own.seat
                    assert (each.reason, each.outcome) == (own.reason, own.outcome)
                    assert (each.stopped, each.ruled) == (own.stopped, own.ruled)
                    assert [
                        (
                            violation.rule_id,
                            tuple((cell.x, cell.y) for cell in violation.cells),
                            {fact.key: fact.value for fact in violation.facts},
                        )
                        for violation in each.violations
                    ] == [
                        (broken.rule_id, broken.cells, {key: str(value) for key, value in broken.facts.items()})
                        for broken in own.violations
                    ]
                    assert all(violation.text.startswith(violation.rule_id) for violation in each.violations)
                    line = text.split("\n")[each.line - 1]
                    assert line.strip() == each.words
                    assert line[each.column - 1 :].strip()
                assert [(MARKS[each.step], each.words, tuple(each.rule_ids)) for each in answer.entered] == [
                    (_mark(each.step), each.words, each.rule_ids) for each in found.entered
                ]
    assert ends[True]
    assert ends[False]


async def test_acts_of_the_table_have_a_step_of_their_own(tmp_path: Path) -> None:
    acts = ["arbiter: penalty seat 1 points 2 strikes 1", "1: resign"]
    text = START + "".join(f"{act}\n" for act in acts)
    async with judging(tmp_path) as (_, _, _, adjudicator):
        answer = await adjudicator.adjudicate(text)
    own = [each for each in answer.entered if each.step == pb.EnteredEvent.STEP_TABLE_ACT]
    assert [each.words for each in own] == acts
    assert not any(each.HasField("seat") for each in own)
    assert {each.step for each in answer.entered} == {pb.EnteredEvent.STEP_PLAYED, pb.EnteredEvent.STEP_TABLE_ACT}
    assert [*answer.places] == [1, 2]


async def test_a_contested_game_has_its_winner(tmp_path: Path) -> None:
    """With a wrong move that an arbiter let stand, points off, and a seat that resigned."""
    setup, events = contested("kingdomino", 3, 0)
    contest = Contest({0: Ending.RESIGNED, 2: Ending.FLAG}, (0, 4, 0))
    text = write(GameText(setup, events, contest))
    found = judged(text, Policy.STOP)
    assert not isinstance(found, NotationError)
    async with judging(tmp_path) as (_, _, _, adjudicator):
        answer = await adjudicator.adjudicate(text)
        score = await adjudicator.score(text)
    for told in (answer, score):
        assert [*told.places] == [3, 1, 2]
        assert told.outcome == found.told.outcome()
        assert told.outcome.startswith(
            "seat 1 wins: seat 0 resigned, seat 2 ran out of time, after an arbiter took 4 points"
        )
        assert [player.place for player in told.sheet.players] == [3, 1, 2]
        assert " ".join(str(player.total) for player in told.sheet.players) == told.result
        assert "TBL-6" in [rule.id for rule in told.sheet.rules]
    assert answer.illegal
    assert all(each.ruled and not each.stopped for each in answer.illegal)
    assert not answer.HasField("claimed")


@pytest.mark.parametrize("setup", PLAIN, ids=name_of)
async def test_the_command_says_the_same_of_a_position(setup: Setup, tmp_path: Path) -> None:
    """Of a game that is over and of one that is not; every field."""
    whole = write(text_of(setup, play(setup, seed=8)))
    begun = whole[: whole.index("\n", len(whole) // 2) + 1]
    begun = re.sub(r"\[Result .*\n", "", begun)
    async with judging(tmp_path) as (_, _, _, adjudicator):
        more = {"alhambra": [(POSITION, False)], "kingdomino": [(START, False)]}.get(setup.rules_id, [])
        for text, over in ((whole, True), (begun, False), (BOARDS[setup.rules_id], True), *more):
            file = tmp_path / "text.txt"
            file.write_text(text, encoding="utf-8")
            told = json.loads(referee("score", file, "--json").stdout)
            answer = await adjudicator.score(text)
            assert answer.over == over
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
            assert told == {
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
            assert bool(answer.sheet.ties) or text != START
            assert all(rule.citation and rule.kind and rule.function for rule in answer.sheet.rules)


async def test_unspecified_is_stop_and_names_are_in_reports_alone(tmp_path: Path) -> None:
    text = FOUL.replace('"2"]\n', '"2"]\n[Player0 "Weiß & <b>"]\n[Player1 "Rot"]\n', 1)
    async with judging(tmp_path) as (_, _, asker, adjudicator):
        answer = await asker.adjudicate(text)
        assert answer == await adjudicator.adjudicate(text, STOP)
        assert [each.stopped for each in answer.illegal] == [True]
        skipped = await adjudicator.adjudicate(text, SKIP, [TEXT, HTML])
        assert [each.seat for each in skipped.illegal] == [0, 0]
        assert "Seat 0, Weiß & <b>" in skipped.reports[0]
        assert "Weiß &amp; &lt;b&gt;" in skipped.reports[1]
        del skipped.reports[:]
        assert "Weiß" not in str(skipped) + skipped.SerializeToString().decode(errors="replace")


# --- games of the referee ------------------------------------------------------------------------------------


async def test_the_command_says_the_same_of_a_game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While seats join, in play with a refused attempt, and when it is over."""
    async with judging(tmp_path) as (server, client, asker, adjudicator):
        played = await client.play(rules_id="kingdomino")
        seen = []
        for moves in (0, 12, 10_000):
            while len(played.entries) < moves and await played.step():
                pass
            if moves == 12:
                codec, components = played.record.game.position.codec, played.record.game.position.components
                seat = played.seat_on_turn()
                wrong = played.move(seat, codec.encode_move(DiscardDomino(48), components))
                assert (await played.submit(wrong, token_of(played, seat))).WhichOneof("verdict") == "refused"
            file = tmp_path / f"{moves}.gamelog"
            file.write_bytes(await client.log(played.id))
            key = ("--key", played.created.verifier_key)
            texts = [referee("report", file, *key, kind).stdout for kind in ("--text", "--html")]
            assert texts == [await adjudicator.report(played.id, wanted) for wanted in (TEXT, HTML)]
            answer = await asker.report(game_id=played.id)
            assert answer.report == texts[0]
            assert f"\nentries  {answer.size}\n" in texts[0].replace("       ", "  ")
            seen.append(texts[0].split("\n")[3])
        assert seen[0].startswith("PREFIX(1)")
        assert seen[1].startswith("PREFIX(")
        assert seen[2].startswith("COMPLETE")
        assert server.adjudication.workers.started == 1
        for fields, reason in (
            ({"game_id": "12"}, "INVALID_ARGUMENT"),
            ({"game_id": "0" * 32}, "UNKNOWN_GAME"),
            ({"game_id": played.id, "format": 3}, "INVALID_ARGUMENT"),
        ):
            assert (await refused(asker.report(**fields))).reason == reason
        nobody: Any = pb_grpc.AdjudicationServiceStub(client.channel)
        found = await refused(nobody.ReportGame(pb.ReportGameRequest(game_id=played.id)))
        assert found.reason == "UNAUTHENTICATED"
        size = len(await client.log(played.id))
        monkeypatch.setattr(adjudication, "MAX_FILE_BYTES", size)
        assert (await asker.report(game_id=played.id)).size == played.record.size
        monkeypatch.setattr(adjudication, "MAX_FILE_BYTES", size - 1)
        limit = f"files of {size - 1} bytes; fetch it and make the report of the file"
        assert (await refused(asker.report(game_id=played.id))).metadata == {"limit": limit}


# --- what cannot be asked ------------------------------------------------------------------------------------

IMPOSSIBLE = """\
[Game "alhambra"]
[Seats "3"]
[Position "action seat 0 start 0 turns 9 | scorings 0 due | piles 90 turned 0 | market free free free free | row |\
 discard | neutral | bought | score 5 hand reserve won laid | score 5 hand reserve won laid |\
 score 5 hand reserve won laid"]
"""


async def test_texts_that_cannot_be_read(tmp_path: Path) -> None:
    overlapping = write(text_of(PLAIN[1], play(PLAIN[1], seed=5))).replace("0: choose", "1: choose", 1)
    async with judging(tmp_path) as (_, _, asker, adjudicator):
        for call, metadata in (
            (asker.adjudicate(f"{START}0: plaice 3\n"), {"line": "12", "column": "4", "kind": "syntax"}),
            (asker.adjudicate(""), {"line": "1", "column": "1", "kind": "syntax"}),
            (asker.score(f"{START}0: plaice 3\n"), {"line": "12", "column": "4", "kind": "syntax"}),
            (asker.score(f"{START}{OUTSIDE}\n"), {"line": "12", "kind": "illegal", "rules": "KDO-14, KDO-16"}),
            (asker.score(overlapping), {"kind": "illegal"}),
        ):
            found = await refused(call)
            assert (found.reason, found.metadata["field"]) == ("INVALID_ARGUMENT", "text")
            assert metadata.items() <= found.metadata.items(), found
            assert found.message.startswith(f"line {found.metadata['line']}, column {found.metadata['column']}: ")
            assert "\n" not in found.message
        found = await refused(asker.adjudicate(f"{START}0: plaice 3\n"))
        assert found.metadata["what"] == "found 'plaice'"
        assert found.metadata["expected"] == "castle, choose, discard, pass or place"
        # A position is no record.
        found = await refused(asker.adjudicate(POSITION))
        assert (found.metadata["kind"], "a game, from its first event on" in found.message) == ("syntax", True)
        found = await refused(asker.adjudicate(BOARDS["kingdomino"]))
        assert (found.metadata["kind"], "these are boards alone" in found.message) == ("syntax", True)
        with pytest.raises(Denied, match="line 12, column 4"):
            await adjudicator.score(f"{START}0: plaice 3\n")


async def test_what_no_log_has_is_refused_as_by_the_commands(tmp_path: Path) -> None:
    """With its line; an adjudication lists it."""
    async with judging(tmp_path) as (_, _, asker, adjudicator):
        for lines, said in WRONG.values():
            found = await refused(asker.score(f"{BASE}{lines}\n"))
            line = (BASE + lines).count("\n") + 1
            assert (found.reason, found.metadata["line"]) == ("INVALID_ARGUMENT", str(line))
            assert found.message.count("\n") == 0
            assert said in found.message
            (illegal,) = (await adjudicator.adjudicate(f"{BASE}{lines}\n")).illegal
            assert (illegal.line, illegal.stopped) == (line, True)
            assert said.rpartition(": ")[2] in illegal.reason


async def test_a_result_that_waits_for_a_ruling_is_said_to_wait(tmp_path: Path) -> None:
    async with judging(tmp_path) as (_, _, _, adjudicator):
        for ask in (adjudicator.adjudicate, adjudicator.score):
            answer = await ask(f"{BASE}1: protest against 5 TBL-9\n1: resign\n")
            assert answer.outcome == "seat 0 wins: seat 1 resigned; this waits for a ruling"


async def test_points_that_a_position_cannot_have(tmp_path: Path) -> None:
    async with judging(tmp_path) as (_, _, asker, _):
        found = await refused(asker.score(IMPOSSIBLE))
        assert (found.reason, found.metadata["field"]) == ("INVALID_ARGUMENT", "text")
        assert found.message == "text: seat 0: 5 points with 0 scoring rounds held, expected 0"
        assert found.metadata["expected"] == "0"


async def test_requests_that_are_none(tmp_path: Path) -> None:
    async with judging(tmp_path) as (server, client, asker, _):
        for fields, field in (
            ({"on_illegal": 4}, "on_illegal"),
            ({"formats": [0]}, "formats"),
            ({"formats": [HTML, 7]}, "formats"),
            ({"formats": [HTML, HTML]}, "formats"),
        ):
            found = await refused(asker.adjudicate(FOUL, **fields))
            assert (found.reason, found.metadata["field"]) == ("INVALID_ARGUMENT", field)
        most = FOUL + "\n" * (MAX_TEXT_BYTES - len(FOUL))
        assert (await refused(asker.adjudicate(most + "\n"))).metadata == {"limit": f"texts of {MAX_TEXT_BYTES} bytes"}
        assert (await refused(asker.score("ü" * (MAX_TEXT_BYTES // 2 + 1)))).reason == "LIMIT"
        assert (await asker.adjudicate(most)).illegal
        nobody: Any = pb_grpc.AdjudicationServiceStub(client.channel)
        found = await refused(nobody.ScorePosition(pb.ScorePositionRequest(text=POSITION)))
        assert found.reason == "UNAUTHENTICATED"
        await Asker(client, (await client.create()).seat_tokens[0]).score(POSITION)
        assert server.adjudication.workers.started == 1


async def test_a_text_has_a_budget(tmp_path: Path) -> None:
    most = START + f"{OUTSIDE}\n" * MAX_ILLEGAL
    async with judging(tmp_path) as (_, _, asker, _):
        assert len((await asker.adjudicate(most, on_illegal=pb.ON_ILLEGAL_SKIP)).illegal) == MAX_ILLEGAL
        found = await refused(asker.adjudicate(f"{most}{OUTSIDE}\n", on_illegal=pb.ON_ILLEGAL_SKIP))
        limit = f"{MAX_ILLEGAL} illegal lines of a record"
        assert (found.reason, found.metadata, found.retry_s) == ("LIMIT", {"limit": limit}, 0)
        assert len((await asker.adjudicate(f"{most}{OUTSIDE}\n")).illegal) == 1


async def test_a_long_line_is_told_as_far_as_it_matters(tmp_path: Path) -> None:
    line = f"{OUTSIDE} {{{'x' * 8000}}}"
    async with judging(tmp_path) as (_, _, asker, _):
        answer = await asker.adjudicate(f"{START}{line}\n", formats=[TEXT])
        assert answer.illegal[0].words == line[:199] + "…"
        assert "x" * 200 not in answer.reports[0]


async def test_an_answer_that_nobody_could_take(tmp_path: Path) -> None:
    text = START + f"{OUTSIDE} {{{'&' * 225}}}\n" * MAX_ILLEGAL
    async with judging(tmp_path) as (_, _, asker, _):
        found = await refused(asker.adjudicate(text, on_illegal=pb.ON_ILLEGAL_SKIP, formats=[HTML, TEXT]))
        assert (found.reason, found.retry_s) == ("LIMIT", 0)
        assert re.fullmatch(r"answers of 3145728 bytes \(this one has 3\d{6}\)", found.metadata["limit"])
        assert len((await asker.adjudicate(text)).illegal) == 1


# --- the worker, and who plays -------------------------------------------------------------------------------


async def test_a_worker_that_dies_or_hangs_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    believing_in_less(monkeypatch, 100)
    async with judging(tmp_path) as (server, _, asker, _):
        for why, timeout in (("died", None), ("hung", 100 + 2)):
            (pid,) = server.adjudication.workers.pids
            os.kill(pid, signal.SIGSTOP)
            call = asyncio.ensure_future(refused(asker.adjudicate(FOUL, timeout=timeout)))
            await until(lambda: server.adjudication.worker_queue.at_work, "it is asked")
            if why == "died":
                os.kill(pid, signal.SIGKILL)
            found = await call
            assert (found.reason, found.metadata) == ("SOLVER_FAILED", {"why": why})
            assert (await asker.adjudicate(FOUL)).illegal
            assert pid not in server.adjudication.workers.pids
        assert server.adjudication.workers.started == 3


async def test_nobody_who_plays_waits(tmp_path: Path) -> None:
    async with judging(tmp_path) as (server, client, asker, _):
        (pid,) = server.adjudication.workers.pids
        os.kill(pid, signal.SIGSTOP)
        calls = [asyncio.ensure_future(refused(asker.adjudicate(FOUL))) for _ in range(MOST_OF_ONE)]
        await until(lambda: server.adjudication.worker_queue.waiting == MOST_OF_ONE - 1, "they have all come")
        found = await refused(asker.score(POSITION))
        limit = "questions of one caller to AdjudicationService at one time"
        assert (found.reason, found.metadata, found.retry_s) == ("LIMIT", {"limit": limit}, 1)
        game: Play = await client.play()
        await game.until_play()
        for _ in range(5):
            await game.step()
        # Who does not wait any longer leaves no work behind; who waited for it is next.
        other = asyncio.ensure_future(Asker(client, game.created.seat_tokens[0]).score(POSITION))
        await until(lambda: server.adjudication.worker_queue.waiting == MOST_OF_ONE, "somebody else has come")
        for call in calls:
            call.cancel()
        assert (await other).sheet.players
        assert server.adjudication.workers.pids != [pid]


async def test_a_referee_that_stops_says_so(tmp_path: Path) -> None:
    server = await Server.start(Config(tmp_path / "data", store=place(tmp_path / "data")))
    async with connected(server.address, server.data.token_path.read_text().strip()) as client:
        asker = Asker(client)
        await asker.score(POSITION)
        (pid,) = server.adjudication.workers.pids
        os.kill(pid, signal.SIGSTOP)
        calls = [asyncio.ensure_future(refused(asker.score(POSITION))) for _ in range(2)]
        await until(lambda: server.adjudication.worker_queue.waiting, "one has the worker, the other waits")
        stopping = asyncio.ensure_future(server.stop())
        assert [found.reason for found in await asyncio.gather(*calls)] == ["DRAINING"] * 2
        await stopping
        assert (server.adjudication.workers.pids, server.adjudication.workers.started) == ([], 1)


def test_the_texts_of_this_file_are_what_they_are_said_to_be() -> None:
    assert [each.line for each in adjudicate(FOUL, Policy.SKIP).illegal] == [12, 13]
    with pytest.raises(NotationError) as raised:
        adjudicate("")
    assert raised.value.kind is Kind.SYNTAX


# --- rulings by line -----------------------------------------------------------------------------------------


async def test_rulings_by_line_are_those_of_the_command(tmp_path: Path) -> None:
    """Line 12 stands with points off, line 14 is replaced; a result that is given where the record stops."""
    text = f"{START}{AWAY}\n0: choose 23\n1: place 5 2,0 3,0\n1: choose 4\n"
    off = pb.LineRuling.PointsOff(seat=0, points=2)
    stands = pb.LineRuling(line=12, on_illegal=pb.ON_ILLEGAL_ACCEPT_AS_PLAYED, points_off=[off])
    move = "1: place 5 0,1 0,2"
    ends = pb.LineRuling(line=14, on_illegal=pb.ON_ILLEGAL_STOP, places=[1, 2])
    async with judging(tmp_path) as (_, _, _, adjudicator):
        for last, words in ((pb.LineRuling(line=14, move=move), move), (ends, "stop, places 1 2")):
            record, rulings, report = (
                tmp_path / f"{last.on_illegal}.{kind}.txt" for kind in ("game", "rulings", "out")
            )
            record.write_text(text, encoding="utf-8")
            rulings.write_text(f"12: stands, 2 points off seat 0\n14: {words}\n", encoding="utf-8")
            done = referee("adjudicate", record, "--rulings", rulings, "--report", report)
            assert (done.returncode, done.stderr) == (0, "")
            answer = await adjudicator.adjudicate(text, rulings=[stands, last], formats=[TEXT])
            assert answer.reports == [report.read_text(encoding="utf-8")]
            assert [each.ruling for each in answer.illegal] == ["stands, 2 points off seat 0", words]
            assert pb.EnteredEvent.STEP_PENALTY in [each.step for each in answer.entered]
            assert [*answer.places] == [*last.places]
            assert not answer.unreached


async def test_rulings_that_cannot_be_applied_are_named(tmp_path: Path) -> None:
    skip = pb.LineRuling(line=12, on_illegal=pb.ON_ILLEGAL_SKIP)
    far = pb.LineRuling(line=99, on_illegal=pb.ON_ILLEGAL_SKIP)
    both = pb.LineRuling(line=12, on_illegal=pb.ON_ILLEGAL_SKIP, move="0: discard 3")
    given = pb.LineRuling(line=12, on_illegal=pb.ON_ILLEGAL_SKIP, places=[1, 2])
    none = pb.LineRuling.PointsOff(seat=0)
    async with judging(tmp_path) as (_, _, asker, _):
        for rulings, field in (
            ([skip, far], "rulings[1]"),
            ([skip, skip], "rulings[1]"),
            ([both], "rulings[0]"),
            ([pb.LineRuling(line=12)], "rulings[0]"),
            ([given], "rulings[0]"),
            ([pb.LineRuling(line=12, on_illegal=pb.ON_ILLEGAL_SKIP, points_off=[none])], "rulings[0]"),
            ([pb.LineRuling(line=12, move="0: plaice 3")], "rulings[0]"),
            ([pb.LineRuling(line=12, on_illegal=4)], "rulings[0].on_illegal"),  # type: ignore[arg-type]
            ([skip] * 1001, "rulings"),
        ):
            found = await refused(asker.adjudicate(FOUL, rulings=rulings))
            assert (found.reason, found.metadata["field"]) == ("INVALID_ARGUMENT", field), found
            assert found.message.startswith(f"{field}: ") or field not in found.message
