"""``referee demo``: a referee, bots with their own keys, and a log that is checked without trust."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number
from rich.console import Console

from referee.cli.shared.failure import EXIT_USAGE, Exit, Failure, need
from referee.games import registry
from referee_clients.terminal.demo.game import players_of, run


def demo(
    *,
    game: Annotated[str, Parameter(help=f"One of {', '.join(registry.names())}.")] = "alhambra",
    bots: Annotated[
        str | None,
        Parameter(
            help="The bot of each seat, in order: names, or module:attribute for your own.",
            show_default="all bots of the game but sampler",
        ),
    ] = None,
    seed: Annotated[
        int,
        Parameter(
            help="Seed for bots that choose at random. The deal has no seed: no one can choose it.",
            validator=Number(gte=0),
        ),
    ] = 1,
    out: Annotated[Path, Parameter(help="Folder for the log, the key and the pictures.")] = Path("demo"),
) -> None:
    """Play a game between bots over gRPC, then check its log offline.

    Exit codes: 0 the log is COMPLETE; 1 failed, with the reason in one line; 2 wrong usage; 130 stopped by Ctrl-C.

    Example: `referee demo --game kingdomino --bots greedy,builder`
    """
    need("demo", "server")
    try:
        players = players_of(game, bots)
    except ValueError as error:
        raise Failure(str(error), EXIT_USAGE) from None
    raise Exit(run(Console(), game, players, seed, out))
