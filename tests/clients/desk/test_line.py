"""The meaning of a typed line in a position, and its possible continuations; no terminal and no referee."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from referee.games import registry
from referee.games.game import Chance, Decision, ForcedPass
from referee.text.notation.game_text import line
from referee.text.notation.grammar import grammar_of
from referee.text.notation.headers import Setup
from referee_clients.terminal.desk.guide import guide
from referee_clients.terminal.desk.line import Desk
from tests.text.notation.setups import PLAIN, SETUPS, name_of, play

FOUR = next(setup for setup in SETUPS if setup.rules_id == "kingdomino" and setup.seats == 4)
TWO = next(setup for setup in SETUPS if setup.rules_id == "rollwrite" and setup.seats == 2)
KINGS = PLAIN[1]


def desks(setup: Setup, seed: int) -> list[tuple[Desk, str, Any]]:
    """Return every position of a game at random in which somebody at the table acts, with the line and the event."""
    state = setup.start()
    found = []
    for event in play(setup, seed).events:
        if not isinstance(event, ForcedPass):
            found.append((Desk(setup.rules_id, state.copy()), line(setup.rules_id, state, event), event))
        state.apply(event)
    return found


@pytest.mark.parametrize("setup", [*PLAIN, FOUR, TWO], ids=name_of)
def test_every_line_of_a_game_is_offered_word_by_word(setup: Setup) -> None:
    for desk, whole, event in desks(setup, 8):
        # The dice name a building that was rolled.
        words = re.sub(r" [a-z]+(?= \d,)", "", whole) if isinstance(desk.pending, Chance) else whole
        assert words.startswith(desk.beginning)
        assert desk.beginning in desk.choices(desk.beginning[:1]) or isinstance(desk.pending, Decision)
        for blank in [found.start() for found in re.finditer(" ", words)][desk.beginning.count(" ") - 1 :]:
            end = words.find(" ", blank + 1)
            grown = words if end < 0 else words[:end]
            assert grown in desk.choices(words[: blank + 1]), (words, words[: blank + 1])
            assert grown in desk.choices(words[: blank + 2])
        assert desk.read(words).event == event
        assert desk.read(words).line == whole


@pytest.mark.parametrize("setup", [*PLAIN, TWO], ids=name_of)
def test_help_has_an_example_of_everything_that_is_awaited_and_it_can_be_entered(setup: Setup) -> None:
    for desk, _, _ in desks(setup, 9):
        examples = [words.strip() for words in desk.help() if words.startswith("    ")]
        assert len(examples) == (
            1 if isinstance(desk.pending, Chance) else len({type(move) for move in desk.state.legal_moves()})
        )
        for example in [*examples, desk.example()]:
            assert desk.read(example).event is not None, example
        assert desk.awaited(("Redwing", "Bluebell"))


@pytest.mark.parametrize("rules_id", registry.names())
def test_every_option_draw_and_move_is_explained(rules_id: str) -> None:
    game = registry.get(rules_id)
    options = type(game.new(game.min_seats).options)
    assert list(guide(rules_id).OPTIONS) == [field.name for field in fields(options)]
    assert bool(guide(rules_id).COMPONENTS) == game.declares_components
    position = registry.part("referee.games", rules_id, "position")
    assert set(guide(rules_id).DRAWS) == set(position.CHANCE_KINDS.values())
    moves = registry.part("referee.games", rules_id, "moves").Move.__args__
    names = {re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind.__name__).lower() for kind in moves}
    assert set(guide(rules_id).MOVES) == names


def at(words: str) -> Desk:
    """Before this line of a game of Kingdomino."""
    return next(desk for desk, found, _ in desks(KINGS, 4) if found.startswith(words))


def test_what_is_wrong_is_told_with_its_column_or_its_rule() -> None:
    desk = at("0: castle")
    assert desk.read("0: castle 9,9").error.startswith("KDO-17 (")
    assert "cell of its choice" in desk.read("0: castle 9,9").error
    wrong = desk.read("0: castel 1,1")
    assert (wrong.column, wrong.unfinished) == (4, False)
    assert wrong.error.startswith("found 'castel'; expected castle, ")
    begun = desk.read("0: castle")
    assert (begun.unfinished, begun.error) == (True, "expected a cell, such as 1,-2")
    assert desk.read("castle 1,1").error == "the line must begin with 0:"
    assert desk.read("1: castle 1,1").error == "player 1 is on turn, not player 2; expected 0: and a move"
    assert desk.read("0: 0: castel 1,1").column == 7
    several = next(d for d, words, _ in desks(KINGS, 4) if ": place" in words and len(list(d.state.legal_moves())) > 1)
    number = several.state.kings[0][0]
    assert f"place {number} can be " in several.read(f"{several.beginning}place {number}").error


def test_whose_draw_it_is_is_told_by_name() -> None:
    names = ("Redwing", "Bluebell")
    hands = [desk for desk, words, _ in desks(PLAIN[0], 4) if words.startswith("hand 1:")]
    assert hands[0].awaited(names).startswith("The draw: the money cards that Bluebell is dealt")
    rolls = {desk.awaited(names).partition(",")[0] for desk, words, _ in desks(TWO, 4) if "buildings" in words}
    assert rolls == {
        "The draw: the pairs of dice that Redwing rolled for the first buildings",
        "The draw: the pairs of dice that Bluebell rolled for the first buildings",
    }
    virtual = next(desk for desk, words, _ in desks(PLAIN[2], 4) if words.startswith("virtual 1:"))
    assert "virtual player 2" in virtual.awaited(())


def test_tab_goes_as_far_as_there_is_one_way() -> None:
    desk = at("0: castle")
    assert desk.completed("0: c") == "0: castle "
    assert desk.completed("c") == "0: castle "
    assert desk.completed("0: castle 3") == "0: castle 3,"
    assert desk.completed("0: castle 3,") == "0: castle 3,"
    assert desk.completed("0: x") == "0: x"
    line_due = at("line:")
    assert line_due.completed("l") == "line: "
    assert line_due.completed("line: 48") == "line: 48 "
    assert "line: 48 48" not in line_due.choices("line: 48 4")
    assert "line: 48 47" in line_due.choices("line: 48 4")


@pytest.mark.parametrize("rules_id", registry.names())
def test_the_lines_of_the_page_for_scribes_are_in_the_notation(rules_id: str) -> None:
    page = (Path(__file__).parents[3] / "docs" / "desk.md").read_text(encoding="utf-8")
    lines = re.findall(rf"^\| {rules_id} \| `([^`]+)` \|", page, re.MULTILINE)
    assert len(lines) >= 2
    for words in lines:
        grammar_of(rules_id).parse(words, "act")


def test_a_move_that_ends_the_game_is_known_as_the_last() -> None:
    for setup in PLAIN[1:]:
        *before, (last, _, event) = desks(setup, 4)
        assert last.is_last(event)
        assert not any(desk.is_last(earlier) for desk, _, earlier in before)


def test_a_beginning_that_is_typed_again_is_taken_as_meant() -> None:
    desk = at("0: castle")
    assert desk.whole("0: 0: castle 1,1") == "0: castle 1,1"
    assert desk.whole("0: 1: resign") == "1: resign"
    assert desk.whole("0: arbiter: void") == "arbiter: void"
    assert desk.whole("0: castle 1,1") == "0: castle 1,1"
    assert at("first").whole("first order: first order: 0 1 1 0") == "first order: 0 1 1 0"


@pytest.mark.parametrize("setup", [*PLAIN, FOUR, TWO], ids=name_of)
def test_a_line_that_is_not_awaited_gets_one_answer_with_and_without_what_the_desk_began(setup: Setup) -> None:
    """Every kind of line of a game, typed where each other kind is awaited."""
    kinds = {desk.beginning: (desk, whole) for desk, whole, _ in desks(setup, 8)}
    assert len(kinds) > 3
    for desk, own in kinds.values():
        for begun, (_, other) in kinds.items():
            if begun == desk.beginning:
                continue
            for words in (other, f"{other} x", begun.rstrip()):
                typed = desk.read(f"{desk.beginning}{words}")
                assert typed == desk.read(words)
                assert (typed.event, typed.column) == (None, 0)
                assert "; expected " + desk.beginning.rstrip() in typed.error
        assert desk.read(f"{desk.beginning}{own}") == desk.read(own)


def test_a_game_that_was_ended_offers_no_moves() -> None:
    desk = Desk("kingdomino", KINGS.start(), goes_on=False)
    assert (desk.beginning, desk.choices(""), desk.help()) == ("", [], ["No move and no draw is awaited now."])
