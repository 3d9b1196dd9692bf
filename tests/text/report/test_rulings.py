"""Rulings by lines of a record: how they are written, what they do, and that the log says what was ruled."""

from __future__ import annotations

import random
import re
from collections import Counter
from io import BytesIO
from typing import Any

import pytest

from referee.games.game import Decision, Ending
from referee.games.results import Result
from referee.log import audit as auditor
from referee.log.keys import PrivateKey
from referee.log.note import CheckpointSigner
from referee.log.verdict import Policy as Trusted
from referee.log.verdict import Report, Verdict
from referee.telling.recorder import recorded
from referee.text.notation import game_text
from referee.text.notation.game_text import write
from referee.text.notation.headers import Setup
from referee.text.notation.violations import NotationError
from referee.text.report.adjudication import adjudicate, list_illegal
from referee.text.report.model import Seat, of_adjudication
from referee.text.report.rulings import Adjudication, LineRuling, PointsOff, Policy, RulingError, Step, read
from referee.text.report.text import html
from referee.text.report.text import text as as_text
from tests.sizes import Part, in_parts
from tests.text.notation.setups import PLAIN, name_of, play, text_of
from tests.text.report.adjudication import AWAY, FINE, NEXT, OUTSIDE, START

SIGNER = CheckpointSigner("club.example", PrivateKey.generate())
KEYS = [PrivateKey.generate() for _ in range(3)]


def ruled(rulings: str, *lines: str, policy: Policy = Policy.STOP) -> Adjudication:
    return adjudicate(START + "".join(f"{line}\n" for line in lines), policy, read(rulings))


def audited(found: Adjudication) -> Report:
    """The audit of the log of what was found."""
    file = recorded(found, KEYS[0], KEYS[2:]).file(SIGNER)
    return auditor.audit(BytesIO(file), Trusted(verifier=SIGNER.verifier))


# --- how they are written ------------------------------------------------------------------------------------


def test_rulings_are_read_one_a_line_with_comments() -> None:
    rulings = read("""\
; the final, table 3
17: skip
19: stands, 2 points off seat 1   ; too late to go back

31: 1: take denar-2, 1 point off seat 0, 3 points off seat 1
44:stop, points 20 -3 7
45: stop, places 2 1
""")
    assert [(each.line, each.policy, each.move) for each in rulings] == [
        (17, Policy.SKIP, ""),
        (19, Policy.ACCEPT, ""),
        (31, None, "1: take denar-2"),
        (44, Policy.STOP, ""),
        (45, Policy.STOP, ""),
    ]
    assert rulings[1].points_off == (PointsOff(1, 2),)
    assert rulings[2].points_off == (PointsOff(0, 1), PointsOff(1, 3))
    assert rulings[3].result == Result(Ending.ADJUDICATED, (20, -3, 7), (1, 3, 2))
    assert rulings[4].result == Result(Ending.ADJUDICATED, (), (2, 1))
    assert [each.at for each in rulings] == [2, 3, 5, 6, 7]
    again = read("".join(f"{each.line}: {each}\n" for each in rulings))
    assert [str(each) for each in again] == [str(each) for each in rulings]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("skip", "line 1: found 'skip'; expected a line of the record and a ruling on it, such as 17: skip"),
        ("\n17: ignore", "line 2: found 'ignore'; expected skip, stands, stop, or another move"),
        ("17: skip\n17: stop", "line 2: line 17 of the record already has a ruling, in line 1"),
        ("17: skip, 0 points off seat 1", "line 1: the ruling takes 0 points off; expected 1 to 1000"),
        ("17: skip, 1001 points off seat 1", "expected 1 to 1000"),
        ("17: skip, two points off seat 1", "line 1: found 'two points off seat 1'; expected"),
        ("17: skip, places 1 2", "line 1: points or places for a game that is not over; expected them after stop"),
        ("17: stop, places 1 3", "line 1: the places 1 3 are no ranking; expected"),
        ("17: stop, points 1 2 3, places 1 2", "line 1: 3 points and 2 places; expected"),
        ("17: stop, places 1 2, places 1 2", "line 1: places twice; expected each once"),
        ("0: skip", "line 1: found '0: skip'"),
        ("17: , 2 points off seat 1", "line 1: found ''; expected"),
    ],
)
def test_what_is_no_ruling_is_named_with_its_line(text: str, words: str) -> None:
    with pytest.raises(RulingError) as raised:
        read(text)
    assert words in str(raised.value)


@pytest.mark.parametrize(
    ("rulings", "words"),
    [
        (
            f"{NEXT + 1}: skip",
            f"line 1: nothing is illegal in line {NEXT + 1} of the record: 0: choose 23; expected an",
        ),
        ("1: skip", "line 1: the record has no move in line 1; expected a line with a move"),
        ("999: skip", "line 1: the record has no move in line 999; expected"),
        (f"{NEXT}: skip, 1 point off seat 2", "line 1: this game has no seat 2; expected a seat from 0 to 1"),
        (f"{NEXT}: stop, points 9 8, 1 point off seat 0", "points off with it change nothing; expected the points"),
        (f"{NEXT}: stop, places 1 2 3", "line 1: points or places of 3 seats; expected those of 2 seats"),
        (f"{NEXT}: {OUTSIDE}", "is illegal, too: it breaks KDO-14, KDO-16; expected a legal move for line"),
        (
            f"{NEXT}: 0: plaice 3",
            "found 'plaice'; expected castle, choose, discard, pass or place; expected a legal move",
        ),
        (f"{NEXT}: 0: resign", "'0: resign' is no move, and a line is replaced by another move; expected a legal move"),
        (f"{NEXT}: 1: choose 4", "player 2 is not on turn; expected player 1: place domino"),
        (f"{NEXT}: 0: place 3 2,0 2,1 against KDO-14", "is marked as accepted"),
    ],
)
def test_a_ruling_that_does_not_fit_the_record(rulings: str, words: str) -> None:
    with pytest.raises(RulingError) as raised:
        ruled(rulings, AWAY, "0: choose 23", policy=Policy.ACCEPT)
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


# --- what they do --------------------------------------------------------------------------------------------


def test_every_line_is_ruled_on_its_own() -> None:
    """One stands with points off, one is skipped, one replaced; the default stops at none of them."""
    lines = (AWAY, "0: choose 23", "1: place 5 2,0 3,0", "1: choose 4")
    found = ruled(f"{NEXT}: stands, 2 points off seat 0\n{NEXT + 2}: skip, 1 point off seat 1", *lines)
    assert found.stopped is None
    steps = [each.step for each in found.entered[NEXT - 3 :]]
    assert steps == [Step.ACCEPTED, Step.PENALTY, Step.PLAYED, Step.REFUSED, Step.PENALTY, Step.STOOD_IN, Step.PLAYED]
    assert found.contest.points_off == (2, 1)
    assert found.illegal[0].outcome == "stands as it was played (TBL-7); 2 points off player 1"
    assert found.illegal[1].ruling == "skip, 1 point off seat 1"
    made = as_text(of_adjudication(found, [Seat(0), Seat(1)]))
    assert "-> ruled: stands as it was played (TBL-7); 2 points off player 1" in made
    assert audited(found).verdict is Verdict.PREFIX


def test_another_move_counts_in_the_place_of_the_line() -> None:
    found = ruled(f"{NEXT}: {FINE}", OUTSIDE, "0: choose 23")
    assert found.state.digest() == ruled("", FINE, "0: choose 23").state.digest()
    steps = [each.step for each in found.entered[NEXT - 3 :]]
    assert steps == [Step.REFUSED, Step.RESTORED, Step.REPLACED, Step.PLAYED]
    assert "the arbiter rules 0: place 3" in found.illegal[0].outcome
    assert audited(found).verdict is Verdict.PREFIX


def test_what_cannot_stand_says_what_can_be_ruled() -> None:
    found = ruled(f"{NEXT}: stands", OUTSIDE, "0: choose 23")
    assert found.stopped is not None
    assert found.stopped.outcome == "the adjudication ends here: a move that breaks KDO-16 cannot stand (TBL-7)"
    advice = found.stopped.advice
    assert advice.startswith(f"possible rulings: {NEXT}: skip or {NEXT}: 0: place 3 forest/forest")
    assert advice.endswith(f", each also with points off; or {NEXT}: stop, places …")
    offered = re.findall(rf"{NEXT}: (?:0: .*?|skip)(?= or |, each)", advice)
    assert len(offered) > 1
    for each in offered:
        assert ruled(f"{each}, 1 point off seat 0", OUTSIDE, "0: choose 23").stopped is None


def test_a_skipped_line_before_the_same_seats_next_move_is_a_ruling_in_the_log() -> None:
    found = ruled(f"{NEXT}: skip", AWAY, FINE, "0: choose 23")
    assert [each.step for each in found.entered[NEXT - 3 :]][:3] == [Step.REFUSED, Step.RESTORED, Step.PLAYED]
    assert found.has_rulings
    assert audited(found).verdict is Verdict.PREFIX


def test_a_result_can_be_given_where_the_record_stops() -> None:
    found = ruled(f"{NEXT}: stop, places 2 1", AWAY, "0: choose 23")
    assert found.stopped is not None
    assert found.ended
    assert found.told.result == Result(Ending.ADJUDICATED, (), (2, 1))
    report = audited(found)
    assert (report.verdict, report.result) == (Verdict.COMPLETE, found.told.result)
    assert not ruled(f"{NEXT}: stop", AWAY).ended


def test_rulings_that_were_not_reached_are_named() -> None:
    found = ruled(f"{NEXT}: stop\n{NEXT + 1}: skip", AWAY, "0: choose 23")
    assert [each.line for each in found.unreached] == [NEXT + 1]
    assert f"Not reached, and so not ruled: line {NEXT + 1}." in as_text(of_adjudication(found, [Seat(0), Seat(1)]))


# --- an unnoticed wrong payment ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def payment() -> tuple[str, int, str]:
    """A whole game of Alhambra in which a tile of 12 was paid with 9, then placed; the line, and the right payment."""
    right = "1: buy tower-12 (slot 3) with ducat-5 ducat-9"
    text = write(text_of(PLAIN[0], play(PLAIN[0], seed=3)))
    assert text.count(right) == 1
    line = text.partition(right)[0].count("\n") + 1
    return text.replace(right, "1: buy tower-12 (slot 3) with ducat-9"), line, right


def test_a_wrong_payment_has_a_result_with_the_right_one(payment: tuple[str, int, str]) -> None:
    text, line, right = payment
    found = adjudicate(text, Policy.STOP, read(f"{line}: {right}, 3 points off seat 1"))
    assert found.stopped is None
    assert len(found.illegal) == 1
    before = [*map(int, text.partition('[Result "')[2].partition('"')[0].split())]
    assert found.told.result is not None
    assert found.told.result.scores == (before[0], before[1] - 3)
    cannot = "By the record as played the points cannot be computed"
    points = ":".join(map(str, found.told.result.scores))
    assert found.changes == (f"{cannot} (line {line} cannot stand); with the rulings {points}.",)
    report = audited(found)
    assert (report.verdict, report.result) == (Verdict.COMPLETE, found.told.result)


def test_to_skip_is_offered_only_where_the_record_then_goes_on(payment: tuple[str, int, str]) -> None:
    """The market's draw shows that the tile was bought, so nothing can be drawn for it if it was not."""
    text, line, right = payment
    for found in (adjudicate(text, Policy.ACCEPT), adjudicate(text, rulings=read(f"{line}: stands"))):
        assert found.stopped is not None
        assert found.stopped.advice == (
            f"possible rulings: {line}: {right}, also with points off; or {line}: stop, places …"
        )
    skipped = adjudicate(text, rulings=read(f"{line}: skip"))
    assert skipped.stopped is not None
    assert skipped.stopped.line == line + 2
    assert f"possible rulings: {line}: {right}, also with points off" in skipped.stopped.advice


def test_a_skipped_payment_is_one_illegal_move_and_can_have_a_result(payment: tuple[str, int, str]) -> None:
    """Placing the tile falls with it; what was then drawn does not fit, and the message says what does."""
    text, line, right = payment
    found = adjudicate(text, Policy.SKIP)
    assert [(each.line, each.follows) for each in found.illegal] == [(line, None), (line + 1, line), (line + 2, None)]
    assert sum("entered instead" in each.outcome for each in found.illegal) == 1
    assert found.stopped is not None
    assert f"{line}: {right}" in found.stopped.advice
    given = adjudicate(text, Policy.STOP, read(f"{line}: skip\n{line + 2}: stop, points 41 60"))
    assert given.ended
    report = audited(given)
    assert (report.verdict, report.result) == (Verdict.COMPLETE, given.told.result)


# --- the list ------------------------------------------------------------------------------------------------


def test_the_list_names_each_illegal_line_once_and_a_stand_in_never(payment: tuple[str, int, str]) -> None:
    text, line, right = payment
    (illegal,) = list_illegal(text).illegal
    assert (illegal.line, illegal.outcome) == (line, f"taken as {right}")
    found = list_illegal(f"{START}{OUTSIDE}\n0: choose 99\n1: place 5 2,0 3,0\n1: choose 18\n")
    assert [each.line for each in found.illegal] == [NEXT, NEXT + 1, NEXT + 2]
    assert list_illegal(f"{START}{FINE}\n").is_clean


def test_the_list_goes_on_where_a_line_is_missing_or_doubled() -> None:
    text = write(text_of(PLAIN[1], play(PLAIN[1], seed=3)))
    lines = text.split("\n")
    at = next(index for index, line in enumerate(lines) if ": place" in line)
    (missing,) = list_illegal("\n".join([*lines[:at], *lines[at + 1 :]])).illegal[:1]
    assert missing.outcome.startswith("taken as if 0: place") or missing.outcome.startswith("taken as if 1: place")
    doubled = list_illegal("\n".join([*lines[:at], lines[at], *lines[at:]]))
    assert [(each.line, each.outcome) for each in doubled.illegal] == [(at + 2, "taken as if it were not there")]


# --- any game, any rulings -----------------------------------------------------------------------------------


def with_illegal_moves(rng: random.Random, setup: Setup, seed: int) -> str:
    """Return a game in which some moves are other ones: legal at another time, or with other numbers."""
    lines = write(text_of(setup, play(setup, seed=seed))).split("\n")
    moves = [index for index, line in enumerate(lines) if re.match(r"\d: ", line)]
    for index in rng.sample(moves, min(3, len(moves))):
        same = [other for other in moves if lines[other][0] == lines[index][0]]
        if rng.random() < 0.5:
            lines[index] = lines[rng.choice(same)]
        else:
            lines[index] = re.sub(r"\d(?=[^\d]*\Z)", str(rng.randrange(7)), lines[index])
    return "\n".join(lines)


def ruling_for(rng: random.Random, found: Adjudication, line: int) -> LineRuling:
    """Any ruling about the line before which the adjudication ends."""
    seats = found.setup.seats
    off = tuple(PointsOff(rng.randrange(seats), rng.randint(1, 9)) for _ in range(rng.randrange(3)))
    kind = rng.choice(("skip", "skip", "stands", "stands", "move", "move", "move", "stop", "given"))
    awaited: Any = found.state.pending()[0]
    if kind == "move" and isinstance(awaited, Decision):
        event = rng.choice(list(found.state.legal_moves()))
        words = game_text.line(found.setup.rules_id, found.state, event)
        return LineRuling(line, None, words, off)
    if kind == "given":
        places = tuple(rng.sample(range(1, seats + 1), seats))
        return LineRuling(line, Policy.STOP, "", (), Result(Ending.ADJUDICATED, (), places))
    policy = {"stands": Policy.ACCEPT, "stop": Policy.STOP}.get(kind, Policy.SKIP)
    return LineRuling(line, policy, "", off)


@in_parts(2)
@pytest.mark.parametrize("setup", PLAIN, ids=name_of)
def test_whatever_is_ruled_the_log_audits_and_has_the_result_that_is_stated(setup: Setup, part: Part) -> None:
    rng = random.Random(f"{name_of(setup)} {part.number}")
    seen: Counter[str | Step] = Counter()
    for seed in part.of(range(80)):
        if seen["over"] and seen["over"] + seen["stopped"] >= 6:
            break
        text = with_illegal_moves(rng, setup, seed)
        try:
            listed = list_illegal(text)
            found = adjudicate(text)
        except NotationError:
            continue
        assert bool(listed.illegal) == bool(found.illegal)
        assert {each.line for each in found.illegal} <= {each.line for each in listed.illegal}
        rulings: list[LineRuling] = []
        while (stopped := found.stopped) is not None and stopped.line not in {each.line for each in rulings}:
            if stopped.seat is None or len(rulings) > 20:
                break
            rulings.append(ruling_for(rng, found, stopped.line))
            found = adjudicate(text, Policy.STOP, read("".join(f"{each.line}: {each}\n" for each in rulings)))
        report = audited(found)
        over = found.ended and found.told.result is not None
        assert report.verdict is (Verdict.COMPLETE if over else Verdict.PREFIX), report.findings
        if over:
            assert report.result == found.told.result
        made = of_adjudication(found, [Seat(number) for number in range(setup.seats)])
        assert all(f"line {each.line}: " in as_text(made) for each in found.illegal)
        assert html(made).endswith("</html>\n")
        seen["over" if over else "stopped"] += 1
        seen.update(entered.step for entered in found.entered)
    assert seen["over"]
    assert seen[Step.PENALTY]
    assert seen[Step.REPLACED] or setup.seats == 1


def test_the_list_has_what_does_not_fit_its_position() -> None:
    """A line that states the position wrongly is no seat's move, and ends no list."""
    text = write(text_of(PLAIN[1], play(PLAIN[1], seed=3)))
    lines = text.split("\n")
    at = next(index for index, line in enumerate(lines) if ": choose" in line)
    right = lines[at]
    lines[at] = re.sub(r" \S+/\S+$", " mine/mine:3", right)
    with pytest.raises(NotationError):
        adjudicate("\n".join(lines))
    (illegal,) = list_illegal("\n".join(lines)).illegal
    assert (illegal.line, illegal.outcome) == (at + 1, f"taken as {right}")
    assert illegal.reason


def test_rulings_go_with_acts_of_the_table_in_the_record() -> None:
    """Points that the record has taken off count beside those of the rulings, and lines are named as before."""
    lines = ("arbiter: penalty seat 1 points 2", AWAY, '1: protest against 11 KDO-14 "too far"', "0: choose 23")
    rulings = f"{NEXT + 1}: {FINE}, 1 point off seat 1"
    found = ruled(rulings, *lines)
    assert found.stopped is None
    assert found.contest.points_off == (0, 3)
    recorder = recorded(found, KEYS[0], KEYS[2:])
    assert recorder.record.game.arbitration.points_off == [0, 3]
    assert recorder.record.game.position.state.digest() == found.state.digest()
    assert audited(found).verdict is Verdict.PREFIX
    with pytest.raises(RulingError, match="nothing is illegal in line"):
        ruled(f"{NEXT}: skip", *lines)
    (illegal,) = list_illegal(START + "".join(f"{line}\n" for line in lines)).illegal
    assert illegal.line == NEXT + 1


def test_an_attempt_that_no_log_can_have_is_left_out_of_it() -> None:
    found = ruled(f"{NEXT + 1}: skip, 1 point off seat 0", FINE, "0: choose 0", "0: choose 23")
    assert found.stopped is None
    assert found.contest.points_off == (1, 0)
    assert audited(found).verdict is Verdict.PREFIX
