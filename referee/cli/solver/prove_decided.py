"""``referee prove-decided``: whether anybody but the leader can still win a game, however it goes on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Annotated, Final

import typer

from referee.cli.shared import output
from referee.cli.shared.failure import EXIT_OK, EXIT_USAGE, Failure
from referee.cli.shared.solving import OutOfTime, Rlimit, Solver
from referee.cli.solver import building
from referee.games.results import Result
from referee.log.errors import LogError
from referee.log.replay import Record
from referee.log.verdict import Finding
from referee.telling.game_file import GameFile, as_text
from referee.telling.words import told_end
from referee.text.notation import position_text
from referee.text.notation.outcomes import counted, outcome
from referee.text.notation.position_text import Position
from referee.text.notation.questions import QueryError
from referee.v1 import solver_service_pb2 as pb

EXIT_OPEN: Final = 11
"""No other command ends so, and none of the verdicts of ``referee audit``."""


def prove_decided(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A game file.", show_default=False)],
    at: Annotated[
        int | None,
        typer.Option(
            "--at", metavar="N", min=0, help="Look at the position after entry N; later entries are not read."
        ),
    ] = None,
    timeout: Annotated[
        float, typer.Option(metavar="SECONDS", min=0.1, max=1e6, help="Search for at most this long.")
    ] = 60.0,
    rlimit: Rlimit = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")] = False,
) -> None:
    """Prove that a game of Alhambra or Kingdomino is decided: that only one seat can still win.

    `referee prove-decided adjourned.gamelog`, `referee prove-decided game.gamelog --at 120 --json`

    DECIDED: one seat takes first place alone, whatever is still drawn and however the seats play, even if that seat
    plays as badly as the rules allow. OPEN: this was not proven, which does not mean that it is false. The answer then
    shows, for each other seat, how far it can at most end ahead of the leader, in points and with reasons. The game is
    assumed to go on to its end by its rules: no seat resigns, no clock runs out, no arbiter rules.

    For a game that has come to its end, even if the result still waits for protests, only the result is shown: who won
    and why, or that there is no winner. `--at` looks at the game before its end.

    Exit codes: 0 decided, or ended with one winner; 11 open, or ended without one; 1 no answer in time; 2 wrong usage,
    or a game for which this cannot be proved. A file that is incomplete or wrong ends with one line and the exit code
    that `referee audit` gives: 3 cut off (the entries before are still used), 4 damaged, 8 against the rules, 9 not
    supported.
    """
    game_file = _read(file, at)
    record = game_file.record
    game, entry = as_text(game_file), record.size - 1
    result = record.game.result()
    if result is not None:
        exit_code = _tell_result(record, result, as_json=as_json)
    else:
        arbitration = record.game.arbitration
        request = pb.ProveDecidedRequest(
            position=position_text.write(Position(game.setup, record.game.position.state)),
            budget=pb.Budget(rlimit=rlimit or 0),
            out=arbitration.out,
            points_off=arbitration.points_off,
        )
        exit_code = _tell(*_ask(file, request, timeout), entry, as_json=as_json)
    if game_file.torn is not None:
        raise _failure(file, game_file.torn)
    raise typer.Exit(exit_code)


def _read(file: Path, at: int | None) -> GameFile:
    """Raise ``Failure``."""
    try:
        with file.open("rb") as stream:
            game_file = GameFile.read(stream, at)
    except OSError as error:
        raise Failure(f"{file}: {error.strerror}", EXIT_USAGE) from None
    except LogError as error:
        raise _failure(file, error) from None
    if at is not None and at >= game_file.record.size:
        raise Failure(f"{file}: --at {at}: the file has entries 0 to {game_file.record.size - 1}", EXIT_USAGE)
    return game_file


def _failure(file: Path, error: LogError) -> Failure:
    return Failure(f"{file}: {error}", int(Finding.of(error).verdict))


def _ask(file: Path, request: pb.ProveDecidedRequest, timeout: float) -> tuple[pb.ProveDecidedResponse, float]:
    """And how many milliseconds it took. Raise ``Failure``."""
    with building.telling(), Solver() as solver:
        start = perf_counter()
        try:
            found = solver.ask("ProveDecided", request, pb.ProveDecidedResponse, timeout)
        except QueryError as error:
            raise Failure(f"{file}: {error}", EXIT_USAGE) from None
        except OutOfTime:
            raise Failure(
                f"--timeout {timeout:g}: no answer in time; expected a longer --timeout or a smaller --rlimit"
            ) from None
        return found, round(1000 * (perf_counter() - start), 2)


def _tell_result(record: Record, result: Result, *, as_json: bool) -> int:
    winners, entry, waits = list(result.winners), record.size - 1, record.game.result_waits
    if as_json:
        told = {"winners": winners, "places": list(result.places)}
        building.write_json({"entry": entry, "ended": True, "waits": waits is not None, **told})
    else:
        output.write(f"ENDED: {outcome(result, record.game.contest(), waits=waits)}; {told_end(result)}\n")
    return EXIT_OK if len(winners) == 1 else EXIT_OPEN


def _tell(found: pb.ProveDecidedResponse, spent: float, entry: int, *, as_json: bool) -> int:
    if as_json:
        gaps = [
            {
                "seat": gap.seat,
                "most": gap.most,
                "loses_ties": gap.loses_ties,
                "parts": [{"what": part.what, "points": part.points} for part in gap.parts],
            }
            for gap in found.gaps
        ]
        fields = {"entry": entry, "ended": False, "decided": found.decided, "leader": found.leader, "gaps": gaps}
        building.write_json({**fields, "ms": spent})
    else:
        output.write("".join(f"{line}\n" for line in (_headline(found, entry), *_table(found))))
    return EXIT_OK if found.decided else EXIT_OPEN


def _headline(found: pb.ProveDecidedResponse, entry: int) -> str:
    """Return the closest seat says it for all."""
    closest = max(found.gaps, key=lambda gap: (gap.most, not gap.loses_ties))
    if found.decided:
        return f"DECIDED seat {found.leader} wins (after entry {entry}; {_in_words(closest, found.leader)})"
    return f"OPEN: {_in_words(closest, found.leader)} (after entry {entry})"


def _in_words(gap: pb.Gap, leader: int) -> str:
    if gap.most > 0:
        return f"seat {gap.seat} can still end {counted(gap.most, 'point')} ahead of seat {leader}, at the most"
    if gap.most < 0:
        return f"seat {gap.seat} ends at least {counted(-gap.most, 'point')} behind seat {leader}"
    if gap.loses_ties:
        return f"seat {gap.seat} can still have as many points as seat {leader}, and loses every tie"
    return f"seat {gap.seat} can still have as many points as seat {leader}"


def _table(found: pb.ProveDecidedResponse) -> Iterator[str]:
    """Yield every other seat, with the reasons."""
    for gap in found.gaps:
        yield ""
        yield _in_words(gap, found.leader)
        width = max(len(f"{part.points:+}") for part in gap.parts)
        for part in gap.parts:
            yield f"  {part.points:+{width}}  {part.what}"
