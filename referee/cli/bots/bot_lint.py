"""``referee bot-lint``: a quick look at a bot, without a game."""

from __future__ import annotations

import asyncio
import json
from asyncio import timeout
from contextlib import aclosing
from tempfile import TemporaryFile
from typing import Annotated

import typer

from referee.cli.shared import output
from referee.cli.shared.failure import EXIT_FAILED, EXIT_USAGE, Failure
from referee.console import printable
from referee.games import registry
from referee_clients.bot_check.apart import EndedEarly, told_by
from referee_clients.bot_check.lint import RULES

EXIT_FOUND = 3
_WAIT_S = 120.0
_LOOK = "referee_clients.bot_check.lint"


def bot_lint(
    bot: Annotated[
        str,
        typer.Argument(help="A name, module:attribute or 'exec:COMMAND' as for `referee bot`.", show_default=False),
    ],
    game: Annotated[str, typer.Option(help=f"One of {', '.join(registry.names())}.", show_default=False)],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Look at a bot without playing: imports, signatures, determinism, state that games share.

    It is imported, and asked for the first moves of two games, in a process of its own, which runs as you.

    Exit codes: 0 nothing was found; 1 it could not be looked at; 2 wrong usage, or no such bot; 3 something was found.

    Example: `referee bot-lint mybot:Bot --game kingdomino`
    """
    if game not in registry.names():
        raise Failure(f"--game {game}: expected one of {', '.join(registry.names())}", EXIT_USAGE)
    found = asyncio.run(_found(bot, game))
    if as_json:
        rows = [{**each, "rule": RULES[each["id"]].rule, "page": RULES[each["id"]].page} for each in found]
        output.write(json.dumps({"bot": bot, "game": game, "found": rows}, indent=2) + "\n")
    else:
        for each in found:
            rule = RULES[each["id"]]
            print(f"{rule.id}: {printable(each['told'])}\n  {rule.rule} See docs/{rule.page}")
        print(f"{len(found)} found" if found else "nothing was found")
    if found:
        raise typer.Exit(EXIT_FOUND)


async def _found(bot: str, game: str) -> list[dict[str, str]]:
    """Return what is found, by id. Raise ``Failure``."""
    found = []
    with TemporaryFile() as printed:
        try:
            async with timeout(_WAIT_S), aclosing(told_by(_LOOK, [bot, game], printed)) as answers:
                async for told in answers:
                    if "unknown" in told:
                        raise Failure(told["unknown"], EXIT_USAGE)
                    found.append(told)
        except TimeoutError:
            raise Failure(f"the bot gave no answer within {_WAIT_S:.0f} s", EXIT_FAILED) from None
        except EndedEarly as ended:
            printed.seek(0)
            last = printed.read().decode(errors="replace").strip().rpartition("\n")[2]
            why = f"the bot ended the process that looked at it: {ended}"
            raise Failure(why + (f": {printable(last)}" if last else ""), EXIT_FAILED) from None
    return found
