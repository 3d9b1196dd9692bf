"""Boards alone as text: they score as the game did that led to them, and whatever does not fit is refused."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.games.kingdomino.dominoes import UNKNOWN
from referee.games.kingdomino.options import kings_of
from referee.games.rollwrite import TYPES
from referee.text.notation import game_text, position_text
from referee.text.notation.headers import Setup
from referee.text.notation.position_text import Boards, read_boards, write_boards
from referee.text.notation.violations import Kind, NotationError
from referee.text.report import sheet as sheets
from referee.text.report.adjudication import adjudicate
from referee.text.report.sheet import sheet
from tests.sizes import Part, in_parts, sample_of
from tests.text.notation.page import BOARDS
from tests.text.notation.setups import PLAIN, SETUPS, name_of, play

ALHAMBRA, KINGDOMINO, ROLLWRITE = PLAIN
SEEDS = 3


def same_score(setup: Setup, text: str, state: Any) -> None:
    """The boards give the points, the places and the reasons that the whole game has."""
    told = sheets.read(text)
    (over,) = state.pending()
    assert told.result is not None
    assert (told.result.scores, told.result.places) == (tuple(over.scores), tuple(over.places))
    found, whole = told.sheet(), sheet(setup.rules_id, state)
    assert [player.total for player in found.players] == [player.total for player in whole.players]
    assert [player.place for player in found.players] == [player.place for player in whole.players]
    for player in found.players:
        assert sum(item.points for item in player.items) == player.total
    assert found.ties == whole.ties
    assert "Scored from the boards alone: the moves that led to them were not checked." in found.remarks


@in_parts(SEEDS)
@pytest.mark.parametrize("setup", sample_of(SETUPS, 40), ids=name_of)
def test_the_boards_of_a_game_score_as_the_game(setup: Setup, part: Part) -> None:
    for seed in part.of(range(SEEDS)):
        state: Any = play(setup, seed).state
        text = write_boards(Boards(setup, state))
        same_score(setup, text, state)
        found = read_boards(text)
        assert found.setup == setup
        assert write_boards(found) == text
        assert list(found.state.legal_moves()) == []
        assert max(map(len, text.splitlines())) < 4000


@in_parts(SEEDS)
@pytest.mark.parametrize(
    "setup", sample_of([each for each in SETUPS if each.rules_id == "kingdomino"], 30), ids=name_of
)
def test_discarded_dominoes_may_be_left_out_and_kingdoms_come_in_any_order(setup: Setup, part: Part) -> None:
    for seed in part.of(range(SEEDS)):
        state: Any = play(setup, seed).state
        *head, line = write_boards(Boards(setup, state)).splitlines()
        brief = re.sub(r" discarded( \d+)*", "", line)
        parts = brief.removeprefix('[Boards "').removesuffix('"]').split(" | ")
        turned = [
            " placed ".join((castle, *reversed(placed)))
            for castle, *placed in (part.split(" placed ") for part in parts)
        ]
        for boards in (brief, f'[Boards "{" | ".join(turned)}"]'):
            text = "\n".join((*head, boards))
            same_score(setup, text, state)
            found = read_boards(text)
            assert found.state.kingdoms == state.kingdoms
            assert [*map(len, found.state.discarded)] == [*map(len, state.discarded)]
            assert len(found.remarks) == sum(map(bool, state.discarded))
            assert read_boards(write_boards(found)).state.encode() == found.state.encode()


def test_the_number_of_discarded_dominoes_is_that_of_the_variant() -> None:
    for setup in SETUPS:
        if setup.rules_id == "kingdomino":
            empty = " | ".join(["castle 0,0" if setup.options.frame == "fixed" else "castle nowhere"] * setup.seats)
            head = write_boards(Boards(setup, setup.start())).rpartition("[Boards")[0]
            found = read_boards(f'{head}[Boards "{empty}"]').state
            each = 24 if setup.options.mighty_duel else 12
            assert found.discarded == [[UNKNOWN] * each] * setup.seats
            assert each == found.lines_in_all * kings_of(setup.seats)


def test_points_before_may_be_left_out_and_the_sheet_says_so() -> None:
    setup = ALHAMBRA
    state: Any = play(setup, 3).state
    text = re.sub(r"before \d+ ", "", write_boards(Boards(setup, state)))
    told = sheets.read(text)
    found = told.sheet()
    assert found.remarks[1:] == ("The points of earlier rounds are not stated: these are the last round's alone.",)
    whole = sheet("alhambra", state)
    assert [
        player.total + sum(item.points for item in all_.items if item.group == "taken over")
        for player, all_ in zip(found.players, whole.players, strict=True)
    ] == [player.total for player in whole.players]
    assert write_boards(read_boards(text)) == text


def test_an_award_of_the_only_player_who_completed_the_type_may_be_left_out() -> None:
    alone = 0
    for setup in SETUPS:
        if setup.rules_id != "rollwrite":
            continue
        for seed in range(SEEDS):
            state: Any = play(setup, seed).state
            text = write_boards(Boards(setup, state))
            same_score(setup, re.sub(r" round \d+", "", text), state)
            for award in state.awards:
                members = len(award.seats) + len(award.virtual)
                if members > 1 or sum(other.type == award.type for other in state.awards) > 1:
                    continue
                alone += 1
                shorter = re.sub(rf' \| award {TYPES[award.type]} [^|"]*[0-9]', "", text)
                assert shorter != text
                same_score(setup, shorter, state)
    assert alone > 5


def test_forfeits_and_penalties_count_for_boards_too() -> None:
    state: Any = play(KINGDOMINO, 1).state
    text = write_boards(Boards(KINGDOMINO, state))
    told = sheets.read(text.replace("[Boards", '[Penalties "100 0"]\n[Boards'))
    assert told.result is not None
    assert told.result.scores == (state.scores[0] - 100, state.scores[1])
    assert told.result.places == (2, 1)
    assert told.sheet().remarks[0].startswith("Player 2 wins")
    with pytest.raises(NotationError, match="Result"):
        read_boards(text.replace("[Boards", '[Result "999 1"]\n[Boards'))


@pytest.mark.parametrize("text", BOARDS.values(), ids=BOARDS)
def test_no_reader_of_games_or_positions_takes_boards(text: str) -> None:
    assert write_boards(read_boards(text)) == text
    for reader in (game_text.read, position_text.read, adjudicate):
        with pytest.raises(NotationError) as caught:
            reader(text)
        assert caught.value.kind is Kind.SYNTAX
        assert "without a game or a position: only `referee score` and `referee show`" in str(caught.value)


TILES, KINGS, DICE = (f'[Game "{setup.rules_id}"]\n[Seats "{setup.seats}"]\n' for setup in PLAIN)
LOOSE = f'{KINGS}[frame "relative"]\n'
THREE = '[Game "alhambra"]\n[Seats "3"]\n'
DUEL = '[Game "rollwrite"]\n[Seats "3"]\n'
ALL_TOWERS, BOXES = "1,6 2,5 3,4 4,3 4,5 5,2 6,1", 7


def boards(head: str, *parts: str) -> str:
    return f'{head}[Boards "{" | ".join(parts)}"]'


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        (
            boards(LOOSE, "castle nowhere"),
            Kind.ILLEGAL,
            "line 4, column 10: illegal: 1 kingdoms; expected 2, one for each",
        ),
        (
            boards(KINGS, "castle nowhere", "castle 0,0"),
            Kind.ILLEGAL,
            "seat 0: castle nowhere; expected the castle's column and row in",
        ),
        (boards(KINGS, "castle 5,0", "castle 0,0"), Kind.ILLEGAL, "castle 5,0; expected a cell of a fixed frame"),
        (boards(LOOSE, "castle 2,2", "castle nowhere"), Kind.ILLEGAL, "castle 2,2; expected a cell of a fixed frame"),
        (
            boards(LOOSE, "castle nowhere placed 48 1,0 1,1", "castle nowhere placed 48 1,0 1,1"),
            Kind.ILLEGAL,
            "line 4, column 67: illegal: domino 48 twice; expected each domino once, in one kingdom or among the dis",
        ),
        (
            boards(LOOSE, "castle nowhere placed 48 1,0 1,1 discarded 48", "castle nowhere"),
            Kind.ILLEGAL,
            "domino 48 twice",
        ),
        (boards(LOOSE, "castle nowhere discarded 49", "castle nowhere"), Kind.ILLEGAL, "domino 49; expected 1 to 48"),
        (
            boards(
                LOOSE,
                f"castle nowhere placed 48 1,0 1,1 discarded {' '.join(map(str, range(1, 13)))}",
                "castle nowhere",
            ),
            Kind.ILLEGAL,
            "seat 0: 13 dominoes; expected at most 12, as many as a seat gets",
        ),
        (
            boards(LOOSE, "castle nowhere placed 3 2,0 2,1 placed 48 3,0 3,1", "castle nowhere"),
            Kind.ILLEGAL,
            "seat 0: 3 forest/forest 2,0: KDO-14",
        ),
        (
            boards(LOOSE, "castle nowhere placed 48 1,0 1,1 placed 47 1,1 1,2", "castle nowhere"),
            Kind.ILLEGAL,
            "line 4, column 43: illegal: seat 0: 47 swamp/mine:2 1,1: KDO-18 at 1,1",
        ),
        (
            boards(LOOSE, "castle nowhere placed 48 1,0 1,1 against KDO-14", "castle nowhere"),
            Kind.ILLEGAL,
            "against KDO-14; expected nothing, as no rule is broken",
        ),
        (boards(LOOSE, "castle nowhere placed 48", "castle nowhere"), Kind.SYNTAX, "expected a cell"),
        (boards(LOOSE, "placed 48 1,0 1,1"), Kind.SYNTAX, "found 'placed'; expected castle"),
        (boards(KINGS, "castle 0,0", "castle 0,0") + "\n0: castle 1,1", Kind.SYNTAX, "an event after boards"),
        (
            boards(KINGS, "castle 0,0", "castle 0,0") + '\n[Position ""]',
            Kind.SYNTAX,
            "no position beside the header Boards",
        ),
        (KINGS, Kind.SYNTAX, "header Boards is missing"),
        (boards(THREE, "laid", "laid"), Kind.ILLEGAL, "2 Alhambras; expected 3, one for each seat"),
        (
            boards(THREE, "before 1 laid", "laid", "before 2 laid"),
            Kind.ILLEGAL,
            "no points before for seat 1; expected",
        ),
        (boards(THREE, "laid", "laid", "laid", "neutral"), Kind.ILLEGAL, "a neutral player with 3 seats; expected"),
        (boards(TILES, "laid", "laid"), Kind.ILLEGAL, "no part for the neutral player; expected its tiles with two"),
        (boards(TILES, "laid tower-12 1,0", "laid", "neutral tower-12"), Kind.ILLEGAL, "tile tower-12 twice"),
        (boards(TILES, "laid tower-12 5,0", "laid", "neutral"), Kind.ILLEGAL, "seat 0: laid: ALH-A"),
        (boards(TILES, "laid tower-12 0,0", "laid", "neutral"), Kind.ILLEGAL, "a tile on 0,0"),
        (boards(TILES, "before 99999 laid", "before 0 laid", "neutral"), Kind.ILLEGAL, "found 99999; expected at most"),
        (boards(TILES, "laid tower-99 1,0", "laid", "neutral"), Kind.SYNTAX, "there is no tile tower-99"),
        (boards(DUEL, "coins 1 built", "coins 1 built"), Kind.ILLEGAL, "the boards of 2 seats; expected 3"),
        (boards(DICE, "coins 1 built"), Kind.ILLEGAL, "the boards of 0 virtual players; expected 2"),
        (
            boards(DUEL, "coins 1 built 1,1 1,1", "coins 0 built", "coins 0 built"),
            Kind.ILLEGAL,
            "building 1,1 twice; expected each building once",
        ),
        (boards(DUEL, "coins 99 built", "coins 0 built", "coins 0 built"), Kind.ILLEGAL, "found 99; expected at most"),
        (
            boards(DUEL, "coins 0 built", "coins 0 built", "coins 0 built", "award tower seats 1"),
            Kind.ILLEGAL,
            f"award for tower to seat 1, who has 0 of {BOXES}; expected an award only to a player who has completed it",
        ),
        (
            boards(DUEL, f"coins 0 built {ALL_TOWERS}", f"coins 0 built {ALL_TOWERS}", "coins 0 built"),
            Kind.ILLEGAL,
            "seat 0 and seat 1 have completed tower; expected award tower for each, in the order of completion",
        ),
        (
            boards(
                DUEL,
                f"coins 0 built {ALL_TOWERS}",
                f"coins 0 built {ALL_TOWERS}",
                "coins 0 built",
                "award tower seats 1",
            ),
            Kind.ILLEGAL,
            "seat 0 has completed tower; expected award tower for each",
        ),
        (
            boards(
                DUEL,
                f"coins 0 built {ALL_TOWERS}",
                f"coins 0 built {ALL_TOWERS}",
                "coins 0 built",
                "award tower round 4 seats 1",
                "award tower round 4 seats 0",
            ),
            Kind.ILLEGAL,
            "award for tower in round 4; expected from 1 on, later for every further award of the type",
        ),
        (
            boards(DUEL, f"coins 0 built {ALL_TOWERS}", "coins 0 built", "coins 0 built", "award tower seats 0 0"),
            Kind.ILLEGAL,
            "award for tower; expected players without one for it yet, ascending",
        ),
    ],
)
def test_what_is_no_board_is_told(text: str, kind: Kind, message: str) -> None:
    with pytest.raises(NotationError) as caught:
        read_boards(text)
    assert (caught.value.kind, message in str(caught.value)) == (kind, True), str(caught.value)


def test_a_domino_that_an_arbiter_let_lie_is_marked_as_in_a_position() -> None:
    text = boards(LOOSE, "castle nowhere placed 3 2,0 2,1 against KDO-14 placed 4 2,2 2,3", "castle nowhere")
    found = read_boards(text)
    assert [number for number, _, _ in found.state.kingdoms[0].dominoes] == [3, 4]
    assert write_boards(found).endswith(text.removeprefix(LOOSE) + "\n")


@given(st.data())
def test_altered_boards_are_refused_or_scored(data: st.DataObject) -> None:
    """Words that are left out, doubled or changed for others of the line: nothing but the one error is raised."""
    text = data.draw(st.sampled_from([*BOARDS.values()]))
    head, _, line = text.rpartition('[Boards "')
    words = line.removesuffix('"]\n').split(" ")
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(words) - 1))
        words[at : at + data.draw(st.integers(0, 2))] = data.draw(st.lists(st.sampled_from(words), max_size=2))
    altered = f'{head}[Boards "{" ".join(words)}"]'
    try:
        found = read_boards(altered)
    except NotationError:
        return
    again = write_boards(found)
    assert write_boards(read_boards(again)) == again
    assert read_boards(again).state.encode() == found.state.encode()
    assert sheets.read(altered).sheet().players == sheets.read(again).sheet().players
