"""The terms of a new game as options of ``referee new``: time, illegal moves, absence, protests, grace."""

from __future__ import annotations

from typing import Annotated

import typer

from referee_clients.sdk.opening import CLOCK_EXPECTED

Clock = Annotated[
    str | None,
    typer.Option(
        "--clock",
        metavar="CLOCK",
        help=f"Time for moves: {CLOCK_EXPECTED}. A seat that runs out of time forfeits. By default there is no clock.",
        rich_help_panel="The table",
    ),
]
Lag = Annotated[
    str | None,
    typer.Option(
        "--lag",
        metavar="TIME",
        help="Network allowance per move, not charged to the clock, such as 500ms.",
        rich_help_panel="The table",
    ),
]
Illegal = Annotated[
    list[str] | None,
    typer.Option(
        "--illegal",
        metavar="WHAT",
        help="What happens after an illegal move: retry (the seat moves again, the default), record "
        "(the log also records the attempt), strikes:N (the seat forfeits on its Nth), "
        "penalty:TIME (comes off its clock), forfeit (at once). Repeatable.",
        rich_help_panel="The table",
    ),
]
Absence = Annotated[
    str | None,
    typer.Option(
        "--absence",
        metavar="TIME",
        help="Forfeit a seat that is on turn and disconnected, or does not join, for this long.",
        rich_help_panel="The table",
    ),
]
TakeBacks = Annotated[
    bool, typer.Option("--take-backs", help="Let seats agree to take moves back.", rich_help_panel="The table")
]
ProtestTime = Annotated[
    str | None,
    typer.Option(
        "--protest-time",
        metavar="TIME",
        help="Delay before the result is recorded, to allow protests; each further act restarts it.",
        rich_help_panel="The table",
    ),
]
Grace = Annotated[
    str | None,
    typer.Option(
        "--grace",
        metavar="TIME",
        help="After the referee was away, clocks wait until the seats on turn are back, for this long at most; 0s: not "
        "at all.",
        show_default="60s",
        rich_help_panel="The table",
    ),
]
