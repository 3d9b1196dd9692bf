"""``referee event pair``, ``publish``, ``result``, ``sign`` and the other commands about rounds."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Annotated, Final

from cyclopts import Parameter
from cyclopts.validators import Number

from referee.cli.shared import output
from referee.cli.shared.arguments import check_language, verifier_key
from referee.cli.shared.failure import EXIT_USAGE, Exit, Failure
from referee.cli.shared.remote import DATA, Data, Transport
from referee.cli.shared.table import Yes, confirm
from referee.cli.shared.tournament import EventPath, Reason, SignedBy, editing, opened
from referee.cli.tournament.network import GAMES_SUFFIX, GamesServer, Taking, server_of_games, verifier_of_games
from referee.console import printable
from referee.games.game import InputError
from referee.text.words.catalogue import ENGLISH, Words, languages, load
from referee.tournament.game_logs import Where, from_log
from referee.tournament.input import (
    MOST_BYTES,
    numbers,
    parts,
    read_result,
    result_lines,
    result_of,
    table_of,
    tables_of,
)
from referee.tournament.names import Names
from referee.tournament.organiser import close as close_event
from referee.tournament.organiser import draw_first, newest_round
from referee.tournament.organiser import pair as pair_round
from referee.tournament.organiser import plan as plan_rounds
from referee.tournament.rules import State, acts
from referee.tournament.words import lines, quality_lines, standing_lines, table_lines, why_lines

_Table = Annotated[
    str,
    Parameter(name="TABLE", help="The table's number, or what the code on its slip says.", show_default=False),
]
_Round = Annotated[
    int | None,
    Parameter(name="--round", metavar="N", help="The round; without it the newest.", validator=Number(gte=1)),
]
_Places = Annotated[
    str,
    Parameter(name="PLACES", help="Places by seat, such as 2,1,3,3; equal is a draw, 0 was not there."),
]
_Scores = Annotated[
    str, Parameter(name="--scores", metavar="LIST", help="Points of the game by seat. Places follow from them.")
]
_Forfeited = Annotated[str, Parameter(name="--forfeited", metavar="LIST", help="Seats that forfeited, from 0.")]
_Log = Annotated[
    Path | None, Parameter(name="--log", metavar="GAMELOG", help="The log of the game, which gives all of it.")
]

_ANY_REFEREE: Final = (
    "note: the key of the games' referee is not known: their signatures may be any referee's. Compare them with "
    "`referee event check --games DIR --games-key VKEY`"
)


def pair(
    file: EventPath,
    /,
    *,
    dry_run: Annotated[bool, Parameter(help="Show the pairing with its reasons; enter nothing.")] = False,
    tables: Annotated[
        str, Parameter(metavar="TABLES", help="Pair by hand: tables in the order of seats, such as 1,4,2,7; 3,5,6.")
    ] = "",
    byes: Annotated[str, Parameter(metavar="LIST", help="With --tables: who has the bye.")] = "",
    external: Annotated[str, Parameter(metavar="PROGRAM", help="With --tables: the program whose pairing it is.")] = "",
    reason: Reason = "",
    language: Annotated[
        str,
        Parameter(
            metavar="LANG",
            help=f"With --dry-run: the language of the pairing and its reasons: {', '.join(languages('report'))}.",
        ),
    ] = ENGLISH,
) -> None:
    """Pair the next round, and show tables, quality, and the least spread that is possible.

    The round before is closed first. Round 1 closes entries and draws the lots. Until it is published, a round can be
    paired again. A pairing of your own needs --reason, and the engine's is recorded beside it.
    """
    check_language(language, dry_run or None, "--dry-run")
    say = load("report", language)
    with opened(file) as event:
        by_hand = tables_of("--tables", tables) if tables else ()
        out = numbers("--byes", byes) if byes else ()
        before, made = pair_round(event.log, event.seed, tables=by_hand, byes=out, reason=reason, program=external)
        told = _told(before, made, event.names, say, with_reasons=dry_run)
        if not dry_run:
            event.save()
    head = say("pairing.head", n=made.round, origin=say(f"origin.{made.origin.name.lower()}"))
    done = say("pairing.dry") if dry_run else "`referee event publish` makes it count"
    output.write(lines([*([say("draft")] if say.is_draft else []), head, *told, done]))


def _told(before: State, made: acts.Pair, names: Names, say: Words, *, with_reasons: bool) -> list[str]:
    why = [f"  {line}" for line in why_lines(before, made, names, say)] if with_reasons else []
    return [
        *table_lines(made, names, say),
        *quality_lines(made, say),
        *([say("pairing.why"), *why] if why else []),
    ]


def plan(
    file: EventPath,
    /,
    *,
    rounds: Annotated[
        int | None,
        Parameter(metavar="N", help="How many rounds; by default all that are left.", validator=Number(gte=1)),
    ] = None,
    round_: Annotated[
        int | None, Parameter(metavar="N", help="With --tables: the round.", validator=Number(gte=1))
    ] = None,
    tables: Annotated[
        str, Parameter(metavar="TABLES", help="A plan of your own for one round, such as 1,2,3; 4,5,6.")
    ] = "",
) -> None:
    """Plan the seating of rounds in advance, so that no two players meet twice: for small events.

    A planned round is paired so if exactly these players are there; otherwise by the standing. Like `pair`, this closes
    entries and draws the lots if that was not done.
    """
    with editing(file) as event:
        if tables:
            number = round_ or event.log.state.next_round
            event.log.enter(acts.Plan(number, tables_of("--tables", tables)))
            done = f"round {number} is planned"
        else:
            draw_first(event.log, event.seed)
            state = event.log.state
            last = plan_rounds(event.log, rounds)
            done = f"rounds {state.next_round} to {last} are planned"
    print(done)


def publish(file: EventPath, /) -> None:
    """Publish the pairing: from now on it counts."""
    with editing(file) as event:
        round_ = event.log.state.round
        number = round_.number if round_ is not None else 1
        event.log.enter(acts.Publish(number))
        told = (
            [] if round_ is None else [f"{n}: {', '.join(map(str, table))}" for n, table in enumerate(round_.tables, 1)]
        )
    output.write(lines([f"round {number} is published: {len(told)} tables"]))


def result(
    file: EventPath,
    table: Annotated[str, Parameter(name="TABLE", help="As on its slip, or its number.")] = "",
    places: _Places = "",
    /,
    *,
    scores: _Scores = "",
    forfeited: _Forfeited = "",
    log: _Log = None,
    every: Annotated[
        bool,
        Parameter(
            name="--all", help="Take the results of all games that are over from the referee, and audit their logs."
        ),
    ] = False,
    games: Annotated[
        Path | None,
        Parameter(metavar="DIR", help="With --all: where the logs are kept.", show_default="NAME.games"),
    ] = None,
    games_key: Annotated[
        str | None,
        Parameter(
            metavar="VKEY",
            help="With --all: the verifier key of the games' referee.",
            show_default="that of the referee that keeps the event",
        ),
    ] = None,
    server: GamesServer = None,
    data: Data = DATA,
    transport: Transport = Transport(),
    key: SignedBy = None,
) -> None:
    """Enter what a table of the newest round came to: places, points of the game, or the game's log.

    With --all the referee is asked for every game of the round: of those that are over, the logs are fetched, audited,
    compared with the round, and pinned by id, size and root. The others are named, and the exit code is 1 as long as
    there are some; the command can be repeated.
    """
    if every:
        if table or places or scores or forfeited or log:
            raise Failure("--all takes all results from the referee; expected no other", EXIT_USAGE)
        with opened(file, key) as event:
            at = server or server_of_games(event, data)
            secured = transport.security(at)
            known = verifier_of_games(event) if games_key is None else verifier_key("--games-key", games_key)
            if known is None:
                print(_ANY_REFEREE, file=sys.stderr)
            taking = Taking(event, at, secured, games or file.with_suffix(GAMES_SUFFIX), known)
            told, results = asyncio.run(taking.find())
            with event.entering():
                for each in results:
                    event.log.enter(each)
        output.write(lines(map(str, told)))
        raise Exit(0 if len(results) == len(told) else 1)
    with editing(file, key) as event:
        number = newest_round(event.log.state)
        seated = table_of("TABLE", table, event.log.event_id, number)
        found = _result(event.log.state, Where(event.log.event_id, number, seated), (places, scores, forfeited), log)
        event.log.enter(acts.EnterResult(number, seated, found))
        left = event.log.state.rounds[number - 1].undecided
    rest = f"; still without: {', '.join(map(str, left))}" if left else "; that was the last of the round"
    print(f"entered: round {number}, table {seated}, places {', '.join(map(str, found.places))}{rest}")


def amend(
    file: EventPath,
    table: _Table,
    places: _Places = "",
    /,
    *,
    reason: Reason,
    scores: _Scores = "",
    forfeited: _Forfeited = "",
    log: _Log = None,
    round_: _Round = None,
    key: SignedBy = None,
) -> None:
    """Put another result in the place of one that was entered. Rounds that were paired since stay as they are."""
    with editing(file, key) as event:
        number = round_ or newest_round(event.log.state)
        at = table_of("TABLE", table, event.log.event_id, number)
        found = _result(event.log.state, Where(event.log.event_id, number, at), (places, scores, forfeited), log)
        event.log.enter(acts.Amend(number, at, found, reason))
    print(f"amended: round {number}, table {at}")


def award(
    file: EventPath,
    entrant: Annotated[str, Parameter(name="ENTRANT", help="Number or name.", show_default=False)],
    points: Annotated[str, Parameter(name="POINTS", help="Such as 3, 2.5 or 5/3.")],
    /,
    *,
    reason: Reason,
    round_: _Round = None,
    key: SignedBy = None,
) -> None:
    """Give a player points for a round, instead of what the table gives: an arbiter's ruling."""
    with editing(file, key) as event:
        number = round_ or newest_round(event.log.state)
        event.log.enter(acts.Award(number, event.names.find(entrant), parts("POINTS", points), reason))
    print(f"entered: {points} points in round {number}")


def void(file: EventPath, table: _Table, /, *, reason: Reason, key: SignedBy = None) -> None:
    """Rule that a table of the newest round does not count; award points if you mean to."""
    with editing(file, key) as event:
        number = newest_round(event.log.state)
        at = table_of("TABLE", table, event.log.event_id, number)
        event.log.enter(acts.Void(number, at, reason))
    print(f"entered: round {number}, table {at} does not count")


def reopen(file: EventPath, /, *, reason: Reason, key: SignedBy = None) -> None:
    """Rule that the published round is paired again. Its results are gone."""
    with editing(file, key) as event:
        number = newest_round(event.log.state)
        event.log.enter(acts.Reopen(number, reason))
    print(f"round {number} is to be paired again")


def close(
    file: EventPath,
    /,
    *,
    abandon: Annotated[bool, Parameter(help="End it though rounds are left; needs --reason.")] = False,
    reason: Reason = "",
) -> None:
    """Close the last round and the event, and print the final standings."""
    with editing(file) as event:
        if abandon:
            event.log.enter(acts.Abandon(reason))
        else:
            close_event(event.log)
        told = list(standing_lines(event.log.state, event.names))
    output.write(lines([*told, f"{printable(str(file))}: the event is over"]))


def _result(state: State, where: Where, sheet: tuple[str, str, str], log: Path | None) -> acts.Result:
    """``sheet``: places, scores, and who forfeited. Raise ``InputError``."""
    if log is not None:
        if any(sheet):
            raise InputError("--log", "places or points beside it", "the log alone, which has them")
        found = from_log(log, state, where)
        print(_ANY_REFEREE, file=sys.stderr)
        return found
    return result_of(*sheet, as_options=True)


def sign(
    file: EventPath,
    result: Annotated[
        Path, Parameter(name="RESULT", help="The result, as the page /event saves it.", show_default=False)
    ],
    /,
    *,
    yes: Yes = False,
    key: SignedBy = None,
) -> None:
    """Enter a result that was saved on the page of the event.

    The command shows what the bytes say that it is going to sign; nothing else in the file counts.
    """
    with editing(file, key) as event, result.open("rb") as saved:
        act = read_result(saved.read(MOST_BYTES + 1), event.log.record.game_id, event.log.state)
        confirm([*map(printable, result_lines(event.log.state, act, event.names))], sure=yes)
        event.log.enter(act)
    print(f"entered: round {act.round}, table {act.table}")
