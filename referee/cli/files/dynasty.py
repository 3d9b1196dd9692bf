"""``referee dynasty``: three games of Kingdomino whose points are added."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Final, cast

from cyclopts import Parameter

from referee.cli.shared.arguments import Key, verifier_key
from referee.cli.shared.bulk import GRAVITY
from referee.cli.shared.failure import Exit, Failure
from referee.cli.shared.output import write
from referee.games.kingdomino import Options, State
from referee.games.kingdomino.options import Draw
from referee.games.kingdomino.scoring import GAMES, next_options
from referee.games.kingdomino.scoring import dynasty as added
from referee.log import file
from referee.log.audit import audit
from referee.log.errors import LogError
from referee.log.replay import Record
from referee.log.verdict import Policy, Report, Verdict

RULES: Final = "kingdomino"


def dynasty(
    first: Annotated[Path, Parameter(help="The file of the first game.", show_default=False)],
    second: Annotated[Path, Parameter(help="The file of the second game.", show_default=False)],
    third: Annotated[Path, Parameter(help="The file of the third game.", show_default=False)],
    /,
    *,
    key: Key,
    as_json: Annotated[bool, Parameter(name="--json", help="Print JSON.")] = False,
) -> None:
    """Add up a dynasty: audit its three games, check that they belong together, and show points and places.

    They belong together if they are games 1, 2 and 3 of one series, each naming the last entry of the game before; if
    they have the same seats and options, with dynasty set; and if the first order moves on by one seat each time
    (KDO-26). Equal sums share a place. The files cannot show whether the series has other games: an organiser can open
    a second game after the same one.

    The exit code is that of the gravest verdict, as in `referee audit`: 0 COMPLETE; 8 RULES, also for games that do not
    belong together. 1 a file cannot be read; 2 the key is invalid.

    Example: `referee dynasty one.gamelog two.gamelog three.gamelog --key referee.vkey`
    """
    policy = Policy(verifier_key("--key", key))
    games = [_read(path, policy) for path in (first, second, third)]
    told = _Told(games, [*_failed(games), *_apart(games)])
    write(told.as_json() if as_json else told.as_text())
    raise Exit(int(told.verdict))


@dataclass(frozen=True, slots=True)
class _Game:
    path: Path
    report: Report
    record: Record | None
    """Replayed from its entries; None if they cannot be."""


def _read(path: Path, policy: Policy) -> _Game:
    """Raise ``Failure``."""
    try:
        with path.open("rb") as stream:
            report = audit(stream, policy)
            stream.seek(0)
            try:
                record = Record.replay(file.entries(stream))
            except LogError:
                record = None  # the report says why
    except OSError as error:
        raise Failure(f"{path}: {error.strerror}") from None
    return _Game(path, report, record)


@dataclass(frozen=True, slots=True)
class _Fault:
    """A reason why there is no result: the file, the fault, and the verdict."""

    path: Path
    what: str
    verdict: Verdict

    def __str__(self) -> str:
        return f"{self.path}: {self.what}"


def _failed(games: Sequence[_Game]) -> Iterator[_Fault]:
    for game in games:
        if (decisive := game.report.decisive) is not None:
            yield _Fault(game.path, f"{game.report.verdict.name}, {decisive}", game.report.verdict)


def _apart(games: Sequence[_Game]) -> Iterator[_Fault]:
    """Yield the reasons why they are not the three games of one dynasty."""
    before: Record | None = None
    for index, game in enumerate(games):
        if game.record is None:
            return
        for what in _of_none(game.record) or _misplaced(game.record, index, before):
            yield _Fault(game.path, what, Verdict.RULES)
        before = game.record


def _of_none(record: Record) -> list[str]:
    """Return the reasons why it is no game of a dynasty."""
    opened, options = record.opened, record.game.position.options
    if opened.rules_id != RULES:
        return [f"a game of {opened.rules_id}; expected one of {RULES}"]
    found = []
    if not options.dynasty:
        found.append("the option dynasty is not set (KDO-26)")
    if not opened.HasField("series"):
        found.append("the game is not part of a series")
    if record.game.end is not None and not record.game.end.scores:
        found.append("the game ended without a result")
    return found


def _misplaced(record: Record, index: int, before: Record | None) -> Iterator[str]:
    """Yield the reasons why it is not game ``index`` of the series that the game before it belongs to."""
    series = record.opened.series
    if series.index != index:
        yield f"game {series.index + 1} of its series; expected game {index + 1}"
        return
    if before is None or before.opened.rules_id != RULES:
        return
    if series.id != before.opened.series.id:
        yield f"of series {series.id.hex()}; expected {before.opened.series.id.hex()}"
    if series.previous_head != before.head:
        yield f"follows a game that ends in {series.previous_head.hex()}; the one before ends in {before.head.hex()}"
    seats, expected_seats = list(record.opened.seats), list(before.opened.seats)
    if len(seats) != len(expected_seats):
        yield f"{len(seats)} seats; expected {len(expected_seats)}, as in the game before"
        return
    if [seat.player for seat in seats] != [seat.player for seat in expected_seats]:
        yield "the players are not those of the game before"
    state, expected = cast("State", record.game.position.state), next_options(cast("State", before.game.position.state))
    if _but_for_the_order(state.options) != _but_for_the_order(expected):
        yield "the options are not those of the game before"
    if state.order and expected.declared_order and state.order != expected.declared_order:
        found, due = (" ".join(map(str, order)) for order in (state.order, expected.declared_order))
        yield f"the kings chose first in the order {found}; expected {due}, a seat on from the game before (KDO-26)"
    if record.opened.tables != before.opened.tables:
        yield "the dominoes are not those of the game before"


def _but_for_the_order(options: Options) -> Options:
    return replace(options, first_order=Draw.SEAT, declared_order=())


@dataclass(frozen=True, slots=True)
class _Told:
    """The outcome of the three games."""

    games: list[_Game]
    faults: list[_Fault]

    @property
    def verdict(self) -> Verdict:
        found = {fault.verdict for fault in self.faults}
        return next((verdict for verdict in GRAVITY if verdict in found), Verdict.COMPLETE)

    def sums(self) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        """Return each seat's points and place; None for games that do not belong together, or are not over."""
        scores = [game.report.scores for game in self.games if game.record is not None]
        apart = any(fault.verdict is Verdict.RULES for fault in self.faults)
        return None if apart or len(scores) < GAMES or not all(scores) else added(scores)

    def as_text(self) -> str:
        lines = [self.verdict.name, *(f"  {fault}" for fault in self.faults)]
        for number, game in enumerate(self.games, start=1):
            identity = game.report.game_id.hex() if game.report.game_id else "unknown"
            scores = " ".join(map(str, game.report.scores)) or "none"
            lines.append(f"game {number}, {identity}: points {scores}")
        if (sums := self.sums()) is not None:
            ranked = enumerate(zip(*sums, strict=True))
            lines += [f"player {seat + 1}: {points} points, place {place}" for seat, (points, place) in ranked]
        return "".join(f"{line}\n" for line in lines)

    def as_json(self) -> str:
        sums = self.sums()
        value = {
            "verdict": self.verdict.name,
            "exit_code": int(self.verdict),
            "faults": [{"file": str(fault.path), "what": fault.what} for fault in self.faults],
            "games": [
                {
                    "file": str(game.path),
                    "game_id": game.report.game_id.hex() if game.report.game_id else None,
                    "verdict": game.report.verdict.name,
                    "scores": list(game.report.scores),
                }
                for game in self.games
            ],
            "points": None if sums is None else list(sums[0]),
            "places": None if sums is None else list(sums[1]),
        }
        return json.dumps(value, indent=2) + "\n"
