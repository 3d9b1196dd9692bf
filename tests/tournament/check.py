"""A tournament's file with the files of its games."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from referee.games.kingdomino import Options as Kingdomino
from referee.log.engines import installed
from referee.log.file import entries
from referee.log.replay import Record
from referee.log.verdict import Policy
from referee.tournament.game_logs import of_record
from referee.tournament.log import EventLog
from referee.tournament.organiser import advance, close, draw, proposal
from referee.tournament.rules import Terms
from referee.tournament.rules.acts import CheckIn, Enter, EnterResult, OpenTable, Publish, Result
from tests.log.games import SIGNER, game_open, key, play, start
from tests.log.registered import at_random, header
from tests.tournament.rules.stages import SEED, terms

POLICY = Policy(verifier=SIGNER.verifier)


TWO: dict[str, Any] = {"sizes": (2,), "points": ((2, 0),), "rounds": 1}


def game(
    folder: Path,
    event: int | None,
    round_: int,
    table: int,
    seed: int,
    first: tuple[int, ...] = (),
    seats: int = 2,
) -> Path:
    """The log of a game that is over. ``event``: None for one of no event; ``first``: who chooses first, declared."""
    _, codec = installed().get("kingdomino", 1)
    terms_of_game = game_open(
        header("kingdomino"),
        rules=("kingdomino", 1),
        tables=codec.encode_components(None),
        options=codec.encode_options(Kingdomino(declared_order=first)),
        seats=seats,
    )
    if event is not None:
        terms_of_game.event_id, terms_of_game.round, terms_of_game.table = event, round_, table
    for seat in terms_of_game.seats:
        seat.ClearField("player")
    terms_of_game.nonce = seed.to_bytes(16, "big")
    played = play(start(terms_of_game, header=header("kingdomino"), engines=installed()), at_random(seed))
    path = folder / f"{table}.gamelog"
    path.write_bytes(played.file())
    return path


def result_of(path: Path) -> Result:
    """Return the result in the log, for any signer."""
    with path.open("rb") as stream:
        return of_record(Record.replay(entries(stream)), path.name)


def with_games(
    folder: Path,
    change: Callable[[int, Result], Result] = lambda _, result: result,
    *,
    opens: bool = True,
    keys: list[bytes] | None = None,
    first: tuple[int, ...] = (),
    of_event: bool = True,
) -> Path:
    """Return an event of four over one round, whose two games are in the folder.

    ``opens``: also names them before; ``of_event``: they are opened for its tables.
    """
    folder.mkdir(exist_ok=True)
    log = EventLog.new(Terms(**{**vars(terms()), **TWO}), key("organiser"))
    for number in range(1, 5):
        log.enter(Enter(number, key=b"" if keys is None else keys[number - 1]))
        log.enter(CheckIn(number))
    draw(log, SEED, {})
    advance(log)
    log.enter(proposal(log.state))
    log.enter(Publish(1))
    for table in (1, 2):
        path = game(folder, log.event_id if of_event else None, 1, table, seed=table, first=first if table == 2 else ())
        result = result_of(path)
        assert result.log is not None
        if opens:
            log.enter(OpenTable(1, table, result.log.game_id))
        log.enter(EnterResult(1, table, change(table, result)))
    close(log)
    file = folder / "two.eventlog"
    file.write_bytes(log.file(SIGNER))
    return file
