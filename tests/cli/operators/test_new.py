"""``referee new`` for every game: options from its own message, what the referee refuses by name, games of a series."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict, MessageToJson

from referee.alhambra.v1 import alhambra_pb2
from referee.cli.operators.new import game_before
from referee.cli.shared.components import components
from referee.cli.shared.failure import Failure
from referee.kingdomino.v1 import kingdomino_pb2
from referee.rollwrite.v1 import rollwrite_pb2
from referee.text.notation.violations import BadWord
from referee.wire.registry import codec as wire
from referee_clients import parse_join, play_async
from referee_clients.bots import load
from referee_clients.sdk.opening import Wishes, options, options_of_games
from referee_clients.sdk.organiser import organiser
from tests.cli.inside import referee
from tests.clients.referee_process import Referee


def test_the_help_names_every_option() -> None:
    text = options_of_games()
    for message in (alhambra_pb2.Options, kingdomino_pb2.Options, rollwrite_pb2.Options):
        for field in message.DESCRIPTOR.fields:
            assert f"{field.name} (" in text
    assert "harmony (true or false)" in text
    assert "central (no, kingdom or frame)" in text
    assert "start_seat (a number)" in text
    assert "declared_order (a list of numbers)" in text


def test_json_is_set_upon_what_is_there() -> None:
    before = kingdomino_pb2.Options(dynasty=True, declared_order=[1, 2, 0])
    text = '{"declared_order": [2, 0, 1], "frame": "relative", "harmony": true}'
    found = kingdomino_pb2.Options.FromString(options("kingdomino", before.SerializeToString(), text, None))
    assert found == kingdomino_pb2.Options(
        dynasty=True, declared_order=[2, 0, 1], frame=kingdomino_pb2.FRAME_RULE_RELATIVE, harmony=True
    )
    found_seat = rollwrite_pb2.Options.FromString(options("rollwrite", b"", '{"start_seat": 0}', None))
    assert found_seat == rollwrite_pb2.Options(start_seat=0)


@pytest.mark.parametrize(
    ("rules", "text", "said"),
    [
        ("kingdomino", '{"frame": "RELATIVE"}', '--options: frame is "RELATIVE"; expected fixed or relative'),
        ("kingdomino", '{"frame": "FRAME_RULE_RELATIVE"}', '--options: frame is "FRAME_RULE_RELATIVE"; expected fixed'),
        ("kingdomino", '{"frame": 1}', "--options: frame is 1; expected fixed or relative"),
        ("kingdomino", '{"harmony": 1}', "--options: harmony is 1; expected true or false"),
        ("kingdomino", '{"declared_order": "0"}', '--options: declared_order is "0"; expected a list of numbers'),
        ("kingdomino", '{"max_turns": 1}', "--options: no option 'max_turns'; expected some of frame, first_order, "),
        ("rollwrite", '{"start_seat": -1}', "--options: start_seat is -1; expected a number"),
        ("rollwrite", '{"start_seat": 4294967296}', "--options: start_seat is 4294967296; expected a number"),
        ("rollwrite", '{"start_seat": true}', "--options: start_seat is true; expected a number"),
        ("rollwrite", '{"start_seat": null}', "--options: start_seat is null; expected a number"),
        ("rollwrite", '{"solo": true}', "--options: solo is true; expected points or against"),
        (
            "alhambra",
            '{"slot_currencies": [1, 9]}',
            "--options: slot_currencies is [1, 9]; expected a list of denar, dirham, ducat, guilder",
        ),
        ("rollwrite", "[]", "--options: expected a JSON object"),
    ],
)
def test_an_option_that_is_none(rules: str, text: str, said: str) -> None:
    with pytest.raises(BadWord, match=f"^{re.escape(said)}"):
        options(rules, b"", text, None)


def test_ages_are_asked_for_in_alhambra_only() -> None:
    assert alhambra_pb2.Options.FromString(options("alhambra", b"", None, "2,0,1")).age_order == [2, 0, 1]
    for wrong in ("2, 0, 1", "2,,1", "one", ""):
        said = f"--age-order {wrong!r}: expected seats, from 0 (player 1) on, such as 2,0,1"
        with pytest.raises(BadWord, match=f"^{re.escape(said)}"):
            options("alhambra", b"", None, wrong)
    for rules in ("kingdomino", "rollwrite"):
        with pytest.raises(BadWord, match=f"--age-order: {rules} does not ask for the players' ages"):
            options(rules, b"", None, "0,1")


def test_rules_that_are_not_known_whatever_else_is_given() -> None:
    for seats in (None, 2):
        with pytest.raises(BadWord, match=r"^--rules chess: .*; expected one of alhambra, kingdomino, rollwrite"):
            Wishes(rules="chess", seats=seats).request()


def test_a_sheet_of_ones_own(tmp_path: Path) -> None:
    """The sheet is JSON of its message; one that breaks a constraint is refused by the constraint's name."""
    codec = wire("rollwrite", 1)
    own = rollwrite_pb2.Tables.FromString(codec.encode_components(None))
    own.sheet, own.coin_track = "mine-1", 12
    file = tmp_path / "sheet.json"
    file.write_text(MessageToJson(own))
    assert codec.decode_components(components("rollwrite", file)).coin_track == 12
    for change, said in (
        ({"coin_track": 6}, "sheet mine-1: coin_track: 6, expected 7 to 255 coins"),
        ({"grid": [1] * 36}, "sheet mine-1: boxes: 5 of pavilion, expected one for each of its 36 cells"),
        ({"colour": 1}, "expected sheet, grid, boxes, coin_track, rows_are as --show-components prints them ("),
    ):
        file.write_text(json.dumps(MessageToDict(own, preserving_proto_field_name=True) | change))
        with pytest.raises(Failure, match=f"^--components {re.escape(f'{file}: {said}')}"):
            components("rollwrite", file)
    with pytest.raises(Failure, match="alhambra is always played with its own"):
        components("alhambra", file)
    with pytest.raises(Failure, match="No such file"):
        components("kingdomino", tmp_path / "none")


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Referee]:
    server = Referee(tmp_path_factory.mktemp("referee"))
    server.start()
    yield server
    server.stop()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--rules", "kingdomino", "--seats", "5"), "--seats: expected 2 to 4, got 5"),
        (("--rules", "rollwrite", "--seats", "6"), "--seats: expected 1 to 5, got 6"),
        (("--illegal", "strikes:40"), "--illegal: expected at most 32"),
        (("--illegal", "penalty:3s"), "--illegal penalty: expected a clock that it is taken off"),
        (("--rules", "rollwrite", "--proofs", "all"), "--proofs: expected none, as nothing can be proved of rollwrite"),
        (
            ("--rules", "kingdomino", "--seats", "4", "--options", '{"wider_offer": true}'),
            "--options wider_offer: a variant for 2 or 3 seats, got 4 (KDO-30)",
        ),
        (
            ("--rules", "kingdomino", "--options", '{"wider_offer": true, "mighty_duel": true}'),
            "--options wider_offer: not together with mighty_duel: 48 dominoes do not make lines of 5 (KDO-31)",
        ),
    ],
)
def test_what_the_referee_refuses_is_named(running: Referee, words: tuple[str, ...], said: str) -> None:
    done = referee("new", "--server", running.address, "--data", running.folder, *words)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"referee: {said}\n"


async def play_new(running: Referee, folder: Path, *words: str | Path) -> Path:
    """Open a game with these words, play it to its end and fetch its file."""
    new = ("new", "--server", running.address, "--data", running.folder)
    done = await asyncio.to_thread(referee, *new, *words)
    assert (done.returncode, done.stderr.count("\n")) == (0, 1)
    joins = [parse_join(line) for line in re.findall(r"^seat \d: (.*)$", done.stdout, re.MULTILINE)]
    await asyncio.gather(*(play_async(join, load("random", seed=join.seat)) for join in joins))
    file = folder / f"{joins[0].game_id}.gamelog"
    async with organiser(running.address, running.token) as organising:
        await organising.save_log(joins[0].game_id, file)
    return file


async def test_a_dynasty(running: Referee, tmp_path: Path) -> None:
    """Three games, each bound to the one before; KDO-26: the order of the first choice moves on by one seat."""
    words = ("--rules", "kingdomino", "--seats", "3", "--options", '{"dynasty": true, "harmony": true}', "--series")
    dominoes = kingdomino_pb2.Tables.FromString(wire("kingdomino", 1).encode_components(None))
    dominoes.dominoes[0].left.crowns = 3
    (tmp_path / "dominoes.json").write_text(MessageToJson(dominoes))
    files = [await play_new(running, tmp_path, *words, "--components", tmp_path / "dominoes.json")]
    files += [await play_new(running, tmp_path, "--series-of", files[-1])]
    files += [await play_new(running, tmp_path, "--series-of", files[-1])]
    records = [game_before(file) for file in files]
    series = [record.opened.series for record in records]
    assert len(series[0].id) == 16
    assert {each.id for each in series} == {series[0].id}
    assert [each.index for each in series] == [0, 1, 2]
    assert [each.previous_head for each in series] == [b"", records[0].head, records[1].head]
    states: list[Any] = [record.game.position.state for record in records]
    assert all(state.options.harmony and state.options.dynasty for state in states)
    assert {record.opened.tables for record in records} == {dominoes.SerializeToString(deterministic=True)}
    first = states[0].order
    assert [state.order for state in states] == [tuple((seat + turn) % 3 for seat in first) for turn in range(3)]

    for more, said in (
        (("--rules", "alhambra"), "the previous game is kingdomino with 3 seats"),
        (("--seats", "2"), "the previous game is kingdomino with 3 seats"),
        (("--series",), "--series and --series-of: expected only one of them"),
        (
            ("--options", '{"harmony": false}'),
            "options and components are those of the previous game; expected none here",
        ),
    ):
        done = referee("new", "--series-of", files[0], *more)
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr
    done = referee("new", "--series-of", files[2])
    assert (done.returncode, "this game was the last of its series" in done.stderr) == (2, True)
    done = referee("show", files[1])
    assert f"game 2 of series {series[0].id.hex()}, after entry {records[0].head.hex()}\n" in done.stdout


async def test_only_a_game_of_a_series_that_is_over_is_followed(running: Referee, tmp_path: Path) -> None:
    alone = await play_new(running, tmp_path, "--rules", "rollwrite")
    done = referee("new", "--series-of", alone)
    assert (done.returncode, done.stdout) == (2, "")
    assert "this game is not part of a series; expected one opened with --series" in done.stderr
    (tmp_path / "begun").write_bytes(alone.read_bytes()[:-40])
    for file, said in ((tmp_path / "begun", "of a game that is over"), (Path(__file__), ""), (tmp_path, "directory")):
        done = referee("new", "--series-of", file)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert f"--series-of {file}: " in done.stderr
        assert said in done.stderr


def test_the_components_that_are_shown_are_taken(tmp_path: Path) -> None:
    for name in ("kingdomino", "rollwrite"):
        done = referee("new", "--rules", name, "--show-components")
        assert (done.returncode, done.stderr) == (0, "")
        (tmp_path / name).write_text(done.stdout)
        assert components(name, tmp_path / name) == wire(name, 1).encode_components(None)
