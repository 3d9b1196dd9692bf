"""Texts of contested games: what was accepted, forfeited, taken off and ruled is read as it was printed."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from itertools import chain
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.games import registry, table_rules
from referee.games.alhambra import Options
from referee.games.game import Ending, Over
from referee.games.kingdomino.moves import PlaceDomino
from referee.games.results import Contest, Result
from referee.text.notation import game_text, headers, position_text
from referee.text.notation.game_text import GameText
from referee.text.notation.headers import Setup
from referee.text.notation.position_text import Position
from referee.text.notation.violations import Kind, NotationError
from referee.text.report import sheet
from tests.games.rulings import CANDIDATES
from tests.log.slow_table import OF_A_SEAT
from tests.sizes import Part, campaign, in_parts
from tests.text.notation.contested import GAMES, at, contested, contests, states
from tests.text.notation.game_text import CHOSEN, KINGS
from tests.text.notation.setups import PLAIN, name_of

# Accepted moves


@in_parts(3)
@pytest.mark.parametrize(("rules_id", "seats"), GAMES)
def test_a_game_in_which_illegal_moves_stand_is_read_as_it_was_printed(rules_id: str, seats: int, part: Part) -> None:
    marked = 0
    for seed in part.of(range(3)):
        setup, events = contested(rules_id, seats, seed)
        *_, last = states(setup, events)
        text = game_text.write(GameText(setup, events))
        found = game_text.read(text)
        assert found.game == GameText(setup, events)
        assert found.state.digest() == last.digest()
        assert game_text.write(found.game) == text
        marked += text.count(" against ")
    assert marked


@pytest.mark.parametrize(("rules_id", "seats"), GAMES)
def test_every_mark_of_a_game_is_needed_and_has_to_be_right(rules_id: str, seats: int) -> None:
    setup, events = contested(rules_id, seats, 0)
    lines = game_text.write(GameText(setup, events)).splitlines()
    waivable = registry.get(rules_id).waivable
    marks = [number for number, line in enumerate(lines) if " against " in line]
    for number in marks[:4]:
        words, _, told = lines[number].partition(" against ")
        rules = tuple(told.split())
        assert list(rules) == sorted({*rules})
        error = refused_game([*lines[:number], words])
        assert (error.kind, error.line, error.rule_ids) == (Kind.ILLEGAL, number + 1, rules)
        for wrong in ({*waivable} - {*rules}, {*rules, "XYZ-1"}, {*rules} | waivable | {"XYZ-2"}):
            if wrong:
                error = refused_game([*lines[:number], f"{words} against {' '.join(sorted(wrong))}"])
                assert (error.kind, error.line) == (Kind.ILLEGAL, number + 1)
                assert error.expected == f"against {told}"
    legal = next(number for number, line in enumerate(lines) if line[:2] == "0:" and number not in marks)
    error = refused_game([*lines[:legal], f"{lines[legal]} against {min(waivable)}"])
    assert error.expected == "nothing, as no rule is broken"


def refused_game(lines: list[str]) -> NotationError:
    head = [line for line in lines if not line.startswith("[Result")]
    with pytest.raises(NotationError) as caught:
        game_text.read("\n".join(head).replace("\n\n", "\n\n\n", 1))
    return caught.value


def test_what_no_arbiter_can_waive_cannot_be_marked() -> None:
    with pytest.raises(NotationError) as caught:
        game_text.read(f"{CHOSEN}0: place 3 2,0 3,0 against KDO-14 KDO-16")
    assert "a move that breaks KDO-16 cannot stand (TBL-7); expected only KDO-13, KDO-14" in str(caught.value)
    with pytest.raises(NotationError) as caught:
        game_text.read_line("kingdomino", PLAIN[1].start(), "0: castle 2,2 against KDO-14")
    assert "a move that is marked as accepted; expected a legal move" in str(caught.value)
    with pytest.raises(NotationError) as caught:
        game_text.read(f"{KINGS}0: castle 2,2 against")
    assert "the line ends; expected the id of a rule" in str(caught.value)


def test_what_could_not_stand_is_not_printed() -> None:
    game = game_text.read(CHOSEN).game
    with pytest.raises(ValueError, match="place 3 forest/forest 2,0 3,0 breaks KDO-16"):
        game_text.write(replace(game, events=(*game.events, PlaceDomino(3, (2, 0), (3, 0)))))


@in_parts(2)
@pytest.mark.parametrize(("rules_id", "seats"), GAMES)
def test_a_board_on_which_something_illegal_stands_is_read_as_it_was_printed(
    rules_id: str, seats: int, part: Part
) -> None:
    """It is the same position, with the same answers to every question, and so is the rest of the game."""
    marked = 0
    for seed in part.of(range(2)):
        setup, events = contested(rules_id, seats, seed)
        rng = random.Random(seed)
        for number, state in enumerate(states(setup, events)):
            if rng.random() > 0.12 and number < len(events):
                continue
            text = position_text.write(Position(setup, state))
            found = position_text.read(text)
            again: Any = found.state
            assert position_text.write(found) == text
            assert_same(rules_id, again, state)
            ahead = state.copy()
            for event in events[number : number + 12]:
                assert again.check(event) == ahead.check(event)
                again.apply(event)
                ahead.apply(event)
            assert_same(rules_id, again, ahead)
            marked += text.count(" against ")
    assert marked or rules_id == "rollwrite"


def assert_same(rules_id: str, one: Any, other: Any) -> None:
    assert one.digest() == other.digest()
    assert one.pending() == other.pending()
    assert list(one.legal_moves()) == list(other.legal_moves())
    if not isinstance(other.pending()[0], Over):
        for event in list(CANDIDATES[rules_id](other))[:80]:
            assert one.check(event) == other.check(event)


@pytest.mark.parametrize(("rules_id", "rule"), [("alhambra", "ALH-A4"), ("kingdomino", "KDO-14")])
def test_the_mark_of_a_board_is_needed_and_has_to_be_right(rules_id: str, rule: str) -> None:
    setup, events = contested(rules_id, 2 if rules_id == "alhambra" else 3, 0)
    *_, last = states(setup, events)
    text = position_text.write(Position(setup, last))
    mark = f" against {text.partition(' against ')[2].partition(' |')[0].partition(' placed')[0]}"
    mark = mark.partition(" discarded")[0].partition('"')[0]
    without = text.replace(mark, "", 1)
    for wrong, expected in ((without, ""), (text.replace(mark, f"{mark} XYZ-1", 1), mark.strip())):
        with pytest.raises(NotationError) as caught:
            position_text.read(wrong)
        assert (caught.value.kind, caught.value.expected) == (Kind.ILLEGAL, expected)
        assert set(mark.split()[1:]) <= set(caught.value.rule_ids)
    fine = position_text.write(Position(setup, setup.start()))
    if rules_id == "alhambra":
        with pytest.raises(NotationError, match="nothing, as no rule is broken"):
            position_text.read(fine.replace(" laid", f" laid against {rule}", 1))


# Acts beside the moves


def test_a_seat_forfeits_as_the_rules_of_the_table_say() -> None:
    assert sorted(ending.value for ending in table_rules.ENDINGS) == sorted(OF_A_SEAT)


@pytest.mark.parametrize("examples", [35, campaign(150)])
def test_a_contest_is_read_as_it_was_printed(examples: int) -> None:
    @given(st.data(), st.sampled_from(GAMES), st.sampled_from([0, 3, 7, 8, 8]))
    @settings(max_examples=examples)
    def read_again(data: st.DataObject, game: tuple[str, int], share: int) -> None:
        setup, events, state = at(*game, share)
        pending = state.pending()
        contest = data.draw(contests(setup.seats, over=isinstance(pending[0], Over)))
        result = contest.result(setup.seats, pending)
        texts: list[tuple[Any, Any]] = [(position_text, Position(setup, state, contest))]
        if len(events) < 400:
            texts.append((game_text, GameText(setup, events, contest)))
        for module, told in texts:
            text = module.write(told)
            found = module.read(text)
            again = found if module is position_text else found.game
            assert found.result == result
            assert found.state.digest() == state.digest()
            assert list(found.state.legal_moves()) == list(state.legal_moves())
            assert module.write(again) == text
            # Last forfeits and a ruling may come to the same: then the text says it once.
            if result != replace(contest, ruled=None).result(setup.seats, pending):
                assert again.contest == contest
            assert list(again.contest.out.items()) == list(contest.out.items())
            assert again.contest.points_off == contest.points_off
            plain = "".join(line for line in text.splitlines(True) if not line.startswith(("[Places", "[Result")))
            if contest.ruled is None and module is game_text:
                assert module.read(plain).result == result

    read_again()


@pytest.mark.parametrize("examples", [50, campaign(150)])
def test_headers_that_contradict_the_game_are_refused(examples: int) -> None:
    """Each of the headers, told of the game of another contest: it is refused by name, or it says the same."""

    @given(st.data(), st.sampled_from(GAMES), st.sampled_from([0, 5, 8]))
    @settings(max_examples=examples)
    def refused(data: st.DataObject, game: tuple[str, int], share: int) -> None:
        setup, _, state = at(*game, share)
        over = isinstance(state.pending()[0], Over)
        mine, others = (
            header_values(Position(setup, state, data.draw(contests(setup.seats, over=over)))) for _ in range(2)
        )
        name = data.draw(st.sampled_from(["Result", "Points", "Places"]))
        told = {**mine, **({name: others[name]} if name in others else {})}
        if told.get(name) == mine.get(name):
            return
        position = position_text.write(Position(setup, state))
        lines = [f'[{header} "{value}"]\n' for header, value in told.items()]
        found, error = tried(with_headers(position, lines))
        if error is not None:
            assert error.kind is Kind.ILLEGAL
            assert str(error).partition("illegal: ")[2].split()[0] in told
            assert error.expected
        else:
            assert found is not None
            # A plain position need not say its result, and may.
            places = " ".join(map(str, found.result.places)) if found.result else None
            again = {"Result": headers.result_words(found.result), "Places": places, **header_values(found)}
            assert {header: again.get(header) for header in told} == told

    refused()


def tried(text: str) -> tuple[Position | None, NotationError | None]:
    try:
        return position_text.read(text), None
    except NotationError as error:
        return None, error


def with_headers(position: str, lines: list[str]) -> str:
    *head, last = position.splitlines(True)
    return "".join((*head, *lines, last))


def header_values(position: Position) -> dict[str, str]:
    lines = position_text.head(position)[3:]
    return {line[1:].partition(" ")[0]: line.partition('"')[2][:-2] for line in lines}


@pytest.mark.parametrize(
    ("headers", "message"),
    [
        ('[Forfeits "1 resigned"]\n[Result "*"]', 'illegal: Result "*"; expected resigned, adjudicated, voided'),
        ('[Forfeits "1 flag"]\n[Result "flag"]\n[Places "2 1"]', 'illegal: Places "2 1"; expected 1 2'),
        ('[Forfeits "2 flag"]', 'syntax: Forfeits "2 flag"; expected seats 0 to 1, each once'),
        ('[Forfeits "1 flag, 1 resigned"]', "expected seats 0 to 1, each once"),
        ('[Forfeits "1 voided"]', 'syntax: Forfeits "1 voided"; expected seats and how, such as 1 resigned'),
        ('[Forfeits ""]', "syntax: Forfeits"),
        ('[Penalties "3"]', 'syntax: Penalties "3"; expected the points off of 2 seats, such as 0 1'),
        ('[Penalties "-1 2"]', 'syntax: Penalties "-1 2"; expected 0 or more'),
        ('[Places "1 2"]', 'illegal: Places "1 2"; expected none, as there are none with this result'),
        ('[Points "1 2"]', 'illegal: Points "1 2"; expected none, as they are of [Result "adjudicated"] alone'),
        ('[Result "voided"]\n[Places "1 2"]', "illegal: Places"),
        ('[Result "voided"]\n[Points "1 2"]', "illegal: Points"),
        ('[Result "adjudicated"]\n[Points "1 2"]', 'illegal: Points "1 2"; expected Places with them'),
        ('[Result "adjudicated"]\n[Places "1 3"]', "illegal: Places"),
        ('[Result "adjudicated"]\n[Places "2 2"]', "illegal: Places"),
        ('[Result "adjudicated"]\n[Places "1 2 3"]', "syntax: Places"),
        ('[Result "7 3"]', 'illegal: Result "7 3"; expected *, adjudicated, voided, aborted, referee fault, stalled'),
        ('[Result "rules"]', 'illegal: Result "rules"; expected *'),
    ],
)
def test_what_contradicts_is_told_with_what_was_expected(headers: str, message: str) -> None:
    position = position_text.write(Position(PLAIN[1], PLAIN[1].start()))
    for text, read in (
        (f"{KINGS}{headers}\n", game_text.read),
        (with_headers(position, [f"{headers}\n"]), position_text.read),
    ):
        with pytest.raises(NotationError) as caught:
            read(text)
        assert message in str(caught.value)


@pytest.mark.parametrize("ending", [*table_rules.ENDINGS, Ending.ABORTED, Ending.VOIDED])
def test_an_end_of_which_nobody_says_whose_it_was_is_read_and_has_no_places(ending: Ending) -> None:
    """Texts were written so before they named forfeits."""
    found = game_text.read(f'{KINGS}[Result "{ending.words}"]\n')
    assert found.result == Result(ending)
    assert game_text.read(game_text.write(found.game)).game == found.game


@pytest.mark.parametrize(
    ("places", "header"), [((1, 2, 3), ['[Places "1 2 3"]']), ((1, 1, 3), [])], ids=["a tie that is broken", "shared"]
)
def test_places_are_told_where_the_points_alone_say_others(places: tuple[int, ...], header: list[str]) -> None:
    over = Over(Ending.RULES, (14, 14, 11), places)
    assert headers.write_contest(Contest(), 3, (over,)) == ['[Result "14 14 11"]', *header]


def test_a_game_that_stalled_says_so_in_its_text_and_on_its_sheet() -> None:
    setup = Setup("alhambra", 2, 2, Options(max_turns=1))
    state, events = setup.start(), list[Any]()
    while not isinstance(state.pending()[0], Over):
        events.append(next(chain((event for event, _ in state.chance_outcomes()), state.legal_moves())))
        state.apply(events[-1])
    text = game_text.write(GameText(setup, tuple(events)))
    assert re.search(r"^; .*: the game reached the limit of turns$", text, re.MULTILINE)
    assert sheet.read(text).sheet().remarks[0].endswith(": the game reached the limit of turns.")
    assert game_text.write(game_text.read(text).game) == text


@pytest.mark.parametrize("setup", PLAIN, ids=name_of)
def test_a_text_without_a_contest_is_as_it_always_was(setup: Setup) -> None:
    state: Any = setup.start()
    assert position_text.write(Position(setup, state)).splitlines()[3].startswith("[Position ")
    assert game_text.write(GameText(setup, ())).splitlines()[3:] == ['[Result "*"]', ""]
