"""``referee event open``: the games of a round, at a referee."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Annotated

import typer

from referee.cli.shared import output
from referee.cli.shared.addresses import Addresses
from referee.cli.shared.arguments import CardLanguage, check_language, public_key, web_origin
from referee.cli.shared.event_editing import EventPath, TokenFile, editing
from referee.cli.shared.failure import EXIT_USAGE, Failure
from referee.cli.shared.office import Office, new_sheet
from referee.cli.shared.pairings import told
from referee.cli.shared.remote import DATA, Data, SendInClear, TlsCa, TlsCert, TlsKey, security, token_of
from referee.cli.shared.terms import Absence, Clock, Grace, Illegal, Lag, ProtestTime, TakeBacks
from referee.cli.tournament.event_network import GamesServer, check_game, opened_now, server_of_games, tables_to_open
from referee.games.game import InputError
from referee.log.identity import GAME_ID_TEXT, parse_game_id
from referee.server.service.files import TOKEN_FILE
from referee.text.notation.violations import BadWord
from referee.text.words.catalogue import ENGLISH
from referee.tournament.game_logs import Where
from referee.tournament.organiser import newest_round
from referee.tournament.rules.acts import OpenTable
from referee.tournament.typed import table_of
from referee.tournament.words import lines
from referee_clients.sdk.opening import Wishes, options_of_games


def open_(  # noqa: PLR0917 - typer reads options from the signature
    file: EventPath,
    table: Annotated[str, typer.Argument(metavar="[TABLE]", help="With GAME: the table, by its number or slip.")] = "",
    game: Annotated[
        str, typer.Argument(metavar="[GAME]", help="The whole id of a game that is open already, for this table.")
    ] = "",
    joins: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Make join strings, in a file for each table in this folder, for players without tokens of their own.",
        ),
    ] = None,
    web: Annotated[
        str | None,
        typer.Option(
            metavar="ORIGIN",
            help="With --joins: where browsers reach the referee's pages, such as https://club.example; every seat "
            "gets a link, too.",
            show_default="what DIR remembers of referee serve --web",
        ),
    ] = None,
    sheet: Annotated[
        Path | None, typer.Option(metavar="FILE", help="With --joins: a new page with a card for each seat, to print.")
    ] = None,
    language: CardLanguage = ENGLISH,
    options: Annotated[
        str | None, typer.Option(metavar="JSON", help=f"The games' options. {options_of_games()}.")
    ] = None,
    clock: Clock = None,
    lag: Lag = None,
    illegal: Illegal = None,
    absence: Absence = None,
    take_backs: TakeBacks = False,
    protest_time: ProtestTime = None,
    grace: Grace = None,
    arbiter_key: Annotated[
        list[str] | None, typer.Option(metavar="KEY", help="Public key of an arbiter of all games. Repeatable.")
    ] = None,
    server: GamesServer = None,
    data: Data = DATA,
    token_file: TokenFile = None,
    tls_ca: TlsCa = None,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
    insecure: SendInClear = False,
) -> None:
    """Open a game at a referee for each table of the published round, and name it in the event.

    Seats are for the entrants' own tokens: `referee token issue --event EVENT --entrant NUMBER` makes one that takes
    every seat of its entrant in this event. With --joins each is for the player who has its join string.

    The command can be repeated, also after it was stopped in the middle: only games that are missing are opened.

    With TABLE and GAME a game that is open already is named: one of `referee new --event` for this table, or one that
    was opened for no event.
    """
    wishes = Wishes(
        options=options,
        illegal=illegal or [],
        clock=clock,
        lag=lag,
        absence=absence,
        take_backs=take_backs,
        protest_time=protest_time,
        grace=grace,
        arbiter_keys=[public_key(f"--arbiter-key {key}", key) for key in arbiter_key or []],
    )
    if bool(table) != bool(game):
        raise Failure("GAME: none; expected one with TABLE, or neither", EXIT_USAGE)
    if (web or sheet) and joins is None:
        raise Failure("--web and --sheet are for join strings; expected --joins DIR with them", EXIT_USAGE)
    check_language(language, sheet, "--sheet", "web")
    with editing(file) as event:
        if game:
            number = newest_round(event.log.state)
            if (game_id := parse_game_id(game)) is None:
                raise InputError("GAME", repr(game[:40]), GAME_ID_TEXT)
            at = table_of("TABLE", table, event.log.event_id, number)
            address = server or server_of_games(event, data)
            secured = security(address, tls_ca, tls_cert, tls_key, insecure)
            where = Where(event.log.event_id, number, at)
            asyncio.run(check_game(address, secured, event.log.state, where, game_id))
            event.log.enter(OpenTable(number, at, game_id))
            said = [f"round {number}, table {at}: game {game}"]
        else:
            address = server or server_of_games(event, data)
            token = token_of(token_file or data / TOKEN_FILE, needed=tls_cert is None or token_file is not None)
            secured = security(address, tls_ca, tls_cert, tls_key, insecure, token)
            remembered = Addresses.remembered(data)
            public = address if remembered is None or remembered.here != address else remembered.public
            pages = web_origin("--web", web) if web is not None else "" if remembered is None else remembered.web
            try:
                tables = tables_to_open(event, wishes, with_joins=joins is not None)
            except BadWord as error:
                raise Failure(str(error), EXIT_USAGE) from None
            with new_sheet(sheet, language) as cards:
                office = Office(address, public, pages, token, secured)
                found = asyncio.run(office.open_round(tables, joins, cards, dry_run=False))
            for each in opened_now(event.log.state, found):
                event.log.enter(each)
            said = told(found)
            if sheet is not None:
                print(f"{len(cards)} cards in {sheet}", file=sys.stderr)
    output.write(lines(said))
