"""Score sheets: they add up to what the engine says, name rules that there are, and say why ties are broken so."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from referee.games.alhambra.scoring import score_round
from referee.games.game import Ending, Over
from referee.games.kingdomino.dominoes import TERRAINS
from referee.games.rollwrite.options import Solo
from referee.text.notation import position_text
from referee.text.notation.headers import Setup
from referee.text.notation.position_text import Position
from referee.text.notation.registry import Scorings
from referee.text.report.sheet import Sheet, SheetError, read, replay, rules_of, sheet
from tests.text.notation.page import BOARDS
from tests.text.notation.setups import PLAIN, SETUPS, name_of, play, text_of
from tests.text.report.sheet import POSITION

ALHAMBRA, KINGDOMINO, ROLLWRITE = ([each for each in SETUPS if each.rules_id == setup.rules_id] for setup in PLAIN)
SOME = [*ALHAMBRA, *KINGDOMINO[::13], *ROLLWRITE]


def finished(setup: Setup, seed: int) -> tuple[Any, list[Any]]:
    """Return a game at random: its last position, and those right after each scoring."""
    return replay(text_of(setup, play(setup, seed)))


def adds_up(found: Sheet, over: Over) -> None:
    seats = [player for player in found.players if player.name.startswith("player ")]
    assert [player.name for player in seats] == [f"player {seat + 1}" for seat in range(len(over.scores))]
    assert [player.total for player in seats] == list(over.scores)
    assert [player.place for player in seats] == list(over.places)
    for player in found.players:
        assert sum(item.points for item in player.items) == player.total
    totals = Counter(player.total for player in found.players)
    assert len(found.ties) == sum(count > 1 for count in totals.values())


@pytest.mark.parametrize("setup", SOME, ids=name_of)
def test_a_sheet_adds_up_and_names_rules_that_there_are(setup: Setup) -> None:
    for seed in range(3):
        state, scored = finished(setup, seed)
        (over,) = state.pending()
        for known in (scored, []):
            found = sheet(setup.rules_id, state, known)
            adds_up(found, over)
            assert set(found.rule_ids()) <= rules_of(setup.rules_id, setup.version).keys()
            assert not any("not over" in remark for remark in found.remarks)


@pytest.mark.parametrize("setup", ALHAMBRA, ids=name_of)
def test_the_rounds_of_alhambra_are_itemised_or_taken_over(setup: Setup) -> None:
    state, scored = finished(setup, seed=4)
    whole = sheet("alhambra", state, scored)
    alone = sheet("alhambra", state)
    for seat, (itemised, brief) in enumerate(zip(whole.players, alone.players, strict=True)):
        earlier = [item for item in itemised.items if item.group in ("round 1", "round 2")]
        taken = [item for item in brief.items if item.group == "taken over"]
        assert bool(taken) == (state.scorings > 1)
        assert sum(item.points for item in taken) == sum(item.points for item in earlier)
        assert {item.what: item.points for item in itemised.items if item.group == "round 3"}["wall"] == state.wall(
            seat
        )
    assert any("limit of turns" not in remark for remark in alone.remarks) == (state.scorings > 1)
    assert all(remark.endswith(": the game reached the limit of turns.") for remark in whole.remarks)
    assert len(whole.remarks) == (state.ending is Ending.STALLED)


def test_a_position_gets_its_last_scoring() -> None:
    position = position_text.read(POSITION)
    found = sheet("alhambra", position.state)
    assert [(player.total, player.place) for player in found.players] == [
        (31 + 17 + 20 + 2, 1),
        (30 + 17 + 1, 2),
        (9, 3),
    ]
    assert [(item.what, item.how, item.points, item.rules) for item in found.players[0].items] == [
        ("before", "earlier scoring rounds, as the text states the points", 31, ("ALH-E1",)),
        ("garden", "1 tile, 1st place", 20, ("ALH-E1",)),
        (
            "tower",
            "1 tile, 1st and 2nd places shared with player 2, (21 + 13) / 2 = 17 each",
            17,
            ("ALH-E1", "ALH-E2"),
        ),
        ("wall", "the longest wall, a point for each side", 2, ("ALH-B8",)),
    ]
    assert found.remarks[0].startswith("The game is not over: these are the points if it ended here")
    so_far = sheet("alhambra", position.state, final=False)
    assert [player.total for player in so_far.players] == [31, 30, 9]
    assert so_far.remarks[0] == "The game is not over: these are the points so far."


def test_the_boards_on_the_page_of_the_notation_are_scored() -> None:
    page = (Path(__file__).parents[3] / "docs" / "notation.md").read_text(encoding="utf-8")
    totals = {}
    for rules_id, text in BOARDS.items():
        assert f"```text\n{text}```\n" in page
        found = read(text).sheet()
        totals[rules_id] = [(player.total, player.place) for player in found.players]
    assert totals == {
        "kingdomino": [(2 * 5, 1), (2 + 1, 2)],
        "rollwrite": [(8 + 17 + 1, 2), (16 + 21, 1)],
        "alhambra": [(31 + 17 + 20 + 2, 1), (30 + 17 + 1, 2), (9, 3)],
    }


def test_a_kingdom_without_all_its_dominoes_has_no_harmony_and_the_sheet_says_why() -> None:
    found = read(BOARDS["kingdomino"]).sheet()
    harmony = [item for player in found.players for item in player.items if item.what == "harmony"]
    assert [(item.how, item.points) for item in harmony] == [("9 dominoes discarded", 0), ("10 dominoes discarded", 0)]
    assert found.remarks == (
        "Scored from the boards alone: the moves that led to them were not checked.",
        "Player 1: 3 of 12 dominoes lie in the kingdom; the others count as discarded (KDO-15).",
        "Player 2: 2 of 12 dominoes lie in the kingdom; the others count as discarded (KDO-15).",
    )


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("scorings 2", "scorings 0", "player 1: 31 points with 0 scoring rounds held; expected 0"),
        ("action seat", "over seat", "player 2: 9 points with 2 scoring rounds held; expected at least 18"),
    ],
)
def test_points_that_cannot_be(before: str, after: str, message: str) -> None:
    text = POSITION.replace(before, after).replace("score 30", "score 9" if after.startswith("over") else "score 30")
    text = text.replace("score 31", "score 60") if after.startswith("over") else text
    with pytest.raises(SheetError) as raised:
        sheet("alhambra", position_text.read(text).state)
    assert str(raised.value) == message


def test_the_last_scoring_of_a_position_in_play_is_that_of_the_engine() -> None:
    seen = []
    play(ALHAMBRA[1], 2, lambda state: seen.append(state.copy()))
    state = seen[len(seen) // 2]
    counts, walls = ([value(seat) for seat in range(3)] for value in (state.counts, state.wall))
    points, _ = score_round(3, counts, walls)
    found = sheet("alhambra", state)
    assert [player.total for player in found.players] == [a + b for a, b in zip(state.scores, points, strict=True)]


def test_every_area_of_a_kingdom_has_a_line() -> None:
    setup = PLAIN[1]
    state, _ = finished(setup, seed=1)
    found = sheet("kingdomino", state)
    for seat, player in enumerate(found.players):
        areas = state.kingdoms[seat].areas()
        assert len(areas) == len([item for item in player.items if item.group == "areas"])
        for area, item in zip(areas, player.items, strict=False):
            assert item.what == TERRAINS[area.terrain]
            assert item.how.split()[0] == str(area.squares)
            assert item.how.split()[3] == str(area.crowns)
            assert item.points == area.squares * area.crowns


def test_ties_of_kingdomino_are_explained_by_what_broke_them() -> None:
    setup = next(each for each in KINGDOMINO if each.seats == 4)
    kinds: Counter[tuple[str, ...]] = Counter()
    for seed in range(400):
        state: Any = play(setup, seed).state
        for tie in sheet("kingdomino", state).ties:
            seats = [seat for seat in range(4) if state.scores.count(state.scores[seat]) > 1]
            if len({state.scores[seat] for seat in seats}) > 1:
                continue
            standings = [state.standing(seat) for seat in seats]
            areas = [standing.largest_area for standing in standings]
            by_area = len(set(areas)) == len(areas)
            shared = len(set(standings)) < len(standings)
            expected = ("KDO-21",) if by_area else ("KDO-21", "KDO-22", "KDO-23") if shared else ("KDO-21", "KDO-22")
            assert tie.rules == expected
            assert f"{state.scores[seats[0]]} points each" in tie.words
            assert all(f"player {seat + 1}: {state.standing(seat).largest_area}" in tie.words for seat in seats)
            kinds[expected] += 1
    assert len(kinds) == 3, kinds


def test_the_lines_of_roll_and_write() -> None:
    setup = next(each for each in ROLLWRITE if each.options.solo is Solo.AGAINST)
    state, _ = finished(setup, seed=2)
    found = sheet("rollwrite", state)
    assert [player.name for player in found.players] == ["player 1", "virtual 1", "virtual 2"]
    assert [player.total for player in found.players[1:]] == state.virtual_scores
    assert [item.group for item in found.players[1].items][-1] == "bonus"
    coins = next(item for item in found.players[0].items if item.what == "coins")
    assert (coins.how, coins.points) == (f"{state.coins[0]} not spent", state.coins[0] // 2)
    assert found.remarks == ("Sheet rw-default-1 is this referee's own layout, not the printed one.",)


def test_a_scoring_that_was_taken_back_is_forgotten() -> None:
    before = PLAIN[0].start()
    _, scored = finished(PLAIN[0], seed=4)
    watch = Scorings("alhambra")
    for state, held in ((scored[0], 1), (scored[1], 2), (scored[0], 1), (scored[1], 2), (before, 0), (scored[0], 1)):
        watch.see(state)
        watch.see(state)
        assert [each.digest() for each in watch.states] == [each.digest() for each in scored[:held]]


def test_a_position_is_scored_as_the_game_that_led_to_it() -> None:
    for setup in PLAIN:
        state, scored = finished(setup, seed=8)
        again = position_text.read(position_text.write(Position(setup, state))).state
        totals = [
            [player.total for player in sheet(setup.rules_id, *each).players] for each in ((state, scored), (again,))
        ]
        assert totals[0] == totals[1]
