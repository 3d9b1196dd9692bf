"""docs/notation.md: its games and positions are read, its grammar is the one that is used."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from lark import Lark

from referee.games import registry
from referee.games.game import Ending
from referee.games.results import Result
from referee.text.notation import game_text, position_text

PAGE = (Path(__file__).parents[3] / "docs" / "notation.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```\n(\[Game .*?)```$", PAGE, re.MULTILINE | re.DOTALL)
CONTESTED = [example for example in EXAMPLES if "[Forfeits" in example]
GRAMMARS = dict(re.findall(r"^### (\w+)\n\n```lark\n(.*?)```$", PAGE, re.MULTILINE | re.DOTALL))


@pytest.mark.parametrize("rules_id", registry.names())
def test_a_game_and_a_position_of_each_are_read_and_printed_as_they_stand(rules_id: str) -> None:
    ours = [each for each in EXAMPLES if each.startswith(f'[Game "{rules_id}"]') and each not in CONTESTED]
    games = [game_text.read(example) for example in ours if "[Position" not in example]
    positions = [position_text.read(example) for example in ours if "[Position" in example]
    assert [len(games), len(positions)] == [1, 1]
    assert [game_text.write(games[0].game), position_text.write(positions[0])] == sorted(ours, key=_is_position)
    assert games[0].state.digest() == positions[0].state.digest()


def test_a_contested_game_is_read_and_printed_as_it_stands() -> None:
    (example,) = CONTESTED
    reading = game_text.read(example)
    assert game_text.write(reading.game) == example
    assert reading.result == Result(Ending.RESIGNED, (), (2, 1))
    assert reading.accepted == (example.count("\n"),)


def _is_position(text: str) -> bool:
    return "[Position" in text


@pytest.mark.parametrize("rules_id", registry.names())
def test_the_grammar_of_the_page_reads_its_examples(rules_id: str) -> None:
    """By Lark alone, without anything of ours."""
    lark = Lark(
        GRAMMARS["Common"] + GRAMMARS[rules_id.capitalize()], start=["text", "position", "boards"], parser="lalr"
    )
    ours = [example for example in EXAMPLES if example.startswith(f'[Game "{rules_id}"]')]
    assert len(ours) == 2 + any(example in CONTESTED for example in ours)
    for example in ours:
        lark.parse(example, "text")
        for line in re.findall(r'\[Position "(.*)"\]', example):
            lark.parse(line, "position")
