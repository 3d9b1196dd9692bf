"""``referee event simulate``: a random event, played to its end."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Annotated, Any, Final

import typer

from referee.cli import output
from referee.cli.event_editing import EventPath, failures
from referee.console import printable
from referee.events.event_file import EventFile
from referee.events.simulate import Chances, Simulation
from referee.events.typed import numbers, points_of
from referee.events.words import lines, standing_lines
from referee.games.event import Terms
from referee.games.event.position import commitment
from referee.games.game import InputError
from referee.log.deck import SEED_BYTES

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
) -> None:
    """Make an event of random players and results: to try terms, or to have something to look at.

    The file is an event like any other, with keys of its own: `referee event check` checks it. Its lots are not secret.
    """
    with failures(file):
        secret = random.Random(seed).randbytes(SEED_BYTES)  # noqa: S311 - nothing hangs on these lots
        wanted = numbers("--sizes", sizes)
        terms = Terms(
            sizes=wanted,
            rounds=rounds,
            points=points_of(points, wanted),
            commitment=commitment(secret),
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
        event = EventFile.create(file, terms, secret)
        simulation = Simulation(event.log, secret, players, chances, seed)
        simulation.run()
        event.names = simulation.names
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


COMMANDS: Final[dict[str, Callable[..., Any]]] = {"simulate": simulate}
