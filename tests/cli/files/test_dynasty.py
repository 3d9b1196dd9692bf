"""``referee dynasty`` on real logs: three games that belong together, and every way in which they may not."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from referee.games.kingdomino import Options
from referee.games.kingdomino.options import Draw
from referee.games.kingdomino.scoring import next_options
from referee.log.note import VerifierKey
from referee.log.v1 import log_pb2
from tests.cli.inside import referee
from tests.log.games import SIGNER, Played, abort, build_file, join_and_reveal, key, play, seed
from tests.log.registered import at_random, codec, opened

SERIES = seed("series")[:16]
OTHER = seed("other series")[:16]


def a_game(
    index: int, before: Played | None, *, id_: bytes = SERIES, seats: int = 2, options: Options | None = None
) -> Played:
    """Return game ``index`` of a series, which no player has joined; options follow from the game before by default."""
    if options is None:
        state: Any = None if before is None else before.record.game.position.state
        options = Options(dynasty=True) if state is None else next_options(state)
    series = log_pb2.Series(id=id_, index=index, previous_head=b"" if before is None else before.record.head)
    return opened("kingdomino", seats=seats, options=codec("kingdomino").encode_options(options), series=series)


@cache
def dynasty(seats: int = 2) -> list[Played]:
    games: list[Played] = []
    for index in range(3):
        before = games[-1] if games else None
        games.append(play(a_game(index, before, seats=seats), at_random(index)))
    return games


def written(folder: Path, games: list[Played]) -> list[Path]:
    paths = [folder / f"{number}.gamelog" for number in range(1, 4)]
    for path, played in zip(paths, games, strict=True):
        path.write_bytes(played.file())
    return paths


def told(paths: list[Path], *words: str) -> tuple[int, list[str]]:
    """Exit code and lines, with the referee's key."""
    done = referee("dynasty", *paths, "--key", str(SIGNER.verifier), *words)
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()


def points_of(games: list[Played]) -> list[list[int]]:
    ends = [played.record.game.end for played in games]
    return [list(end.scores) for end in ends if end is not None]


def test_three_games_are_added_up(tmp_path: Path) -> None:
    games = dynasty()
    code, lines = told(written(tmp_path, games))
    scores = points_of(games)
    first, second = (sum(points) for points in zip(*scores, strict=True))
    ids = [played.record.game_id.hex() for played in games]
    assert code == 0
    assert lines == [
        "COMPLETE",
        *(f"game {number}, {ids[number - 1]}: points {a} {b}" for number, (a, b) in enumerate(scores, start=1)),
        f"player 1: {first} points, place {1 + (second > first)}",
        f"player 2: {second} points, place {1 + (first > second)}",
    ]


def test_three_games_as_json(tmp_path: Path) -> None:
    games = dynasty(4)
    code, lines = told(written(tmp_path, games), "--json")
    found = json.loads("\n".join(lines))
    sums = [sum(points) for points in zip(*points_of(games), strict=True)]
    assert (code, found["exit_code"], found["verdict"], found["faults"]) == (0, 0, "COMPLETE", [])
    assert [game["scores"] for game in found["games"]] == points_of(games)
    assert found["points"] == sums
    assert found["places"] == [1 + sum(other > own for other in sums) for own in sums]


def test_games_without_a_result_have_no_sum(tmp_path: Path) -> None:
    aborted: list[Played] = []
    for index in range(3):
        played = a_game(index, aborted[-1] if aborted else None, options=Options(dynasty=True))
        join_and_reveal(played)
        aborted.append(abort(played))
    code, lines = told(written(tmp_path, aborted))
    assert code == 8
    assert sum("ended without a result" in line for line in lines) == 3
    assert not any(line.startswith("seat ") for line in lines)


def test_another_referees_key(tmp_path: Path) -> None:
    other = VerifierKey.of("other.example", key("other").public)
    done = referee("dynasty", *written(tmp_path, dynasty()), "--key", str(other))
    assert (done.returncode, done.stdout.splitlines()[0]) == (5, "UNTRUSTED_KEY")
    assert "player 2: " in done.stdout, "the points are told"


def wrong_order() -> list[Played]:
    return [dynasty()[0], dynasty()[2], dynasty()[1]]


def another_series() -> list[Played]:
    one, two, _ = dynasty()
    return [one, two, play(a_game(2, two, id_=OTHER), at_random(2))]


def another_game_before() -> list[Played]:
    one, _, three = dynasty()
    return [one, play(a_game(1, one), at_random(17)), three]


def no_series() -> list[Played]:
    one, two, _ = dynasty()
    data = codec("kingdomino").encode_options(Options(dynasty=True))
    return [one, two, play(opened("kingdomino", options=data), at_random(5))]


def no_dynasty() -> list[Played]:
    one = play(a_game(0, None, options=Options()), at_random(1))
    state: Any = one.record.game.position.state
    order = tuple((seat + 1) % 2 for seat in state.order)
    two = play(a_game(1, one, options=Options(dynasty=True, declared_order=order)), at_random(2))
    return [one, two, play(a_game(2, two), at_random(3))]


def other_options() -> list[Played]:
    one, two, _ = dynasty()
    state: Any = two.record.game.position.state
    return [one, two, play(a_game(2, two, options=replace(next_options(state), harmony=True)), at_random(2))]


def other_seats() -> list[Played]:
    one, two, _ = dynasty()
    options = Options(dynasty=True, declared_order=(0, 1, 2))
    return [one, two, play(a_game(2, two, seats=3, options=options), at_random(2))]


def the_same_order() -> list[Played]:
    one, two, _ = dynasty()
    return [one, two, play(a_game(2, two, options=two.record.game.position.options), at_random(2))]


def drawn_kings() -> list[Played]:
    """Drawn again, and not as it has to be."""
    *_, three = dynasty()
    options = Options(dynasty=True, first_order=Draw.KINGS)
    for label in range(20):
        one = play(a_game(0, None), at_random(label))
        two = play(a_game(1, one, options=options), at_random(label))
        state: Any = two.record.game.position.state
        expected: Any = one.record.game.position.state
        if state.order != next_options(expected).declared_order:
            return [one, two, three]
    raise AssertionError("it is always drawn as it has to be")


def of_another_game() -> list[Played]:
    one, two, _ = dynasty()
    return [one, two, play(opened("rollwrite"), at_random(1))]


CASES = {
    wrong_order: ["2.gamelog: game 3 of its series; expected game 2", "3.gamelog: game 2 of its series"],
    another_series: [f"3.gamelog: of series {OTHER.hex()}; expected {SERIES.hex()}"],
    another_game_before: ["3.gamelog: follows a game that ends in "],
    no_series: ["3.gamelog: the game is not part of a series"],
    no_dynasty: ["1.gamelog: the option dynasty is not set (KDO-26)"],
    other_options: ["3.gamelog: the options are not those of the game before"],
    other_seats: ["3.gamelog: 3 seats; expected 2, as in the game before"],
    the_same_order: ["3.gamelog: the kings chose first in the order "],
    drawn_kings: ["2.gamelog: the kings chose first in the order "],
    of_another_game: ["3.gamelog: a game of rollwrite; expected one of kingdomino"],
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_games_that_do_not_belong_together(case: Any, tmp_path: Path) -> None:
    code, lines = told(written(tmp_path, case()))
    assert (code, lines[0]) == (8, "RULES")
    faults = [line for line in lines[1:] if line.startswith("  ")]
    for expected in CASES[case]:
        assert any(expected in line for line in faults), faults
    assert not any(line.startswith("seat ") for line in lines)


def test_why_there_is_no_result_as_json(tmp_path: Path) -> None:
    code, lines = told(written(tmp_path, wrong_order()), "--json")
    found = json.loads("\n".join(lines))
    assert (code, found["verdict"], found["points"], found["places"]) == (8, "RULES", None, None)
    assert [Path(fault["file"]).name for fault in found["faults"]] == ["2.gamelog", "3.gamelog"]


def test_what_an_audit_finds_is_told(tmp_path: Path) -> None:
    games = dynasty()
    paths = written(tmp_path, games)
    cut = build_file(games[2].header, games[2].entries[:30], games[2].notes[29])
    damaged = bytearray(games[1].file())
    damaged[2000] ^= 1
    paths[2].write_bytes(cut)
    done = referee("dynasty", *paths, "--key", str(SIGNER.verifier))
    assert done.returncode == 3
    assert "3.gamelog: PREFIX, INCOMPLETE" in done.stdout
    paths[1].write_bytes(damaged)
    done = referee("dynasty", *paths, "--key", str(SIGNER.verifier))
    assert done.returncode == 4
    assert "2.gamelog: CORRUPT, " in done.stdout
    assert "player 1" not in done.stdout


def test_what_is_wrong_is_one_line(tmp_path: Path) -> None:
    paths, vkey = written(tmp_path, dynasty()), str(SIGNER.verifier)
    for words, code, message in (
        ([*paths[:2], "nowhere.gamelog", "--key", vkey], 1, "nowhere.gamelog: No such file or directory"),
        ([*paths[:2], "--key", vkey], 2, "parameter THIRD requires an argument"),
        (paths, 2, "parameter --key requires an argument"),
        ([*paths, "--key", "nonsense"], 2, "--key nonsense: "),
    ):
        done = referee("dynasty", *words)
        assert (done.returncode, done.stdout) == (code, "")
        assert message in done.stderr
        assert done.stderr.count("\n") == 1
