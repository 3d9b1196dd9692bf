"""``referee event new``, ``enter``, ``checkin`` and the other commands about entrants."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Final

from cyclopts import Parameter
from cyclopts.validators import Number

from referee.cli.shared.arguments import public_key
from referee.cli.shared.failure import EXIT_USAGE, Failure
from referee.cli.shared.names import warn_alike
from referee.cli.shared.remote import DATA, Data, Transport, token_of
from referee.cli.shared.tournament import EventPath, Reason, SignedBy, TokenFile, editing, failures
from referee.console import printable
from referee.games import registry
from referee.games.game import InputError
from referee.log.deck import SEED_BYTES
from referee.server.service.files import TOKEN_FILE
from referee.text.notation.outcomes import counted
from referee.tournament.file import SUFFIX, EventFile, new_seed
from referee.tournament.input import hexadecimal, numbers, parts, points_of, shares_of
from referee.tournament.names import listed
from referee.tournament.organiser import draw as draw_lots
from referee.tournament.organiser import enter_players
from referee.tournament.rules import Terms
from referee.tournament.rules.acts import Absent, Act, CheckIn, Expel, Forbid, Readmit, Withdraw
from referee.tournament.rules.position import share_commitment
from referee.tournament.rules.terms import DEFAULT_TIE_BREAKS, TieBreak
from referee_clients.sdk.tournament import EventKeeper

_Entrant = Annotated[str, Parameter(name="ENTRANT", help="Number or name.", show_default=False)]
_TIE_BREAKS: Final = {each.id: each for each in TieBreak}
_DEFAULT: Final = ",".join([each.id for each in DEFAULT_TIE_BREAKS])


def new(
    file: EventPath,
    /,
    *,
    rules: Annotated[str, Parameter(metavar="GAME", help=f"Which game: {', '.join(registry.names())}.")],
    sizes: Annotated[str, Parameter(metavar="LIST", help="Sizes of tables, best first, such as 4,3.")] = "4,3",
    rounds: Annotated[int, Parameter(metavar="N", help="Rounds before the cut.", validator=Number(gte=1))] = 5,
    points: Annotated[
        str, Parameter(metavar="POINTS", help="Points by place, for each size. Players who tie share them.")
    ] = "4: 5,3,2,1; 3: 5,3,1",
    tie_breaks: Annotated[
        str,
        Parameter(metavar="LIST", help=f"Tie-breaks, in the order in which they count: {', '.join(_TIE_BREAKS)}."),
    ] = _DEFAULT,
    bye_points: Annotated[str, Parameter(metavar="N", help="Points for a bye, at most a first place.")] = "0",
    late_until: Annotated[
        int | None,
        Parameter(
            metavar="ROUND",
            help="The last round that a late entrant can begin with; 0: no late entrants.",
            show_default="the last round",
            validator=Number(gte=0),
        ),
    ] = None,
    late_points: Annotated[str, Parameter(metavar="N", help="Points of a late entrant for each round before.")] = "0",
    forfeit_keeps_points: Annotated[
        bool, Parameter(help="A player who forfeits keeps the points of the place.")
    ] = False,
    cut: Annotated[
        int, Parameter(metavar="K", help="The K best advance to a knock-out; 0: none.", validator=Number(gte=0))
    ] = 0,
    cut_size: Annotated[int, Parameter(metavar="N", help="Seats at its tables.", validator=Number(gte=0))] = 0,
    cut_advance: Annotated[
        int, Parameter(metavar="N", help="How many of each of its tables advance.", validator=Number(gte=0))
    ] = 0,
    arbiter: Annotated[
        list[str] | None,
        Parameter(
            metavar="KEY",
            help="An arbiter's public key, or its file, such as that of a browser: it signs acts as yours does. "
            "Repeatable.",
        ),
    ] = None,
    server: Annotated[
        str | None,
        Parameter(
            metavar="ADDRESS",
            help="Begin it at this referee, which keeps it from then on; FILE is a copy. Without it, FILE is all there "
            "is.",
        ),
    ] = None,
    data: Data = DATA,
    token_file: TokenFile = None,
    transport: Transport = Transport(),
) -> None:
    """Begin an event, and fix its terms.

    Examples: `referee event new spring.eventlog --rules kingdomino --sizes 4,3 --rounds 5 --points "4: 5,3,2,1; 3:
    5,3,1"`, `referee event new spring.eventlog --rules kingdomino --server 127.0.0.1:50051 --data club`
    """
    arbiters = [public_key(f"--arbiter {word}", word) for word in arbiter or ()]
    keeper = None
    if server is not None:
        token = token_of(token_file or data / TOKEN_FILE, needed=transport.tls_cert is None or token_file is not None)
        keeper = EventKeeper(server, token, transport.security(server, token))
    with failures(file):
        if file.suffix != SUFFIX:
            raise InputError("FILE", str(file), f"a name that ends in {SUFFIX}")
        if rules not in registry.names():
            raise InputError("--rules", rules, f"one of {', '.join(registry.names())}")
        seed, commitment = new_seed()
        wanted = numbers("--sizes", sizes)
        terms = Terms(
            game=rules,
            sizes=wanted,
            rounds=rounds,
            points=points_of(points, wanted),
            commitment=commitment,
            tie_breaks=_tie_breaks(tie_breaks),
            bye_points=parts("--bye-points", bye_points),
            late_until=rounds if late_until is None else late_until,
            late_points=parts("--late-points", late_points),
            forfeit_keeps_points=forfeit_keeps_points,
            cut=cut,
            cut_size=cut_size,
            cut_advance=cut_advance,
        )
        event = EventFile.create(file, terms, seed, keeper, arbiters=arbiters)
    print(f"{printable(str(file))}: event {event.log.event_id}, {terms.name}")
    print(f"keys, seed and names: {printable(str(event.private))}, for you alone")
    print(f"verifier key {event.verifier}")
    for comment in terms.comments():
        print(f"note: {comment}")


def enter(
    file: EventPath,
    names: Annotated[list[str] | None, Parameter(name="NAME", help="Whom to enter.")] = None,
    /,
    *,
    csv: Annotated[
        Path | None, Parameter(metavar="LIST", help="A list: a name a line, or CSV with a column name.")
    ] = None,
    late: Annotated[
        int, Parameter(metavar="ROUND", help="The first round of a late entrant; 0: not late.", validator=Number(gte=0))
    ] = 0,
    player_key: Annotated[
        list[str] | None,
        Parameter(
            metavar="KEY",
            help="Public key (hex or key file) with which the player has to play over the network. Give it once for "
            "each name, in order.",
        ),
    ] = None,
) -> None:
    """Enter players: all of them, or none if one cannot be entered. Each gets the next number.

    A list can have a column `key`, with public keys in hexadecimal digits.
    """
    if player_key and len(player_key) != len(names or ()):
        raise Failure(f"--player-key: {len(player_key)} of them; expected one for each NAME", EXIT_USAGE)
    with editing(file) as event:
        told = [("", name) for name in names or ()]
        keys = [public_key(f"--player-key {each}", each) for each in player_key or ()] or [b""] * len(told)
        for each in [] if csv is None else listed(csv.read_bytes()):
            where = f"{csv}: line {each.line}"
            told.append((f"{where}: ", each.name))
            keys.append(public_key(f"{where}, key {each.key}", each.key) if each.key else b"")
        if not told:
            raise InputError("NAME", "no name", "names, or --csv")
        event.names, entered = enter_players(event.log, event.names, told, late, keys)
        known = event.names
    for number in entered:
        for other in known.alike(number):
            if other < number:
                warn_alike(known[number], f"{known[other]}, entrant {other},")
    first, last = entered[0], entered[-1]
    print(f"entered {counted(len(told), 'player')}: {first if first == last else f'{first} to {last}'}")


def checkin(
    file: EventPath,
    entrants: Annotated[list[str] | None, Parameter(name="ENTRANT", help="Numbers or names.")] = None,
    /,
    *,
    everybody: Annotated[bool, Parameter(name="--all", help="All entrants who are not checked in yet.")] = False,
    commitment: Annotated[
        str, Parameter(metavar="HEX", help="For one entrant: the commitment to a share of the draw.")
    ] = "",
) -> None:
    """Note who has come. Only they are paired. A player who comes after round 1 was paired plays from the next."""
    with editing(file) as event:
        known = event.log.state.entrants
        here = [event.names.find(word) for word in entrants or ()]
        if everybody:
            here = [number for number, each in known.items() if not (each.is_there or each.is_expelled)]
        elif not here:
            raise InputError("ENTRANT", "no entrant", "numbers, names, or --all")
        if commitment and len(here) != 1:
            raise InputError("--commitment", f"{len(here)} entrants", "one, whose it is")
        for number in here:
            event.log.enter(CheckIn(number, hexadecimal("--commitment", commitment)))
    print(f"checked in {counted(len(here), 'player')}")


def draw(
    file: EventPath,
    /,
    *,
    share: Annotated[
        list[str] | None, Parameter(metavar="NUMBER=HEX", help="An entrant's share of the draw. Repeatable.")
    ] = None,
) -> None:
    """Close entries and draw the lots, which decide where nothing else does.

    `pair` does so before round 1, if no entrant has committed to a share. A share that is not opened counts as none,
    and the command names whose.
    """
    with editing(file) as event:
        withheld = draw_lots(event.log, event.seed, shares_of("--share", share or ()))
    print("entries are closed, and lots drawn")
    for who in withheld:
        print(f"entrant {who} did not open a share")


def share(
    number: Annotated[int, Parameter(name="NUMBER", help="Your number in the event.", validator=Number(gte=1))], /
) -> None:
    """Make a share of the draw: keep the first line for yourself until entries are closed, give away the second.

    With it, no one can have chosen the lots, as long as you chose your share by chance. This needs no event's file.
    """
    secret = secrets.token_bytes(SEED_BYTES)
    print(f"share {secret.hex()}")
    print(f"commitment {share_commitment(number, secret).hex()}")


def _about(make: Callable[[int], Act], file: Path, entrant: str) -> None:
    with editing(file) as event:
        number = event.names.find(entrant)
        event.log.enter(make(number))
        name = event.names[number]
    print(f"entered: {make.__name__.lower()} {number} {name}")


def withdraw(file: EventPath, entrant: _Entrant, /) -> None:
    """Note that a player has left. The results stay."""
    _about(Withdraw, file, entrant)


def readmit(file: EventPath, entrant: _Entrant, /) -> None:
    """Let a player who left play again, from the next round that is paired."""
    _about(Readmit, file, entrant)


def absent(
    file: EventPath,
    entrant: _Entrant,
    round_: Annotated[int, Parameter(name="ROUND", help="The round.", validator=Number(gte=1))],
    /,
) -> None:
    """Note that a player will not play in a round that is not paired yet."""
    with editing(file) as event:
        event.log.enter(Absent(event.names.find(entrant), round_))
    print(f"entered: absent from round {round_}")


def expel(file: EventPath, entrant: _Entrant, /, *, reason: Reason, key: SignedBy = None) -> None:
    """Put a player out, also of the standings."""
    with editing(file, key) as event:
        event.log.enter(Expel(event.names.find(entrant), reason))
    print("entered: expelled")


def forbid(
    file: EventPath,
    first: _Entrant,
    second: _Entrant,
    /,
    *,
    hard: Annotated[bool, Parameter(help="Never, rather than not if it can be avoided.")] = False,
) -> None:
    """Keep two players from meeting. Before round 1 only."""
    with editing(file) as event:
        event.log.enter(Forbid(event.names.find(first), event.names.find(second), hard))
    print("entered")


def _tie_breaks(text: str) -> tuple[TieBreak, ...]:
    words = [word.strip() for word in text.split(",") if word.strip()]
    if unknown := [word for word in words if word not in _TIE_BREAKS]:
        raise InputError("--tie-breaks", unknown[0][:80], f"some of {', '.join(_TIE_BREAKS)}")
    return tuple(_TIE_BREAKS[word] for word in words)
