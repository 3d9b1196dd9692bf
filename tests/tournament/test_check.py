"""``referee event check``: what is wrong with an event's file is named, with the rule and the entry."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from referee.games.game import InputError
from referee.log.verdict import Policy, Verdict
from referee.tournament.check import PAIRING, STANDINGS, check_event
from referee.tournament.file import EventFile
from referee.tournament.game_logs import Where, from_log
from referee.tournament.rules.acts import Result
from tests.cli.inside import referee
from tests.core import needs_source
from tests.log.games import SIGNER, seat_key
from tests.tournament import faults
from tests.tournament.check import POLICY, game, result_of, with_games

NO_GAMES = Policy()


@needs_source
@pytest.mark.parametrize("name", faults.PLANTED)
def test_a_fault_is_named(tmp_path: Path, name: str) -> None:
    planted = faults.PLANTED[name]
    path = planted.file(tmp_path)
    found = check_event(path, POLICY, None, NO_GAMES)
    assert found.exit_code == (STANDINGS if planted.rule == "EVT-S14" else PAIRING)
    assert f"({planted.rule}: " in found.broken
    entry = found.audit.decisive.entry if found.audit.decisive else None
    assert entry is not None
    assert f"{found.verdict} at entry {entry}" == next(found.lines())


@needs_source
def test_the_same_event_without_a_fault_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "right.eventlog"
    path.write_bytes(faults.right())
    found = check_event(path, POLICY, None, NO_GAMES)
    assert (found.exit_code, next(found.lines())) == (0, "COMPLETE")
    assert (found.audited, found.by_sheet, found.not_found) == (0, 12, 0)


@needs_source
def test_another_root_in_the_file_is_corrupt(tmp_path: Path) -> None:
    path, data = tmp_path / "right.eventlog", faults.right()
    path.write_bytes(data[:-400] + bytes([data[-400] ^ 1]) + data[-399:])
    assert check_event(path, POLICY, None, NO_GAMES).exit_code == Verdict.CORRUPT


# Results against the logs of their games


def test_results_are_those_of_audited_games(tmp_path: Path) -> None:
    path = with_games(tmp_path)
    found = check_event(path, POLICY, tmp_path, POLICY)
    assert (found.exit_code, found.games) == (0, ())
    assert (found.audited, found.by_sheet, found.not_found) == (2, 0, 0)
    assert check_event(path, POLICY, None, POLICY).not_found == 2
    os.mkfifo(tmp_path / "pipe.gamelog")
    unknown = check_event(path, POLICY, tmp_path, Policy())
    assert (unknown.exit_code, unknown.audited) == (0, 2)
    assert "comment: no --games-key was given: the referee of the games is not known" in list(unknown.lines())


def _reversed(table: int, result: Result) -> Result:
    return Result(result.places[::-1], result.scores, result.forfeited, result.log) if table == 2 else result


def _other_root(table: int, result: Result) -> Result:
    assert result.log is not None
    return replace(result, log=replace(result.log, root=bytes(32))) if table == 2 else result


@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param(_reversed, "places", id="other-places"),
        pytest.param(_other_root, "another size or root", id="another-root"),
    ],
)
def test_a_result_that_the_game_does_not_have_is_named(
    tmp_path: Path, change: Callable[[int, Result], Result], words: str
) -> None:
    found = check_event(with_games(tmp_path, change), POLICY, tmp_path, POLICY)
    assert found.exit_code == Verdict.RULES
    (told,) = found.games
    assert told.startswith("round 1, table 2: 2.gamelog: ")
    assert words in told
    assert (found.audited, found.not_found) == (1, 0)


def test_a_game_that_was_tampered_with_is_named(tmp_path: Path) -> None:
    path = with_games(tmp_path)
    log = tmp_path / "1.gamelog"
    data = log.read_bytes()
    log.write_bytes(data[:-300] + bytes([data[-300] ^ 1]) + data[-299:])
    found = check_event(path, POLICY, tmp_path, POLICY)
    assert found.exit_code == Verdict.RULES
    assert found.games[0].startswith("round 1, table 1: 1.gamelog: the game does not audit: CORRUPT: ")
    assert check_event(path, POLICY, tmp_path, Policy()).games == found.games


def test_a_game_of_another_event_is_named(tmp_path: Path) -> None:
    """Its result was entered all the same."""

    def other(table: int, result: Result) -> Result:
        return result_of(game(tmp_path, 5, 1, 2, seed=9)) if table == 2 else result

    found = check_event(with_games(tmp_path, other, opens=False), POLICY, tmp_path, POLICY)
    assert found.exit_code == Verdict.RULES
    assert found.games == ("round 1, table 2: 2.gamelog: opened for event 5, round 1, table 2 (EVT-G1)",)


@pytest.mark.parametrize(("opens", "audited"), [(True, 2), (False, 0)])
def test_a_game_of_no_event_is_a_tables_if_the_event_names_it(tmp_path: Path, opens: bool, audited: int) -> None:
    """Otherwise it may be any table's: a check counts it apart, and its result is not taken from it."""
    found = check_event(with_games(tmp_path, opens=opens, of_event=False), POLICY, tmp_path, POLICY)
    assert (found.exit_code, found.audited, found.unplaced) == (0, audited, 2 - audited)
    told = "results: 0 with an audited log, 2 with one that does not say for which table"
    assert (told in list(found.lines())) is not opens
    event = EventFile.read_only(tmp_path / "two.eventlog").log
    where = Where(event.event_id, 1, 1)
    if opens:
        assert from_log(tmp_path / "1.gamelog", event.state, where).log is not None
    else:
        with pytest.raises(InputError, match="it does not say for which event, round and table it is"):
            from_log(tmp_path / "1.gamelog", event.state, where)


@pytest.mark.parametrize("first", [(1, 0, 1, 0), (1, 1, 0, 0)])
def test_a_declared_order_that_is_not_the_seats_is_named(tmp_path: Path, first: tuple[int, ...]) -> None:
    """EVT-O2: the event evens out the seats, so no player at the table chooses the first."""
    found = check_event(with_games(tmp_path, first=first), POLICY, tmp_path, POLICY)
    assert found.exit_code == Verdict.RULES
    (told,) = found.games
    assert (
        told
        == "round 1, table 2: 2.gamelog: player 2 and player 1 are first, as declared; expected player 1 first (EVT-O2)"
    )


@pytest.mark.parametrize("first", [(), (0, 1, 0, 1), (0, 1, 1, 0)])
def test_seats_in_their_own_order_are_right(tmp_path: Path, first: tuple[int, ...]) -> None:
    assert check_event(with_games(tmp_path, first=first), POLICY, tmp_path, POLICY).exit_code == 0


def test_a_result_is_not_taken_from_what_is_no_log_of_the_table(tmp_path: Path) -> None:
    """Before it is entered: another event's, another table's, of seats in another order, not over, torn."""
    state = EventFile.read_only(with_games(tmp_path)).log.state
    logs = (tmp_path / "games").resolve()
    logs.mkdir()

    def refused(path: Path, event: int = 5, table: int = 1) -> str:
        with pytest.raises(InputError) as error:
            from_log(path, state, Where(event, 1, table))
        assert error.value.field == str(path)
        return error.value.what

    own = game(logs, 5, 1, 1, seed=3)
    assert from_log(own, state, Where(5, 1, 1)).places in ((1, 2), (2, 1), (1, 1))
    assert refused(own, event=6) == "opened for event 5, round 1, table 1 (EVT-G1)"
    assert refused(own, table=2) == "opened for event 5, round 1, table 1 (EVT-G1)"
    assert "(EVT-O2)" in refused(game(logs, 5, 1, 1, seed=3, first=(1, 0, 0, 1)))
    own.write_bytes(own.read_bytes()[:-200])
    assert refused(own).startswith("the game does not audit: PREFIX: ")


@pytest.mark.parametrize(("round_", "table"), [(0, 0), (0, 1), (1, 0), (1, 3), (2, 1)])
def test_a_game_of_no_table_of_the_event_has_no_seats_that_the_audit_compares(
    tmp_path: Path, round_: int, table: int
) -> None:
    path = with_games(tmp_path)
    log = game(tmp_path, EventFile.read_only(path).log.event_id, round_, table, seed=3)
    done = referee("audit", log, "--key", str(SIGNER.verifier), "--event", path)
    assert done.returncode == 1
    assert done.stderr.rstrip().endswith(f"it has no round {round_} with a table {table}")


def test_a_result_from_a_log_says_that_no_key_was_compared(tmp_path: Path) -> None:
    """The command has no key of the game's referee."""
    path = tmp_path / "e.eventlog"
    new = ("--rules", "kingdomino", "--sizes", "2", "--points", "2: 1,0")
    for words in (("new", *new), ("enter", "Ani", "Bob"), ("checkin", "--all"), ("pair",), ("publish",)):
        assert referee("event", words[0], path, *words[1:]).returncode == 0
    log = game(tmp_path, EventFile.read_only(path).log.event_id, 1, 1, seed=1)
    done = referee("event", "result", path, 1, "--log", log)
    assert done.stdout.startswith("entered: round 1, table 1, places ")
    assert "the key of the games' referee is not known" in done.stderr


def test_a_seat_is_played_with_the_key_that_its_entrant_registered(tmp_path: Path) -> None:
    """The games' seats have the keys of seats 0 and 1; the numbers at a table are drawn."""
    mine, other = (seat_key(seat).public.raw for seat in (0, 1))
    path = with_games(tmp_path / "a", keys=[mine, other, b"", b""])
    found = check_event(path, POLICY, tmp_path / "a", POLICY)
    seats = EventFile.read_only(path).log.state.rounds[0].seats
    assert len(found.games) == sum(seats[number][1] != number - 1 for number in (1, 2))
    assert all("signed with another key than entrant" in told for told in found.games)
    path = with_games(tmp_path / "b", keys=[b"\1" * 32, b"", b"", b""])
    (told,) = check_event(path, POLICY, tmp_path / "b", POLICY).games
    assert "another key than entrant 1 registered (EVT-G1)" in told
