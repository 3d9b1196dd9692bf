"""AdjudicationService: answers with every field, what cannot be asked, and a worker that may die or hang."""

from __future__ import annotations

import asyncio
import os
import random
import re
import signal
from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from referee.games.game import Ending
from referee.games.results import Contest
from referee.server.service.adjudication import MAX_TEXT_BYTES
from referee.server.service.adjudication_worker import MAX_ILLEGAL
from referee.server.service.server import Config, Server
from referee.server.service.worker_queue import MOST_OF_ONE
from referee.text.notation.game_text import GameText, write
from referee.text.notation.headers import Setup
from referee.text.notation.violations import Kind, NotationError
from referee.text.report.adjudication import adjudicate
from referee.text.report.rulings import Adjudication, Policy, Step
from referee.v1 import adjudication_service_pb2 as pb
from referee.v1 import adjudication_service_pb2_grpc as pb_grpc
from referee_clients.sdk.adjudication import HTML, SKIP, STOP, TEXT
from referee_clients.sdk.errors import Denied
from tests.cli.acts_of_texts import BASE, WRONG
from tests.cli.adjudicate import spoilt
from tests.server.service.adjudication import API, FOUL, Asker, judging
from tests.server.service.engines import place
from tests.server.service.facts import believing_in_less
from tests.server.service.player import Play, connected, refused
from tests.sizes import Part, in_parts
from tests.text.notation.contested import contested
from tests.text.notation.page import BOARDS
from tests.text.notation.setups import PLAIN, name_of, play, text_of
from tests.text.report.adjudication import OUTSIDE, START
from tests.text.report.sheet import POSITION
from tests.waiting import until

STEPS = {
    pb.EnteredEvent.STEP_PLAYED: Step.PLAYED,
    pb.EnteredEvent.STEP_REFUSED: Step.REFUSED,
    pb.EnteredEvent.STEP_STAND_IN: Step.STOOD_IN,
    pb.EnteredEvent.STEP_ACCEPTED: Step.ACCEPTED,
}


def records(setup: Setup, count: int, seed: int) -> Iterator[str]:
    """Yield a whole game, and as many that are spoilt."""
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


# --- fields of answers ---------------------------------------------------------------------------------------


def in_service(answer: pb.AdjudicateRecordResponse) -> list[object]:
    """Return every field of every illegal line."""
    return [
        (
            *(each.line, each.column, each.words, each.seat if each.HasField("seat") else None),
            *(each.reason, each.outcome, each.stopped, each.ruled),
            [
                (broken.rule_id, [(cell.x, cell.y) for cell in broken.cells], {f.key: f.value for f in broken.facts})
                for broken in each.violations
            ],
        )
        for each in answer.illegal
    ]


def in_adjudication(found: Adjudication) -> list[object]:
    """Return the same fields from the adjudication that the service reads."""
    return [
        (
            *(each.line, each.column, each.words, each.seat),
            *(each.reason, each.outcome, each.stopped, each.ruled),
            [
                (broken.rule_id, [*broken.cells], {key: str(value) for key, value in broken.facts.items()})
                for broken in each.violations
            ],
        )
        for each in found.illegal
    ]


@in_parts(2)
@pytest.mark.parametrize("setup", PLAIN, ids=name_of)
async def test_fields_are_those_of_the_adjudication(setup: Setup, part: Part, tmp_path: Path) -> None:
    """The records are spoilt at random and readable."""
    ends: Counter[object] = Counter()
    async with judging(tmp_path) as (_, _, _, adjudicator):
        for text, policy in product(part.of(records(setup, 5, seed=6)), Policy):
            found = judged(text, policy)
            if isinstance(found, Adjudication):
                answer = await adjudicator.adjudicate(text, API[policy])
                ends[found.stopped is None] += 1
                assert not answer.reports
                assert (answer.rules_id, answer.rules_version) == (setup.rules_id, setup.version)
                assert (answer.result, answer.claimed or None) == (found.result, found.claimed)
                assert in_service(answer) == in_adjudication(found)
                check_lines(answer, text.split("\n"))
                assert [(STEPS[each.step], each.words, tuple(each.rule_ids)) for each in answer.entered] == [
                    (each.step, each.words, each.rule_ids) for each in found.entered
                ]
    assert ends[True]
    assert ends[False]


def check_lines(answer: pb.AdjudicateRecordResponse, lines: list[str]) -> None:
    """Each illegal line is where it is said to be, and what is said of it begins with the rule."""
    for each in answer.illegal:
        line = lines[each.line - 1]
        assert line.strip() == each.words
        assert line[each.column - 1 :].strip()
        assert all(violation.text.startswith(violation.rule_id) for violation in each.violations)


@pytest.mark.parametrize("setup", PLAIN, ids=name_of)
async def test_what_cannot_be_read_is_where_the_adjudication_finds_it(setup: Setup, tmp_path: Path) -> None:
    """Records are cut off in the middle of a line; the treatment of illegal moves makes no difference."""
    text = write(text_of(setup, play(setup, seed=6)))
    cut = text[: text.index("\n0: ") + len("\n0: ")]
    async with judging(tmp_path) as (_, _, asker, _):
        for number, policy in enumerate(Policy, start=1):
            found = judged(cut, policy)
            assert isinstance(found, NotationError)
            told = (await refused(asker.adjudicate(cut, on_illegal=number))).metadata
            place = ("text", str(found.line), str(found.column), found.kind)
            assert (told["field"], told["line"], told["column"], told["kind"]) == place
            assert found.what.startswith(told["what"].removesuffix("…"))


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
            "player 2 wins: player 1 resigned, player 3 ran out of time, after an arbiter took 4 points"
        )
        assert [player.place for player in told.sheet.players] == [3, 1, 2]
        assert " ".join(str(player.total) for player in told.sheet.players) == told.result
        assert "TBL-6" in [rule.id for rule in told.sheet.rules]
    assert answer.illegal
    assert all(each.ruled and not each.stopped for each in answer.illegal)
    assert not answer.HasField("claimed")


async def test_unspecified_is_stop_and_names_are_in_reports_alone(tmp_path: Path) -> None:
    text = FOUL.replace('"2"]\n', '"2"]\n[Player0 "Weiß & <b>"]\n[Player1 "Rot"]\n', 1)
    async with judging(tmp_path) as (_, _, asker, adjudicator):
        answer = await asker.adjudicate(text)
        assert answer == await adjudicator.adjudicate(text, STOP)
        assert [each.stopped for each in answer.illegal] == [True]
        skipped = await adjudicator.adjudicate(text, SKIP, [TEXT, HTML])
        assert [each.seat for each in skipped.illegal] == [0, 0]
        assert "\nPlayer 1: Weiß & <b>\n" in skipped.reports[0]
        assert "Weiß &amp; &lt;b&gt;" in skipped.reports[1]
        del skipped.reports[:]
        assert "Weiß" not in str(skipped) + skipped.SerializeToString().decode(errors="replace")


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
            assert answer.outcome == "player 1 wins: player 2 resigned; this waits for a ruling"


async def test_points_that_a_position_cannot_have(tmp_path: Path) -> None:
    async with judging(tmp_path) as (_, _, asker, _):
        found = await refused(asker.score(IMPOSSIBLE))
        assert (found.reason, found.metadata["field"]) == ("INVALID_ARGUMENT", "text")
        assert found.message == "text: player 1: 5 points with 0 scoring rounds held, expected 0"
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


# --- the worker, and players ---------------------------------------------------------------------------------


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
        # A caller that does not wait any longer leaves no work behind; the next in line follows.
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
