"""``referee rule``: an arbiter's rulings, made here or prepared on the page of the desk."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from cyclopts.validators import Number

from referee.cli.shared.arguments import private_key, public_key
from referee.cli.shared.commands import group
from referee.cli.shared.failure import EXIT_USAGE, Failure
from referee.cli.shared.names import place_lines, player_line, seat_of
from referee.cli.shared.remote_games import names_now, whole_id
from referee.cli.shared.table import (
    Admitted,
    ArbiterKey,
    Floor,
    Remote,
    Yes,
    called,
    composed,
    confirm,
    reason_of,
    signer,
)
from referee.log.entry import decode_entry
from referee.log.events import Act, Author, KeyChanged, Role, Ruled
from referee.log.names import Shown
from referee.log.replay import Record
from referee.log.v1 import log_pb2
from referee.telling.words import act_words, quoted
from referee_clients.rulings import (
    MOST_BYTES,
    OF_POSITION,
    BadMove,
    Bench,
    Look,
    NotPrepared,
    Prepared,
    check_signed,
    look_at,
    resting,
    standing_move,
    told,
)
from referee_clients.sdk.arbiter import arbiter
from referee_clients.sdk.errors import ClientError, WentOn
from referee_clients.sdk.opening import milliseconds


@dataclass(frozen=True, kw_only=True, slots=True)
class _SigningWords(Admitted):
    """The options of signing a ruling in a file."""

    file: Annotated[Path, Parameter(name="FILE", help="The ruling, as the page /desk saves it.", show_default=False)]
    key: ArbiterKey
    yes: Yes = False


def _sign() -> None:
    """Sign a ruling that was prepared on the page /desk, and enter it: `referee rule --sign FILE` does the same.

    The command shows what the bytes say that it is going to sign; nothing else in the file counts. A ruling is for one
    place in the game: if another entry came meanwhile, nothing is signed, and you have to prepare the ruling again.
    Pause the game first if it is being played while you rule.

    Exit codes: 0 entered; 1 not allowed now, another entry came first, the referee cannot be reached or refuses, or you
    did not confirm; 2 wrong usage, or not the file of a ruling.

    Example: `referee rule sign ruling.json --key arbiter.pem --token-file arbiter.token`
    """


def _sign_file(words: _SigningWords, _: dict[str, Any]) -> None:
    prepared = _read(words.file)
    game = prepared.place.game_id.hex()
    token = words.token()
    secured = words.secured(token)

    async def run() -> None:
        async with arbiter(words.server, game, token, secured) as calls:
            look = await look_at(calls)
            _check_place(prepared, look)
            signed = prepared.signed(signer(look.record, prepared.author, words.key))
            said = check_signed(look.record, signed)
            first, *about = told(look, said) if isinstance(said, Ruled) else [key_told(said)]
            reason = [f"reason: {quoted(prepared.words.text)}"] if prepared.words is not None else []
            names = await names_now(calls.channel, look.record, token)
            intent = prepared.intent
            who = _players(intent.rule, names) if intent.WhichOneof("act") == "rule" else []
            if intent.WhichOneof("act") == "change_key":
                who = [player_line(intent.change_key.seat, names)]
            confirm([f"game {game}", *who, first, *reason, *about], sure=words.yes)
            print(f"entered as entry {(await calls.submit(signed, prepared.words)).seq}")

    called(words.server, run)


def key_told(said: Act) -> str:
    """Return in words that an arbiter changes a key."""
    assert isinstance(said, KeyChanged)  # noqa: S101 - what was asked about
    return f"{said.author.phrase}: {act_words(said)}"


def _read(path: Path) -> Prepared:
    try:
        with path.open("rb") as file:
            return Prepared.read(file.read(MOST_BYTES + 1))
    except OSError as error:
        raise Failure(f"{path}: {error.strerror}", EXIT_USAGE) from None
    except NotPrepared as error:
        raise Failure(f"{path}: nothing was signed: {error}", EXIT_USAGE) from None


def _check_place(prepared: Prepared, look: Look) -> None:
    """Raise ``Failure`` unless the ruling is for the game as it is now."""
    place, now = prepared.place, look.record.place
    if place == now:
        return
    if place.seq < now.seq:
        if decode_entry(look.entries[place.seq]).signed.intent == prepared.body:
            raise Failure(f"nothing was sent: this ruling is entry {place.seq} of the game already")
        went = f"the game has moved on, to entry {now.seq - 1}"
    else:
        went = "the game has another history" if place.seq == now.seq else f"the game has only {now.seq} entries"
    raise Failure(
        f"nothing was signed: the ruling is for entry {place.seq}, and {went}; expected it prepared again; "
        "pause the game first if it is being played"
    )


rule = group(
    "rule",
    """Rule on a game, as one of its arbiters: `referee rule pause GAME --key arbiter.pem --token-file arbiter.token`.

    The ruling becomes an entry of the log, signed with the arbiter's key. Before sending it, the command shows what
    will happen and asks. `referee docket GAME` shows protests, rulings and what the game waits for.

    Exit codes: 0 entered; 1 not allowed now, the referee cannot be reached or refuses, or you did not confirm; 2 wrong
    usage.
    """,
)
_Seat = Annotated[
    str,
    Parameter(
        name="--seat",
        metavar="PLAYER",
        help="The player: a name, p1, p2, …, or the seat's number in notation, from 0.",
        show_default=False,
    ),
]
"""The words for a player; a number, from 0, by the time that an act is made with them."""


class Forfeits(StrEnum):
    """The ways to put a seat out."""

    RESIGNED = "resigned"
    FLAG = "flag"
    DISCONNECTED = "disconnected"
    CRASHED = "crashed"
    STALLED = "stalled"
    ILLEGAL_MOVES = "illegal-moves"
    ADJUDICATED = "adjudicated"


@dataclass(frozen=True, kw_only=True, slots=True)
class _ArbiterWords(Remote):
    """The options of every act of an arbiter."""

    key: ArbiterKey
    arbiter: Annotated[
        int,
        Parameter(
            metavar="N",
            help="Which of the game's arbiters, counted from 0 in the order of their keys.",
            validator=Number(gte=0),
        ),
    ] = 0
    yes: Yes = False


@dataclass(frozen=True, kw_only=True, slots=True)
class _Words(_ArbiterWords):
    """The options of every ruling."""

    rule: Annotated[
        str,
        Parameter(
            metavar="ID",
            help="The rule that the ruling applies: one of the game, or TBL-n. Without it, the rule of the table that "
            "allows such rulings.",
        ),
    ] = ""
    reason: Annotated[
        str, Parameter(metavar="TEXT", help="The reason in words. It is kept beside the log, and can be erased.")
    ] = ""
    decides: Annotated[
        int | None,
        Parameter(metavar="ENTRY", help="The protest or appeal that the ruling decides.", validator=Number(gte=0)),
    ] = None


@dataclass(frozen=True, kw_only=True, slots=True)
class _OfPosition(_Words):
    """The options of a ruling on the position in which it is made."""

    pause: Annotated[
        bool,
        Parameter(help="Pause the game first, so that no entry comes while you rule."),
    ] = False


def _kind(make: Callable[..., log_pb2.Rule]) -> Callable[..., log_pb2.Rule]:
    """Make a command of a function that makes a ruling."""
    name = make.__name__
    rule.command(
        composed(_OfPosition if name in OF_POSITION else _Words, make, partial(_rule, make)),
        name=name.replace("_", "-"),
    )
    return make


def _rule(make: Callable[..., log_pb2.Rule], words: _Words, own: dict[str, Any]) -> None:
    text = reason_of(words.reason)
    token = words.token()
    secured = words.secured(token)
    game = whole_id(words.server, secured, words.game)
    author = Author(Role.ARBITER, words.arbiter)

    async def run() -> None:
        async with arbiter(words.server, game, token, secured) as calls:
            look = await Bench(calls, author, private_key("--key", words.key)).look()
            names = await names_now(calls.channel, look.record, token)
            given = _with_seat(own, look.record, names)

            def ruling(look: Look) -> log_pb2.Rule:
                made = make(**given, **({"look": look} if "look" in make.__annotations__ else {}))
                return resting(made, words.rule, words.decides)

            bench = Bench(calls, author, signer(look.record, author, words.key))
            await _enter(bench, look, ruling, words, text, names)

    called(words.server, run)


def _with_seat(own: dict[str, Any], record: Record, names: Mapping[int, Shown]) -> dict[str, Any]:
    """Return the words of an act with the number of the seat that they mean. Raise ``Failure``."""
    if "seat" not in own:
        return own
    return {**own, "seat": str(seat_of("--seat", own["seat"], names, len(record.opened.seats)))}


def _players(made: log_pb2.Rule, names: Mapping[int, Shown]) -> list[str]:
    """Return whom a ruling is about, to be read before it is confirmed."""
    kind = made.WhichOneof("ruling")
    if kind == "adjudicate":
        return place_lines(made.adjudicate.places, names)
    body: Any = getattr(made, kind) if kind else made
    return [player_line(body.seat, names)] if "seat" in body.DESCRIPTOR.fields_by_name else []


async def _enter(  # noqa: PLR0917 - what an arbiter rules
    bench: Bench,
    look: Look,
    ruling: Callable[[Look], log_pb2.Rule],
    words: _Words,
    text: str,
    names: Mapping[int, Shown],
) -> None:
    """Show what will happen, ask, and send. Raise ``Failure``, ``ClientError``."""
    pauses = isinstance(words, _OfPosition) and words.pause
    if pauses:
        bench.check(look, ruling(look))  # an impossible ruling stops no player
        look = await _paused(bench, look)
    try:
        first, *about = bench.told(look, made := ruling(look))
        reason = [f"reason: {quoted(text)}"] if text else []
        confirm([*_players(made, names), first, *reason, *about], sure=words.yes)
        print(f"entered as entry {await bench.enter(look, made, text)}")
    except WentOn as error:
        hint = "" if pauses else "; expected a game that is paused: add --pause"
        raise Failure(f"{error}{hint}") from None
    finally:
        if pauses:
            with suppress(ClientError):
                if (await bench.look()).is_suspended:
                    print("the game is still paused: `referee rule resume` resumes it")


async def _paused(bench: Bench, look: Look) -> Look:
    """Return the game after it was paused, unless it was before."""
    if (suspended := look.record.game.arbitration.suspended) is not None:
        print(f"the game was already {suspended.value}")
        return look
    print(f"paused the game first, as entry {await bench.pause(look)}")
    return await bench.look()


# The rulings


@_kind
def pause() -> log_pb2.Rule:
    """Stop all clocks; no seat has to act."""
    return log_pb2.Rule(pause=log_pb2.Pause())


@_kind
def adjourn() -> log_pb2.Rule:
    """Like pause, for longer: the players leave the table."""
    return log_pb2.Rule(adjourn=log_pb2.Adjourn())


@_kind
def resume() -> log_pb2.Rule:
    """Resume a game after pause or adjourn."""
    return log_pb2.Rule(resume=log_pb2.Resume())


@_kind
def restore(
    *,
    to: Annotated[
        int,
        Parameter(
            metavar="ENTRY", help="The last entry that still counts.", show_default=False, validator=Number(gte=0)
        ),
    ],
) -> log_pb2.Rule:
    """Go back to the position after an earlier entry; in a dealt game never past a draw."""
    return log_pb2.Rule(restore=log_pb2.Restore(to_seq=to))


@_kind
def set_clock(
    *,
    seat: _Seat,
    left: Annotated[str, Parameter(metavar="TIME", help="The time left, such as 5m or 1m30s.", show_default=False)],
) -> log_pb2.Rule:
    """Set the time that is left on a seat's clock."""
    return log_pb2.Rule(set_clock=log_pb2.SetClock(seat=int(seat), left_ms=milliseconds("left", left)))


@_kind
def penalty(
    *,
    seat: _Seat,
    time: Annotated[str, Parameter(metavar="TIME", help="Time to take off its clock, such as 30s.")] = "0s",
    points: Annotated[
        int, Parameter(metavar="N", help="Points to take off its final score.", validator=Number(gte=0))
    ] = 0,
    strikes: Annotated[
        int, Parameter(metavar="N", help="Strikes to add, as for refused moves.", validator=Number(gte=0))
    ] = 0,
) -> log_pb2.Rule:
    """Take time or points off a seat, or give it strikes; without any of these it is a warning."""
    ms = milliseconds("time", time)
    return log_pb2.Rule(penalty=log_pb2.Penalty(seat=int(seat), time_ms=ms, points=points, strikes=strikes))


@_kind
def forfeit(
    *,
    seat: _Seat,
    ending: Annotated[Forfeits, Parameter(help="How the log names the ending.")] = Forfeits.ADJUDICATED,
) -> log_pb2.Rule:
    """Put a seat out of the game; the stand-in moves for it."""
    return log_pb2.Rule(forfeit=log_pb2.Forfeit(seat=int(seat), ending=log_pb2.Ending.Value(f"ENDING_{ending.name}")))


@_kind
def reinstate(*, seat: _Seat) -> log_pb2.Rule:
    """Let a seat that has forfeited play again from now on."""
    return log_pb2.Rule(reinstate=log_pb2.Reinstate(seat=int(seat)))


@_kind
def skip(*, seat: _Seat) -> log_pb2.Rule:
    """Take this decision away from the seat on turn: the stand-in's move is entered for it."""
    return log_pb2.Rule(skip=log_pb2.Skip(seat=int(seat)))


@_kind
def accept(
    move: Annotated[
        str,
        Parameter(name="MOVE", help="In the notation of docs/notation.md, such as '0: 20 bank'.", show_default=False),
    ],
    *,
    look: Look,
    seat: _Seat,
) -> log_pb2.Rule:
    """Let the move of the seat on turn stand as played, although it breaks rules: only rules that allow it (TBL-7)."""
    try:
        return log_pb2.Rule(accept=standing_move(look.record, int(seat), move))
    except BadMove as error:
        raise Failure(str(error), EXIT_USAGE) from None


@_kind
def adjudicate(
    *,
    places: Annotated[
        str,
        Parameter(
            metavar="PLACES", help="The place of every seat, such as 1,2,2; 1 is the winner.", show_default=False
        ),
    ],
    scores: Annotated[
        str, Parameter(metavar="POINTS", help="The score of every seat; by default the result has only places.")
    ] = "",
) -> log_pb2.Rule:
    """End the game with this result."""
    given = log_pb2.Adjudicate(places=_numbers("--places", places))
    given.scores.extend(_numbers("--scores", scores) if scores else [])
    return log_pb2.Rule(adjudicate=given)


@_kind
def void() -> log_pb2.Rule:
    """End the game; it does not count."""
    return log_pb2.Rule(void=log_pb2.Void())


@_kind
def dismiss() -> log_pb2.Rule:
    """Dismiss the protest or appeal that --decides names."""
    return log_pb2.Rule(dismiss=log_pb2.Dismiss())


# An arbiter's acts beside rulings


def _change_key(
    *,
    seat: _Seat,
    new_key: Annotated[
        str,
        Parameter(
            metavar="KEY",
            help="The seat's new public key: hex, or a file with a public or private key.",
            show_default=False,
        ),
    ],
) -> log_pb2.ChangeKey:
    """Give a seat another key, because its key was lost or stolen: the old one counts no more.

    A ruling needs a rule and may have a reason; this has neither.
    """
    return log_pb2.ChangeKey(seat=int(seat), key=public_key(f"--new-key {new_key}", new_key))


def _enter_key(words: _ArbiterWords, own: dict[str, Any]) -> None:
    floor = Floor.of(words, words.token())
    record, author = floor.game_file().record, Author(Role.ARBITER, words.arbiter)
    names = floor.names(record)
    act = _change_key(**_with_seat(own, record, names))
    told = [player_line(act.seat, names), key_told(floor.check(record, author, words.key, act))]
    confirm(told, sure=words.yes)
    print(f"entered as entry {floor.enter(record, author, words.key, act, '', anywhere=True)}")


rule.command(composed(_ArbiterWords, _change_key, _enter_key), name="change-key")


# Rulings that were prepared elsewhere

# `referee rule --sign FILE` is `referee rule sign FILE`.
rule.command(composed(_SigningWords, _sign, _sign_file), name="sign", alias="--sign")


# The meaning of the words


def _numbers(option: str, text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise Failure(f"{option} {text!r}: expected a number for each seat, such as 1,2,2", EXIT_USAGE) from None
