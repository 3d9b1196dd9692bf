"""Lines that a text leaves out: the moves of a seat that has forfeited, which the stand-in makes (TBL-2)."""

from __future__ import annotations

import random
import re
from collections import Counter
from io import BytesIO
from typing import Any

import pytest

from referee.games import alhambra, kingdomino, rollwrite
from referee.games.game import Decision, Forced, ForcedPass, Over
from referee.harness import Shuffler
from referee.log import audit as auditor
from referee.log.errors import LogError
from referee.log.keys import PrivateKey
from referee.log.note import CheckpointSigner
from referee.log.verdict import Policy as Trusted
from referee.log.verdict import Verdict
from referee.telling.recorder import Recorder, adjudicated, listed, recorded, rehearse
from referee.text.notation import game_text
from referee.text.notation.game_text import GameText
from referee.text.notation.headers import Setup
from referee.text.notation.table import ActKind, Table, TableAct, TableError
from referee.text.notation.violations import NotationError
from referee.text.report.model import Seat, of_adjudication
from referee.text.report.rulings import Policy, RulingError, Step, read
from referee.text.report.text import text as report_text
from tests.sizes import Part, in_parts
from tests.text.notation.setups import name_of

THREE = [
    Setup("alhambra", 2, 3, alhambra.Options(max_turns=9)),
    Setup("kingdomino", 1, 3, kingdomino.Options()),
    Setup("rollwrite", 1, 3, rollwrite.Options()),
]
KEYS = [PrivateKey.generate() for _ in range(3)]
SIGNER = CheckpointSigner("club.example", KEYS[1])
OUT = 2
"""The seat that resigns."""


def played(setup: Setup, seed: int) -> tuple[str, str]:
    """A whole game in which a seat resigns and the others then take a move back: with all lines, and without some."""
    rng = random.Random(seed)
    table = Table(setup)
    dealer = setup.game.dealer(setup.seats, setup.options, setup.components, Shuffler(rng))
    happened: list[Any] = []
    is_short: list[bool] = []
    resigns, goes_back = rng.randrange(4, 20), True

    def add(line: Any, *, is_left_out: bool = False) -> None:
        if isinstance(line, TableAct):
            table.take(line)
        else:
            table.play(line)
        happened.append(line)
        is_short.append(not is_left_out)

    while not isinstance(awaited := table.state.pending()[0], Over):
        if len(happened) == resigns:
            add(TableAct(ActKind.RESIGN, OUT))
        due = table.due()
        if due is not None:
            add(due.event, is_left_out=True)
        elif isinstance(awaited, Decision):
            moves = list(table.state.legal_moves())
            add(rng.choice(moves))
            if goes_back and OUT in table.out and is_short[-2]:
                goes_back = False
                add(TableAct(ActKind.CORRECT, line=table.line - 1))
                add(rng.choice(moves))
        elif isinstance(awaited, Forced):
            add(ForcedPass(awaited.seat))
        else:
            add(dealer.outcome(table.state))
    text = game_text.write(GameText(setup, table.events(), table.contest(), tuple(happened)))
    head, _, body = text.partition("\n\n")
    lines = [line for line in body.splitlines() if not line.startswith(";")]
    numbers = [sum(is_short[:count]) for count in range(len(is_short) + 1)]
    short = []
    for line, kept in zip(lines, is_short, strict=True):
        if line.startswith("scribe: back to "):
            line = f"scribe: back to {numbers[int(line.rpartition(' ')[2])]}"  # noqa: PLW2901
        short += [line] if kept else []
    return text, "\n".join([head, "", *short, ""])


@in_parts(2)
@pytest.mark.parametrize("setup", THREE, ids=name_of)
def test_a_text_without_the_moves_of_who_resigned_is_the_same_game(setup: Setup, part: Part) -> None:
    """For reading, for the log, and for an adjudication."""
    left_out = 0
    for seed in part.of(range(2)):
        whole, short = played(setup, seed)
        left_out += whole.count("\n") - short.count("\n")
        reading = game_text.read(short)
        assert game_text.write(reading.game) == whole
        assert game_text.write(game_text.read(whole).game) == whole
        rehearse(reading.game)
        recorder = Recorder(setup, KEYS[0], KEYS[2:], has_table_acts=True)
        recorder.lines(reading.game)
        report = auditor.audit(BytesIO(recorder.file(SIGNER)), Trusted(verifier=SIGNER.verifier))
        assert report.verdict is Verdict.COMPLETE
        for text in (whole, short):
            found = adjudicated(text)
            assert found.is_clean
            assert not found.has_rulings
            assert found.state.digest() == reading.state.digest()
            assert found.told.result == reading.result == report.result
            kept = recorded(found, KEYS[0], [])
            assert kept.record.game.result() == reading.result
            assert kept.record.game.position.state.digest() == reading.state.digest()
            assert not listed(text).illegal
    assert left_out > 0


KINGS = """\
[Game "kingdomino"]
[Seats "3"]

0: castle 2,2
1: castle 2,2
2: castle 2,2
first order: 0 1 2
line: 3 5 17
0: choose 3
1: resign
"""
NEXT = KINGS.count("\n") + 1


def test_another_move_of_who_resigned_is_listed_and_the_stand_ins_counts() -> None:
    text = f"{KINGS}1: choose 17\n2: choose 17\nline: 4 6 18\n"
    with pytest.raises(
        NotationError, match=r"1: choose 17 .*the stand-in moves for this player \(TBL-2\); expected 1: cho"
    ):
        game_text.read(text)
    whole = game_text.read(f"{KINGS}1: choose 5\n2: choose 17\nline: 4 6 18\n")
    stopped = adjudicated(text)
    assert stopped.stopped is not None
    assert (stopped.stopped.line, stopped.stopped.words) == (NEXT, "1: choose 17")
    for found in (adjudicated(text, Policy.SKIP), adjudicated(text, rulings=read(f"{NEXT}: skip")), listed(text)):
        (illegal,) = found.illegal
        assert "1: choose 5" in illegal.outcome
        assert found.state.digest() == whole.state.digest()
        assert [each.step for each in found.entered][-3:-1] == [Step.DUE, Step.PLAYED]
        told = report_text(of_adjudication(found, [Seat(number) for number in range(3)]))
        assert "1 of them is the stand-in's move, which the record does not have (TBL-2)." in told
    accepted = adjudicated(text, Policy.ACCEPT).stopped
    assert accepted is not None
    assert accepted.advice == f"possible rulings: {NEXT}: skip, also with points off; or {NEXT}: stop, places …"


def test_a_text_that_ends_where_a_stand_in_is_due_is_left_as_it_is() -> None:
    """Anything may come next, such as a seat that an arbiter brings back."""
    assert game_text.read(KINGS).state.pending() == adjudicated(KINGS).state.pending()
    assert isinstance(awaited := game_text.read(KINGS).state.pending()[0], Decision)
    assert awaited.seat == 1
    back = game_text.read(f"{KINGS}arbiter: reinstate seat 1\n1: choose 17\n")
    assert back.game.contest.is_plain
    rehearse(back.game)


def test_going_back_costs_little_however_often() -> None:
    """A position is made from one a few events before, and not from the beginning."""
    reading = game_text.read(played(THREE[1], 1)[0])
    *lines, last = reading.game.happened
    table, applied, times = Table(THREE[1]), 0, 200
    for line in (*lines, last):
        if isinstance(line, TableAct):
            table.take(line)
        else:
            table.play(line)
    states: Any = type(table.state)
    apply = states.apply

    def counted(state: Any, event: Any) -> None:
        nonlocal applied
        applied += 1
        apply(state, event)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(states, "apply", counted)
        for _ in range(times):
            table.take(TableAct(ActKind.CORRECT, line=len(lines)))
            table.play(last)
    assert len(reading.game.events) > 30
    assert times <= applied < times * 18
    assert table.state.digest() == reading.state.digest()
    with pytest.raises(TableError, match="was taken back"):
        table.take(TableAct(ActKind.CORRECT, line=len(lines) + 1))


EXTRA = (
    "2: resign",
    "0: resign",
    "arbiter: pause",
    "arbiter: resume",
    "arbiter: reinstate seat 2",
    "arbiter: skip seat 1",
    "arbiter: penalty seat 0 points 3",
    'arbiter: stands "why"',
    "0: back to 9",
    "1: agree",
    "scribe: back to 8",
    "arbiter: restore to 10",
    "1: protest against 7 TBL-2",
    "arbiter: dismiss decides 11",
    "arbiter: result places 2 1 3",
    "arbiter: void",
    "organiser: abort",
)


def spoilt(setup: Setup, seed: int) -> str:
    """Return a game without the lines of seats that resigned, and with other lines added, missing and moved."""
    rng = random.Random(seed)
    head, _, body = played(setup, seed)[1].partition("\n\n")
    head = "\n".join(line for line in head.splitlines() if not re.match(r"\[(Result|Places|Forfeits)|;", line))
    lines = body.splitlines()
    for _ in range(rng.randrange(1, 3)):
        at = rng.randrange(8, len(lines))
        match rng.randrange(4):
            case 0:
                lines[at] = rng.choice(lines[8:])
            case 1:
                del lines[at]
            case _:
                lines.insert(at, rng.choice(EXTRA))
    return "\n".join([head, "", *lines, ""])


@in_parts(2)
@pytest.mark.parametrize("setup", THREE, ids=name_of)
def test_whatever_is_written_the_log_is_what_the_adjudication_says(setup: Setup, part: Part) -> None:
    seen: Counter[str | Step] = Counter()
    for seed in part.of(range(8)):
        text = spoilt(setup, seed)
        try:
            whole = listed(text)
            found = adjudicated(text, list(Policy)[seed % 3])
        except NotationError as error:
            seen[error.kind] += 1
            continue
        ruling = found.stopped
        if ruling is not None and found.policy is Policy.STOP and ruling.line not in draws(text):
            try:
                found = adjudicated(text, Policy.SKIP, read(f"{ruling.line}: skip, 1 point off seat 1"))
            except RulingError:
                assert "organiser: abort" in text
        assert bool(whole.illegal) == bool(found.illegal)
        recorder = recorded(found, KEYS[0], KEYS[2:])
        report = auditor.audit(BytesIO(recorder.file(SIGNER)), Trusted(verifier=SIGNER.verifier))
        assert report.verdict in (Verdict.COMPLETE, Verdict.PREFIX), report.findings
        assert recorder.record.game.position.state.digest() == found.state.digest(), seed
        if found.ended:
            assert report.result == found.told.result
            assert report.outcome == found.told.outcome()
        seen["stopped" if found.stopped else "ended"] += 1
        seen.update(each.step for each in found.entered)
        try:
            reading = game_text.read(text)
            rehearse(reading.game)
        except (NotationError, LogError):
            seen["refused"] += 1
            continue
        # Text that reading accepts is clean, and unchanged.
        assert adjudicated(text).is_clean, seed
        assert adjudicated(text).state.digest() == reading.state.digest()
        seen["read"] += 1
    assert seen["ended"]
    assert seen["refused"]
    assert seen[Step.DUE]


def draws(text: str) -> set[int]:
    """The lines with what was drawn or rolled."""
    return {
        number for number, line in enumerate(text.split("\n"), start=1) if not re.match(r"\d+: |[a-z]+( \d)?: ", line)
    }
