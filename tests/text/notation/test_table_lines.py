"""Lines of a text about acts beside the moves: read, printed, recorded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from referee.games import registry
from referee.games.game import Ending
from referee.log.keys import PrivateKey
from referee.log.replay import Record
from referee.telling.game_file import GameFile, as_text
from referee.telling.recorder import Recorder, recorded, rehearse
from referee.text.notation import game_text
from referee.text.notation.table import ActKind, TableAct, read_line
from referee.text.notation.violations import NotationError
from referee.text.report.adjudication import adjudicate
from referee.text.report.rulings import Policy
from tests.cli.inside import referee
from tests.contested.games import Contested, kept
from tests.text.notation.game_text import CHOSEN, KINGS

LINES = [
    "1: resign",
    "1: back to 12",
    "0: agree",
    '1: protest against 12 KDO-14 "too wide; {no}"',
    "1: appeal against 15 TBL-33",
    "scribe: back to 0",
    "referee: forfeit seat 0 flag",
    "organiser: abort",
    "arbiter: warn seat 1",
    "arbiter: penalty seat 1 points 2",
    "arbiter: penalty seat 1 strikes 1 under TBL-7",
    'arbiter: penalty seat 1 points 2 strikes 3 time 1h30s decides 4 "late"',
    "arbiter: penalty seat 0 time 49d17h2m47s295ms",
    "arbiter: clock seat 1 5m",
    "arbiter: clock seat 0 0s",
    "arbiter 1: clock seat 0 1d1ms decides 2",
    'arbiter 1: forfeit seat 1 illegal moves decides 3 under TBL-7 "why"',
    "arbiter: reinstate seat 1",
    "arbiter: skip seat 0",
    'arbiter: stands "let it be"',
    "arbiter: restore to 9",
    "arbiter: result places 1 2 points 27 -2",
    "arbiter: result places 2 1",
    "arbiter: void",
    "arbiter: pause",
    "arbiter: adjourn",
    "arbiter: resume",
    "arbiter: dismiss decides 8",
]


@pytest.mark.parametrize("rules_id", registry.names())
@pytest.mark.parametrize("line", LINES)
def test_a_line_is_printed_as_it_was_read(rules_id: str, line: str) -> None:
    assert str(read_line(rules_id, line)) == line


def test_a_resignation_in_its_place_decides_the_game() -> None:
    reading = game_text.read(f"{CHOSEN}0: resign\n")
    assert reading.game.contest.out == {0: Ending.RESIGNED}
    assert reading.result is not None
    assert reading.result.places == (2, 1)
    text = game_text.write(reading.game)
    assert text.splitlines()[-1] == "0: resign"
    assert '[Forfeits "0 resigned"]' in text
    assert game_text.read(text).game == reading.game


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (
            "7: resign",
            "7: resign: no player has the number 7 in the notation; expected a number from 0 (player 1) to 1",
        ),
        ("0: resign\n1: resign", "1: resign: the game has come to its end (TBL-21); expected only protests"),
        ("0: agree", "0: agree: no proposal is open (TBL-24)"),
        ("0: back to 99", "line 99 is not there yet"),
        ("scribe: back to 1\nscribe: back to 2", "line 2 was taken back"),
        ("arbiter: result places 2 2", "the places 2 2 are no ranking (TBL-36); expected for each player 1 more"),
        ("arbiter: result places 1 2 3", "the ruling gives 3 places (TBL-36); expected 2"),
        ('arbiter: stands "late"', "no move that stands follows; expected a move in the next line, marked"),
        ("arbiter: stands\narbiter: warn seat 1", "arbiter: stands: no move that stands follows"),
        ("organiser: abort\narbiter: warn seat 1", "arbiter: warn seat 1: the game is over"),
        ("arbiter: dismiss decides 1", "entry 1 is not a dispute (TBL-31)"),
        ("arbiter: reinstate seat 0", "player 1 has not forfeited"),
        ("arbiter: penalty seat 0", "a penalty of nothing; expected points, strikes or time; or warn seat 0"),
        ("arbiter: penalty seat 0 points 0", "a penalty of nothing"),
        ("arbiter: penalty seat 0 time 50d", "the time 50d; expected at most 49d17h2m47s295ms"),
        ("arbiter: clock seat 0 5", "found '5'; expected a time, such as 1m30s"),
        ("arbiter: clock seat 0 5s1m", "expected"),
        ("1: resign now", "found 'now'; expected the end of the "),
    ],
)
def test_what_is_wrong_with_a_line_is_told(lines: str, told: str) -> None:
    with pytest.raises(NotationError) as error:
        rehearse(game_text.read(f"{CHOSEN}{lines}\n").game)
    assert told in str(error.value)
    last = (CHOSEN + lines).count("\n") + 1
    assert error.value.line == last - (lines.startswith("arbiter: stands\n"))


def test_headers_must_agree_with_the_lines() -> None:
    lines = CHOSEN.removeprefix(KINGS)
    told = '[Forfeits "1 resigned"]\n'
    with pytest.raises(NotationError, match=r"Forfeits .*expected 0 resigned"):
        game_text.read(f"{KINGS}{told}{lines}0: resign\n")
    reading = game_text.read(f'{KINGS}[Penalties "0 3"]\n{lines}0: resign\n')
    assert reading.game.contest.points_off == (0, 3)


def test_moves_that_were_taken_back_are_told_and_do_not_count() -> None:
    reading = game_text.read(CHOSEN)
    last = len(reading.game.events)
    again = CHOSEN.splitlines()[-1]
    undone = game_text.read(f"{CHOSEN}1: back to {last - 1}\n0: agree\n{again}\n")
    assert undone.game.events == reading.game.events
    assert undone.state.digest() == reading.state.digest()
    assert len([each for each in undone.game.happened if isinstance(each, TableAct)]) == 2


def games() -> Iterator[Contested]:
    for rules_id in registry.names():
        yield from (kept(rules_id, number) for number in range(15))


def without_time(line: object) -> object:
    """Leave out what a recording has no clock for, as no line may be missing."""
    if not isinstance(line, TableAct) or not line.needs_clock:
        return line
    kind = ActKind.PENALTY if line.number or line.strikes else ActKind.WARN
    return replace(line, kind=kind, time_ms=0)


@pytest.mark.long
def test_contested_games_become_texts_and_logs_again() -> None:
    """Positions, contest and result are the same, whatever happened beside the moves."""
    keys = [PrivateKey.generate() for _ in range(4)]
    seen: set[str] = set()
    for made in games():
        game_file = GameFile(Record(made.opened.SerializeToString(deterministic=True)))
        for data in made.entries:
            game_file.transcript.see(game_file.record.read(data))
        game = as_text(game_file)
        if not game.happened:
            continue
        acts = [line for line in game.happened if isinstance(line, TableAct)]
        seen |= {act.kind.value for act in acts} | {"strikes" for act in acts if act.strikes}
        seen |= {"time" for act in acts if act.kind is ActKind.PENALTY and act.time_ms}
        text = game_text.write(game)
        reading = game_text.read(text)
        assert game_text.write(reading.game) == text, str(made)
        assert reading.game == game, str(made)
        recorder = Recorder(game.setup, keys[0], keys[1:], has_table_acts=True)
        recorder.lines(replace(reading.game, happened=tuple(map(without_time, reading.game.happened))))
        again = recorder.record.game
        assert again.position.state.digest() == made.truth[-1].digest, str(made)
        assert again.result() == made.truth[-1].result, str(made)
        assert list(again.contest().out.items()) == list(game.contest.out.items()), str(made)
        assert again.contest() == game.contest, str(made)
    assert seen >= {"resign", "take_back", "agree", "protest", "appeal", "correct", "fell", "penalty", "forfeit"}
    assert seen >= {"warn", "clock", "strikes", "time"}
    assert seen >= {"reinstate", "skip", "restore", "result", "void", "abort", "dismiss", "pause", "resume"}


def test_a_resignation_goes_through_record_and_show(tmp_path: Path) -> None:
    """It needs no arbiter; a protest does."""
    for name in ("scribe", "referee", "arbiter"):
        PrivateKey.generate().save(tmp_path / f"{name}.pem")
    keys = ["--key", tmp_path / "scribe.pem", "--referee-key", tmp_path / "referee.pem"]
    text, log = tmp_path / "game.txt", tmp_path / "game.gamelog"
    text.write_text(f"{CHOSEN}0: resign\n", encoding="utf-8")
    done = referee("record", text, *keys, "--out", log)
    assert (done.returncode, done.stderr) == (0, "")
    assert "player 2 wins: player 1 resigned" in done.stdout
    assert referee("show", log, "--notation").stdout.endswith("\n0: resign\n")
    assert "Player 2 wins: player 1 resigned" in referee("score", text).stdout
    assert "Player 2 wins: player 1 resigned" in referee("adjudicate", text).stdout
    text.write_text(f'{CHOSEN}0: protest against 3 KDO-14 "not so"\n0: resign\n', encoding="utf-8")
    refused = referee("record", text, *keys, "--out", tmp_path / "2.gamelog")
    assert (refused.returncode, "expected --arbiter-key" in refused.stderr) == (2, True)
    done = referee("record", text, *keys, "--arbiter-key", tmp_path / "arbiter.pem", "--out", tmp_path / "2.gamelog")
    assert (done.returncode, done.stderr) == (0, "")
    assert "this waits for a ruling" in done.stdout
    assert referee("show", tmp_path / "2.gamelog", "--notation").stdout.endswith(
        '\n0: protest against 3 KDO-14 "not so"\n0: resign\n'
    )


@pytest.mark.parametrize("ruling", ["clock seat 1 5m", "penalty seat 1 points 2 time 30s"])
def test_a_ruling_about_a_clock_is_read_and_cannot_be_recorded(ruling: str, tmp_path: Path) -> None:
    for name in ("scribe", "referee", "arbiter"):
        PrivateKey.generate().save(tmp_path / f"{name}.pem")
    text = tmp_path / "game.txt"
    text.write_text(f"{CHOSEN}arbiter: {ruling}\n", encoding="utf-8")
    assert referee("show", text).returncode == 0
    keys = ["--key", tmp_path / "scribe.pem", "--referee-key", tmp_path / "referee.pem"]
    for more in ([], ["--arbiter-key", tmp_path / "arbiter.pem"]):
        done = referee("record", text, *keys, *more, "--out", tmp_path / "game.gamelog")
        told = f"arbiter: {ruling}: this needs a clock, which a game that is recorded from a text does not have"
        assert (done.returncode, told in done.stderr) == (2, True), done.stderr
    assert not (tmp_path / "game.gamelog").exists()


def test_strikes_are_recorded(tmp_path: Path) -> None:
    """A recording has no terms that make a seat forfeit with them; the text says so where it did."""
    for name in ("scribe", "referee", "arbiter"):
        PrivateKey.generate().save(tmp_path / f"{name}.pem")
    text, log = tmp_path / "game.txt", tmp_path / "game.gamelog"
    lines = "arbiter: penalty seat 1 points 2 strikes 3\narbiter: warn seat 0\n"
    text.write_text(f"{CHOSEN}{lines}", encoding="utf-8")
    keys = ["--key", tmp_path / "scribe.pem", "--referee-key", tmp_path / "referee.pem"]
    done = referee("record", text, *keys, "--arbiter-key", tmp_path / "arbiter.pem", "--out", log)
    assert (done.returncode, done.stderr) == (0, "")
    assert referee("show", log, "--notation").stdout.endswith(f"\n{lines}")


def test_an_adjudication_counts_lines_of_the_record_for_acts_of_the_table() -> None:
    """An attempt that does not count is a line, too; a stand-in's move that is entered for it is none."""
    keys = [PrivateKey.generate() for _ in range(3)]
    lines = CHOSEN.splitlines()[:-1]
    last = len([each for each in lines if not each.startswith("[")])
    wrong = "1: choose 48"
    again = [wrong, lines[-1], f"1: back to {last}", "0: agree", lines[-1], "0: resign"]
    found = adjudicate("\n".join([*lines[:-1], *again, ""]), Policy.SKIP)
    assert [each.words for each in found.illegal] == [wrong]
    assert found.contest.out == {0: Ending.RESIGNED}
    recorder = recorded(found, keys[0], keys[2:])
    assert recorder.record.game.position.state.digest() == found.state.digest()
    assert recorder.record.game.result() == found.told.result
    assert found.state.digest() == game_text.read("\n".join([*lines, ""])).state.digest()
