"""``referee bot-check``: a bot is asked in positions that seldom come, and played against over a way that breaks."""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio import timeout
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path
from tempfile import TemporaryFile
from typing import Annotated

from cyclopts import ArgumentCollection, Parameter
from cyclopts.validators import Number
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import Progress, TaskID
from rich.table import Table
from rich.text import Text

from referee.cli.shared import output
from referee.cli.shared.commands import Given, options_typed
from referee.cli.shared.failure import EXIT_FAILED, EXIT_USAGE, Exit, Failure, need
from referee.console import printable
from referee.games import registry
from referee.games.game import UnknownRules
from referee_clients.bot_check.catalogue import ASKED, CATALOGUE, Result, Status, as_json, as_junit, has_failed
from referee_clients.bot_check.child import EndedEarly, told_by
from referee_clients.bot_check.lint import RULES
from referee_clients.bot_check.run import How, check, checks_of
from referee_clients.bot_check.subject import Subject, named
from referee_clients.bots import UnknownBot, load, names
from referee_clients.bots.bot import BrokenBot
from referee_clients.bots.program import Program, ProgramFailed
from referee_clients.children import ChildFailed
from referee_clients.sdk.opening import milliseconds

EXIT_FOUND = 3
_COLOURS = {Status.PASSED: "green", Status.FAILED: "bold red", Status.SKIPPED: "dim"}


def bot_check(
    bot: Annotated[
        str,
        Parameter(
            help="A name, module:attribute or 'exec:COMMAND' as for `referee bot`; or 'grpc:COMMAND' for a client of "
            "its own. In its words {join} is a file with the join string, {key} a file for the seat's key, {verifier} "
            "the referee's verifier key; REFEREE_JOIN has the join string, too.",
            show_default=False,
        ),
    ],
    /,
    *,
    given: Given,
    game: Annotated[
        list[str] | None,
        Parameter(help="Check it in this game; may be repeated.", show_default="every game that it plays"),
    ] = None,
    games: Annotated[
        int, Parameter(metavar="N", help="Play this many random games with it first.", validator=Number(gte=1))
    ] = 10,
    p99: Annotated[str, Parameter(metavar="TIME", help="99 of 100 moves may take this long.")] = "1s",
    move_limit: Annotated[str, Parameter(metavar="TIME", help="No move may take longer.")] = "10s",
    only: Annotated[
        list[str] | None,
        Parameter(metavar="ID", help="Make this check alone; may be repeated.", show_default="all"),
    ] = None,
    junit: Annotated[
        Path | None, Parameter(metavar="FILE", help="Write the results as JUnit XML as well.", show_default=False)
    ] = None,
    lint: Annotated[
        bool,
        Parameter(help="Only look at the bot, without playing: takes seconds, in one game."),
    ] = False,
    as_json_: Annotated[bool, Parameter(name="--json", help="Print one JSON document instead of the table.")] = False,
) -> None:
    """Check a bot: in rare positions, and in games at a referee of its own, where everything goes wrong that may.

    Takes about a minute for each game. The bot runs as you: check only what you trust.

    Exit codes:

    - 0 every check passed, but for those that were skipped
    - 1 the checks could not be made, or the bot plays no game that there is
    - 2 wrong usage: no such bot, game or check, or a check that there is not for this bot
    - 3 a check failed, or the bot does not start

    Examples: `referee bot-check mybot:Bot --game kingdomino`, `referee bot-check 'exec:./mybot'`, `referee bot-check
    'grpc:node bot.mjs --join @{join} --key {key}' --game alhambra --junit checks.xml`
    """
    if lint:
        _check_only_lint(given)
        if len(game or ()) != 1:
            raise Failure(f"--lint: in which game? expected one --game, of {', '.join(registry.names())}", EXIT_USAGE)
        _lint(bot, *game or (), as_json=as_json_)
        return
    p99_s, limit_s = milliseconds("p99", p99) / 1000, milliseconds("move-limit", move_limit) / 1000
    for unknown in set(only or ()) - set(CATALOGUE):
        raise Failure(f"--only {unknown}: no such check; expected one of {', '.join(CATALOGUE)}", EXIT_USAGE)
    try:
        checked = named(bot)
        chosen = _games(checked, game)
        how = How(games, p99_s, limit_s, wanted=only or (*CATALOGUE,))
        there = [check for each in chosen for check in checks_of(checked, each, how)]
        for missing in [check for check in only or () if check not in there]:
            raise Failure(f"--only {missing}: there is no such check of {bot} in {', '.join(chosen)}", EXIT_USAGE)
        if checked.is_client or not set(there) <= {*ASKED}:
            need("bot-check at a referee", "server")
        results: list[Result] = []
        with Progress(console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task("", total=len(there))
            for each in chosen:
                results += asyncio.run(_checked(checked, each, how, progress, task))
    except BrokenBot as error:
        raise Failure(f"the bot does not start: {printable(str(error))}", EXIT_FOUND) from None
    except UnknownBot as error:
        raise Failure(str(error), EXIT_USAGE) from None
    except ChildFailed as failed:
        raise Failure(f"the checks could not be made: {printable(str(failed))}", EXIT_FAILED) from None
    if as_json_:
        output.write(as_json(bot, results) + "\n")
    else:
        _show(bot, results)
    if junit is not None:
        try:
            junit.write_text(as_junit(bot, results), encoding="utf-8")
        except OSError as error:
            raise Failure(f"--junit {junit}: {error.strerror}") from None
    if has_failed(results):
        raise Exit(EXIT_FOUND)


async def _checked(bot: Subject, game: str, how: How, progress: Progress, task: TaskID) -> list[Result]:
    results = []
    progress.update(task, description=game)
    async with aclosing(check(bot, game, how)) as made:
        async for result in made:
            results.append(result)
            progress.update(task, advance=1, description=f"{game}: {result.check.id} {result.status.value}")
    order = list(CATALOGUE)
    return sorted(results, key=lambda result: order.index(result.check.id))


def _games(bot: Subject, given: Sequence[str] | None) -> Sequence[str]:
    """Return the games to check it in. Raise ``UnknownBot`` and ``Failure``."""
    if given:
        for game in given:
            try:
                registry.get(game)
            except UnknownRules:
                raise Failure(f"--game {game}: expected one of {', '.join(registry.names())}", EXIT_USAGE) from None
            if ":" not in bot.name:
                load(bot.name, game)  # which says what there is
        return tuple(dict.fromkeys(given))
    if bot.is_program:
        try:
            plays = Program(bot.name).plays()
        except ProgramFailed as failed:
            raise Failure(f"the bot does not start: {failed}", EXIT_FOUND) from None
        there = [game for game in registry.names() if plays is None or game in plays]
        if not there:
            told = ", ".join(map(printable, plays or ())) or "no game"
            raise Failure(f"nothing was checked: the bot plays {told}; expected one of {', '.join(registry.names())}")
        return there
    if ":" not in bot.name:
        return [game for game in registry.names() if bot.name in names(game)]
    raise Failure(f"in which game? expected --game, one of {', '.join(registry.names())}", EXIT_USAGE)


def _show(bot: str, results: Sequence[Result]) -> None:
    """Print a table for each game, then each failure with its rule and its page."""
    console = Console()
    for game in dict.fromkeys(result.game for result in results):
        shown = Table(title=f"{printable(bot)}, {game}", title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
        for heading in ("check", "result", "finding"):
            shown.add_column(heading, overflow="fold")
        for result in results:
            if result.game == game:
                status = Text(result.status.value, _COLOURS[result.status])
                told = "" if result.status is Status.FAILED else printable(result.told)
                shown.add_row(result.check.id, status, Text(told))
        console.print(shown)
    failed = [result for result in results if result.status is Status.FAILED]
    for result in failed:
        console.print(Text(f"{result.check.id}, {result.game}: {printable(result.told)}", "bold"), soft_wrap=True)
        console.print(Text(f"  {result.check.rule} See docs/{result.check.page}"), soft_wrap=True)
    passed = sum(result.status is Status.PASSED for result in results)
    skipped = len(results) - passed - len(failed)
    console.print(f"{passed} passed, {len(failed)} failed, {skipped} skipped", highlight=False)


_WAIT_S = 120.0
_LOOK = "referee_clients.bot_check.lint"
_OF_LINT = frozenset({"--game", "--lint", "--json"})
"""Parameters that a look without playing has."""


def bot_lint(
    bot: Annotated[
        str,
        Parameter(help="A name, module:attribute or 'exec:COMMAND' as for `referee bot`.", show_default=False),
    ],
    /,
    *,
    game: Annotated[str, Parameter(help=f"One of {', '.join(registry.names())}.", show_default=False)],
    as_json: Annotated[bool, Parameter(name="--json", help="Print one JSON document.")] = False,
) -> None:
    """Look at a bot without playing: imports, signatures, determinism, state that games share.

    It is imported, and asked for the first moves of two games, in a process of its own, which runs as you.

    Exit codes: 0 nothing was found; 1 it could not be looked at; 2 wrong usage, or no such bot; 3 something was found.

    Example: `referee bot-lint mybot:Bot --game kingdomino`
    """
    print("bot-lint is a part of bot-check: referee bot-check BOT --game GAME --lint", file=sys.stderr)
    _lint(bot, game, as_json=as_json)


def _check_only_lint(given: ArgumentCollection) -> None:
    """Raise ``Failure`` for options of the checks, of which a look makes none."""
    for name in options_typed(given):
        if name not in _OF_LINT:
            raise Failure(f"{name}: --lint makes no checks; leave this option out", EXIT_USAGE)


def _lint(bot: str, game: str, *, as_json: bool) -> None:
    """Print what a look at the bot finds. Raise ``Failure``, and ``Exit`` if it finds something."""
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
        raise Exit(EXIT_FOUND)


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
            why = f"the process that looked at the bot {ended}"
            raise Failure(why + (f": {printable(last)}" if last else ""), EXIT_FAILED) from None
    return found
