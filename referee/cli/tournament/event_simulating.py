"""``referee event simulate``: a random event, played to its end."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from referee.cli.shared import bulk, output
from referee.cli.shared.bulk import telling
from referee.cli.shared.event_editing import EventPath, failures
from referee.cli.shared.failure import EXIT_FAILED, EXIT_OK, EXIT_USAGE, Failure
from referee.cli.tournament.event_trials import Trial, simulated, summary, try_all
from referee.console import printable
from referee.games.game import InputError
from referee.process.bulk.results import LOST
from referee.tournament.rules import Terms
from referee.tournament.simulate import Chances
from referee.tournament.typed import numbers, points_of
from referee.tournament.words import lines, standing_lines

_MOST: Final = 10
"""Rows of the standings that are printed."""


def simulate(  # noqa: PLR0917 - typer reads options from the signature
    file: EventPath,
    players: Annotated[int, typer.Option(metavar="N", min=2, max=1024, help="How many enter.")] = 64,
    rounds: Annotated[int, typer.Option(metavar="N", min=1, help="Rounds before the cut.")] = 6,
    seed: Annotated[int, typer.Option(metavar="N", help="The same number gives the same results.")] = 1,
    sizes: Annotated[str, typer.Option(metavar="LIST", help="Sizes of tables, best first.")] = "4,3",
    points: Annotated[str, typer.Option(metavar="POINTS", help="Points by place, for each size.")] = (
        "4: 5,3,2,1; 3: 5,3,1"
    ),
    cut: Annotated[int, typer.Option(metavar="K", min=0, help="The K best go on to a knock-out at tables of 4.")] = 0,
    absent: Annotated[str, typer.Option(metavar="PERCENT", help="Absent from a round.")] = "0%",
    late: Annotated[str, typer.Option(metavar="PERCENT", help="Come after the first round.")] = "0%",
    withdraw: Annotated[str, typer.Option(metavar="PERCENT", help="Leave before a round, or come back.")] = "0%",
    no_show: Annotated[str, typer.Option(metavar="PERCENT", help="Do not come to their table.")] = "0%",
    forfeit: Annotated[str, typer.Option(metavar="PERCENT", help="Forfeit a game.")] = "0%",
    amend: Annotated[str, typer.Option(metavar="PERCENT", help="Results that are amended.")] = "0%",
    events: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Play this many, with seeds from --seed on, and write only how they went: a line of JSON each.",
            show_default=False,
        ),
    ] = None,
    shard: bulk.ShardWord = None,
    jobs: bulk.Jobs = None,
    on: bulk.On = None,
) -> None:
    """Make an event of random players and results: to try terms, or to have something to look at.

    The file is an event like any other, with keys of its own: `referee event check` checks it. Its lots are not secret.

    With --events the lines of FILE say how many entries, rounds, byes and repeated meetings each event has, and the
    place of its strongest entrant. The same command goes on where it was stopped. To look at one of the events, make it
    again with its seed and without --events.
    """
    with failures(file):
        wanted = numbers("--sizes", sizes)
        terms = Terms(
            sizes=wanted,
            rounds=rounds,
            points=points_of(points, wanted),
            commitment=bytes(32),
            late_until=rounds,
            cut=cut,
            cut_size=4 if cut else 0,
            cut_advance=1 if cut else 0,
        )
        chances = Chances(
            absent=_share("--absent", absent),
            late=_share("--late", late),
            withdraw=_share("--withdraw", withdraw),
            no_show=_share("--no-show", no_show),
            forfeit=_share("--forfeit", forfeit),
            amend=_share("--amend", amend),
        )
        if events is not None:
            trials = [Trial(terms, players, chances, seed + number) for number in range(events)]
            with telling("event"):
                found = try_all(trials, file, bulk.shard_of(shard), jobs, on)
            output.write(f"{summary(found)}\n")
            raise typer.Exit(EXIT_FAILED if any(LOST in line for line in found) else EXIT_OK)
        if shard or jobs or on:
            raise Failure("--shard, --jobs and --on are for many events; expected --events N", EXIT_USAGE)
        event, _ = simulated(Trial(terms, players, chances, seed), file)
        event.save()
    told = list(standing_lines(event.log.state, event.names))[: _MOST + 1]
    output.write(lines([*told, f"{printable(str(file))}: {event.log.record.size} entries"]))


def _share(option: str, text: str) -> float:
    """Return ``3%`` as a part of one. Raise ``InputError``."""
    number = text.removesuffix("%")
    try:
        share = float(number) / 100
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise InputError(option, f"{text[:20]!r}", "0% to 100%")
    return share
