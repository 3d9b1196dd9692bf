"""``referee new``: an organiser opens a game, or all games of a round."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from cyclopts import Group, Parameter
from cyclopts.validators import Number

from referee.cli.shared import output
from referee.cli.shared.arguments import CardLanguage, check_language, public_key, web_origin
from referee.cli.shared.components import components as own_components
from referee.cli.shared.components import default_components
from referee.cli.shared.failure import EXIT_USAGE, Failure
from referee.cli.shared.names import given_names
from referee.cli.shared.openings import (
    LINKS_UNREACHABLE,
    UNREACHABLE,
    Office,
    TableTerms,
    joins_and_links,
    new_file,
    new_sheet,
    seats_text,
    tokens_of,
)
from referee.cli.shared.pairings import read_pairings, told
from referee.cli.shared.remote import Addresses, Operated, is_reached_from_elsewhere
from referee.games import registry
from referee.log.errors import LogError
from referee.log.replay import Record
from referee.telling.game_file import GameFile
from referee.text.notation.times import in_words
from referee.text.words.catalogue import ENGLISH
from referee.v1 import game_service_pb2 as pb
from referee_clients.join import format_join
from referee_clients.sdk.channel import is_loopback
from referee_clients.sdk.opening import DEFAULT_RULES, Proofs, Wishes, game_of, options_of_games
from referee_clients.web.cards import Card


@Parameter(name="*", group=Group.create_ordered("The game"))
@dataclass(frozen=True, kw_only=True, slots=True)
class Played:
    """The options of what is played."""

    seats: Annotated[
        int | None,
        Parameter(help="Number of seats.", show_default="the game's minimum", validator=Number(gte=1)),
    ] = None
    rules: Annotated[
        str | None,
        Parameter(help=f"Which game: {', '.join(registry.names())}.", show_default=DEFAULT_RULES),
    ] = None
    options: Annotated[
        str | None,
        Parameter(
            metavar="JSON",
            help=f"""The game's options, such as '{{"max_turns": 200}}'. {options_of_games()}.""",
        ),
    ] = None
    components: Annotated[
        Path | None,
        Parameter(
            metavar="FILE",
            help="Your own dominoes or sheet, as JSON in the form that --show-components prints. The "
            "grid of a sheet begins with blue 1 and yellow 1 to 6, whichever dice stand for the "
            "rows on the printed sheet.",
        ),
    ] = None
    show_components: Annotated[
        bool,
        Parameter(
            help="Print the game's default components as JSON, without opening a game.",
        ),
    ] = False
    series: Annotated[
        bool,
        Parameter(help="Make this game the first of a series, such as a dynasty."),
    ] = False
    series_of: Annotated[
        Path | None,
        Parameter(
            metavar="FILE",
            help="Continue the series of a previous game, given by its file. Rules, seats, options "
            "and components stay the same.",
        ),
    ] = None


@Parameter(name="*", group=Group.create_ordered("The seats"))
@dataclass(frozen=True, kw_only=True, slots=True)
class Seats:
    """The options of who plays, and of who acts beside the players."""

    age_order: Annotated[
        str | None,
        Parameter(
            metavar="SEATS",
            help="Seats from the youngest player to the oldest, such as 2,0,1, in a game that asks "
            "for it; by default 0,1,2,…",
        ),
    ] = None
    principal: Annotated[
        list[str] | None,
        Parameter(
            metavar="NAME",
            help="Principal with its own token (`referee token`) who takes the seat, or - for a seat "
            "that gets a join string. Give it once for each seat, in order.",
        ),
    ] = None
    names: Annotated[
        str | None,
        Parameter(
            metavar="NAMES",
            help="The players' names in order of play, with commas between, or a file with a name a line. The game "
            "commits to them, so that everybody can check who won; they are in no log.",
        ),
    ] = None
    declare: Annotated[
        str | None,
        Parameter(
            metavar="KEY",
            help="Public key (hex or key file) of the scribe who declares draws and rolls.",
        ),
    ] = None
    scribed: Annotated[
        list[int] | None,
        Parameter(metavar="SEAT", help="Seat whose moves the scribe enters. Repeatable."),
    ] = None
    scribe: Annotated[
        list[str] | None,
        Parameter(
            metavar="KEY",
            help="Public key of a further scribe for scribed seats. Repeatable.",
        ),
    ] = None
    arbiter_key: Annotated[
        list[str] | None,
        Parameter(
            metavar="KEY",
            help="Public key (hex or key file) of an arbiter, who may rule on anything. Repeatable; numbered from 0.",
        ),
    ] = None


@Parameter(name="*", group=Group.create_ordered("The tournament"))
@dataclass(frozen=True, kw_only=True, slots=True)
class InTournament:
    """The options of where a game belongs."""

    event: Annotated[
        int | None,
        Parameter(
            metavar="N",
            help="Number of the event that the game belongs to.",
            validator=Number(gte=0),
        ),
    ] = None
    round_: Annotated[int | None, Parameter(metavar="N", help="Its round.", validator=Number(gte=0))] = None
    table: Annotated[int | None, Parameter(metavar="N", help="Its table.", validator=Number(gte=0))] = None
    pairings: Annotated[
        Path | None,
        Parameter(
            name="--from",
            metavar="FILE",
            help="Open a game for each row of this table (CSV) of a round; the options here hold for every row.",
        ),
    ] = None
    dry_run: Annotated[
        bool,
        Parameter(
            help="With --from: check the file and print what would be opened.",
        ),
    ] = False


@Parameter(name="*", group=Group.create_ordered("What is handed out"))
@dataclass(frozen=True, kw_only=True, slots=True)
class HandedOut:
    """The options of what players get."""

    out: Annotated[
        Path | None,
        Parameter(
            metavar="PATH",
            help="Write the join strings to this new file, readable only by you; with --from to a file for each "
            "table in this folder.",
        ),
    ] = None
    web: Annotated[
        str | None,
        Parameter(
            metavar="ORIGIN",
            help="Where browsers reach the referee's pages, such as https://club.example: every seat gets a link, too.",
            show_default="the address that DIR remembers from referee serve --web",
        ),
    ] = None
    sheet: Annotated[
        Path | None,
        Parameter(
            metavar="FILE",
            help="Make this new page (HTML), readable only by you, to print and cut up: a card for each seat with a QR "
            "code of its link, or of its join string. With --from one for the round.",
        ),
    ] = None
    language: CardLanguage = ENGLISH
    as_json: Annotated[bool, Parameter(name="--json", help="Print JSON.")] = False


def new(
    *,
    game: Played = Played(),
    seated: Seats = Seats(),
    tournament: InTournament = InTournament(),
    handed: HandedOut = HandedOut(),
    terms: TableTerms = TableTerms(),
    token_file: Annotated[
        Path | None,
        Parameter(metavar="FILE", help="The organiser's token, if it is not in DIR.", group="The referee"),
    ] = None,
    record_attempts: Annotated[
        bool,
        Parameter(help="Record refused moves as entries of the log.", group="The table"),
    ] = False,
    proofs: Annotated[
        Proofs,
        Parameter(
            help="Put certificates into the game's file: for recorded refusals, or for every verdict "
            "that the rules of building decide.",
            group="The table",
        ),
    ] = Proofs.NONE,
    home: Operated = Operated(),
) -> None:
    """Open a game: print its id and one join string per seat. Give each to its player: whoever has it takes the seat.

    A join string is for programs. With --web a link, for browsers, stands beside it; --sheet prints either on cards.

    With --from, open a game for each row of a table: the round of a tournament. Columns are `table` and, as needed,
    `event`, `round`, `seat 0`, `seat 1`, … with the players' names, `principal 0`, … and these options of the command:
    `rules`, `seats`, `options`, `age-order`, `clock`, `lag`, `illegal`, `absence`, `take-backs`, `protest-time`,
    `grace`. An empty cell is as the command's option says. No game is opened unless every row is in order, and none
    for an event, round and table that have one, unless that ended without a result. So the command can be repeated.

    Exit codes: 0 opened; 1 the referee cannot be reached, or refuses; 2 wrong usage.

    Examples: `referee new --seats 3 --age-order 2,0,1`, `referee new --rules kingdomino --options '{"dynasty": true}'
    --series`, `referee new --series-of first.gamelog`, `referee new --seats 4 --declare scribe.pem --scribed 1
    --scribed 3 --out joins.txt`, `referee new --from pairings.csv --event 7 --round 2 --clock 5m+3s --out joins
    --web https://club.example --sheet round-2.html`,
    `referee new --clock "10m+5s" --illegal strikes:3 --absence 2m --arbiter-key arbiter.pem --protest-time 10m`
    """
    if game.show_components:
        print(default_components(game_of(game.rules, game.seats, None)[0]))
        return
    wishes = Wishes(
        rules=game.rules,
        seats=game.seats,
        age_order=seated.age_order,
        principals=seated.principal or [],
        names=[] if seated.names is None else given_names(seated.names),
        options=game.options,
        components=None if game.components is None else partial(own_components, file=game.components),
        series=game.series,
        previous=None if game.series_of is None else game_before(game.series_of),
        declare=None if seated.declare is None else public_key(f"--declare {seated.declare}", seated.declare),
        scribed=seated.scribed or [],
        scribes=[public_key(f"--scribe {key}", key) for key in seated.scribe or []],
        illegal=[*(terms.illegal or []), *(["record"] if record_attempts else [])],
        proofs=proofs,
        clock=terms.clock,
        lag=terms.lag,
        absence=terms.absence,
        take_backs=terms.take_backs,
        protest_time=terms.protest_time,
        grace=terms.grace,
        arbiter_keys=[public_key(f"--arbiter-key {key}", key) for key in seated.arbiter_key or []],
        event=tournament.event,
        round=tournament.round_,
        table=tournament.table,
    )
    if tournament.dry_run and tournament.pairings is None:
        raise Failure("--dry-run checks a table of pairings; expected --from FILE with it", EXIT_USAGE)
    check_language(handed.language, handed.sheet, "--sheet", "web")
    tables = None if tournament.pairings is None else read_pairings(tournament.pairings, wishes)
    request = wishes.request() if tables is None else None
    address = home.address
    token = home.token(token_file, needed=False if tournament.dry_run else None)
    secured = home.transport.security(address, token)
    remembered = Addresses.remembered(home.data) if home.server is None else None
    public = address if remembered is None else remembered.public
    pages = web_origin("--web", handed.web) if handed.web is not None else "" if remembered is None else remembered.web
    office = Office(address, public, pages, token, secured)
    with new_sheet(None if tournament.dry_run else handed.sheet, handed.language) as cards:
        if tables is not None:
            opened = asyncio.run(office.open_round(tables, handed.out, cards, dry_run=tournament.dry_run))
            lines = [json.dumps(opened, indent=2)] if handed.as_json else told(opened)
            output.write("".join(f"{line}\n" for line in lines))
        elif request is not None:
            # Before the game is opened, as its join strings are sent only once.
            with new_file(handed.out) as file:
                created = asyncio.run(office.open_game(request))
                cards.extend(office.cards(created, wishes.names))
                if file is not None:
                    file.write(seats_text(created, cards))
            print(_as_json(created, cards) if handed.as_json else _as_text(created, cards, handed.out))
            _tell_the_rest(request, created, public)
    if tournament.dry_run:
        return
    if handed.sheet is not None:
        print(
            f"{len(cards)} cards in {handed.sheet}" if cards else f"{handed.sheet}: not made, as no seat got a token",
            file=sys.stderr,
        )
    if not is_reached_from_elsewhere(public):
        print(UNREACHABLE.format(public), file=sys.stderr)
    if any(card.link for card in cards) and is_loopback(urlsplit(pages).hostname or ""):
        print(LINKS_UNREACHABLE.format(pages), file=sys.stderr)


def _tell_the_rest(request: pb.CreateGameRequest, created: pb.CreateGameResponse, public: str) -> None:
    for seat, name in enumerate(request.principals):
        if name:
            join = format_join(public, created.game.id, seat, "TOKEN")
            print(f"seat {seat}: {join} with the token of {name}", file=sys.stderr)
    if absence_ms := request.terms.absence_ms:
        print(f"a seat that has not joined in {in_words(absence_ms)} forfeits (TBL-38)", file=sys.stderr)


def _as_text(created: pb.CreateGameResponse, cards: Sequence[Card], out: Path | None) -> str:
    lines = [f"game {created.game.id}", f"verifier key {created.verifier_key}"]
    if out is not None:
        lines.append(f"join strings in {out}")
    else:
        for card in cards:
            lines += [f"seat {card.seat}: {card.join}", *([f"        {card.link}"] if card.link else [])]
        lines += [f"{role}: {token}" for role, token in tokens_of(created).items() if token]
    return "\n".join(lines)


def _as_json(created: pb.CreateGameResponse, cards: Sequence[Card]) -> str:
    value = {
        "game": created.game.id,
        "verifier_key": created.verifier_key,
        **joins_and_links(cards),
        **{f"{role}_token": token for role, token in tokens_of(created).items()},
    }
    return json.dumps(value, indent=2)


def game_before(file: Path) -> Record:
    """Return the game that another one is to follow, read from its file to the last entry. Raise ``Failure``."""
    try:
        with file.open("rb") as stream:
            game_file = GameFile.read(stream)
    except OSError as error:
        raise Failure(f"--series-of {file}: {error.strerror}", EXIT_USAGE) from None
    except LogError as error:
        raise Failure(f"--series-of {file}: {error}", EXIT_USAGE) from None
    record = game_file.record
    if not game_file.ended or record.game.end is None:
        raise Failure(f"--series-of {file}: expected the file of a game that is over", EXIT_USAGE)
    if not record.opened.HasField("series"):
        raise Failure(
            f"--series-of {file}: this game is not part of a series; expected one opened with --series", EXIT_USAGE
        )
    return record
