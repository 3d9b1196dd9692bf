"""``referee rule``: an arbiter's rulings."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from referee.cli.acting import Floor, Remote, composed, confirm, reason_of
from referee.cli.arguments import game_id
from referee.cli.failure import EXIT_USAGE, Failure
from referee.cli.times import milliseconds
from referee.log.events import Accept, Restore, Ruled, Ruling, SetClock, Skip
from referee.log.intent import Author, Role
from referee.log.replay import Record
from referee.log.v1 import log_pb2
from referee.notation import accepted, game_text
from referee.notation.errors import NotationError
from referee.notation.grammar import grammar
from referee.notation.registry import notation
from referee.notation.sentences import sentence
from referee.notation.times import in_words
from referee.transcript.game_file import GameFile
from referee.transcript.words import quoted, ruling_words

rule = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown")
_Seat = Annotated[int, typer.Option("--seat", metavar="N", min=0, help="The seat.", show_default=False)]


class Forfeits(StrEnum):
    """How a seat can be put out."""

    RESIGNED = "resigned"
    FLAG = "flag"
    DISCONNECTED = "disconnected"
    CRASHED = "crashed"
    STALLED = "stalled"
    ILLEGAL_MOVES = "illegal-moves"
    ADJUDICATED = "adjudicated"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Words(Remote):
    """What every ruling is given."""

    key: Annotated[Path, typer.Option("--key", metavar="FILE", help="The arbiter's private key.", show_default=False)]
    arbiter: Annotated[
        int,
        typer.Option(
            metavar="N", min=0, help="Which of the game's arbiters, counted from 0 in the order of their keys."
        ),
    ] = 0
    rule: Annotated[
        str, typer.Option("--rule", metavar="ID", help="The rule that the ruling applies: one of the game, or TBL-n.")
    ] = ""
    reason: Annotated[
        str, typer.Option(metavar="TEXT", help="The reason in words. It is kept beside the log, and can be erased.")
    ] = ""
    decides: Annotated[
        int | None, typer.Option(metavar="ENTRY", min=0, help="The protest or appeal that the ruling decides.")
    ] = None
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False


@rule.callback()
def rulings() -> None:
    """Rule on a game, as one of its arbiters: `referee rule pause GAME --key arbiter.pem --token-file arbiter.token`.

    The ruling becomes an entry of the log, signed with the arbiter's key. Before sending it, the command shows what
    will happen and asks. `referee docket GAME` shows protests, rulings and what the game waits for.

    Exit codes: 0 entered; 1 not allowed now, the referee cannot be reached or refuses, or you did not confirm; 2 wrong
    usage.
    """


def _kind(*, anywhere: bool) -> Callable[[Callable[..., log_pb2.Rule]], Callable[..., log_pb2.Rule]]:
    """Make a command of what makes a ruling. ``anywhere``: it is meant wherever the game stands."""

    def register(make: Callable[..., log_pb2.Rule]) -> Callable[..., log_pb2.Rule]:
        def run(words: _Words, own: dict[str, Any]) -> None:
            _rule(words, make, own, anywhere=anywhere)

        rule.command(make.__name__.replace("_", "-"))(composed(_Words, make, run))
        return make

    return register


def _rule(words: _Words, make: Callable[..., log_pb2.Rule], own: dict[str, Any], *, anywhere: bool) -> None:
    text = reason_of(words.reason)
    token = words.token()
    floor = Floor(words.server, game_id(words.game).hex(), token, words.secured(token))
    game_file = floor.game_file()
    record = game_file.record
    if "game_file" in make.__annotations__:
        own["game_file"] = game_file
    ruling = make(**own)
    ruling.rule_id = words.rule
    if words.decides is not None:
        ruling.decides = words.decides
    author = Author(Role.ARBITER, words.arbiter)
    ruled = floor.check(record, author, words.key, ruling)
    assert isinstance(ruled, Ruled)  # noqa: S101 - what was asked about
    told = f"{author} rules: {ruling_words(ruled, _move_of(record, ruled.ruling))}"
    about = _consequences(game_file, ruled.ruling)
    confirm([told, *([f"reason: {quoted(text)}"] if text else []), *about], sure=words.yes)
    seq = floor.enter(record, author, words.key, ruling, text, anywhere=anywhere)
    print(f"entered as entry {seq}")


# The rulings


@_kind(anywhere=True)
def pause() -> log_pb2.Rule:
    """Stop all clocks; no seat has to act."""
    return log_pb2.Rule(pause=log_pb2.Pause())


@_kind(anywhere=True)
def adjourn() -> log_pb2.Rule:
    """Like pause, for longer: the players leave the table."""
    return log_pb2.Rule(adjourn=log_pb2.Adjourn())


@_kind(anywhere=True)
def resume() -> log_pb2.Rule:
    """Go on with a game after pause or adjourn."""
    return log_pb2.Rule(resume=log_pb2.Resume())


@_kind(anywhere=False)
def restore(
    to: Annotated[
        int, typer.Option("--to", metavar="ENTRY", min=0, help="The last entry that still counts.", show_default=False)
    ],
) -> log_pb2.Rule:
    """Go back to the position after an earlier entry; in a dealt game never past a draw."""
    return log_pb2.Rule(restore=log_pb2.Restore(to_seq=to))


@_kind(anywhere=True)
def set_clock(
    seat: _Seat,
    left: Annotated[
        str, typer.Option("--left", metavar="TIME", help="The time left, such as 5m or 1m30s.", show_default=False)
    ],
) -> log_pb2.Rule:
    """Set the time that is left on a seat's clock."""
    return log_pb2.Rule(set_clock=log_pb2.SetClock(seat=seat, left_ms=milliseconds("--left", left)))


@_kind(anywhere=True)
def penalty(
    seat: _Seat,
    time: Annotated[
        str, typer.Option("--time", metavar="TIME", help="Time to take off its clock, such as 30s.")
    ] = "0s",
    points: Annotated[int, typer.Option(metavar="N", min=0, help="Points to take off its final score.")] = 0,
    strikes: Annotated[int, typer.Option(metavar="N", min=0, help="Strikes to add, as for refused moves.")] = 0,
) -> log_pb2.Rule:
    """Take time or points off a seat, or give it strikes; without any of these it is a warning."""
    ms = milliseconds("--time", time)
    return log_pb2.Rule(penalty=log_pb2.Penalty(seat=seat, time_ms=ms, points=points, strikes=strikes))


@_kind(anywhere=True)
def forfeit(
    seat: _Seat,
    ending: Annotated[Forfeits, typer.Option(help="How the log names the ending.")] = Forfeits.ADJUDICATED,
) -> log_pb2.Rule:
    """Put a seat out of the game; the stand-in moves for it."""
    return log_pb2.Rule(forfeit=log_pb2.Forfeit(seat=seat, ending=log_pb2.Ending.Value(f"ENDING_{ending.name}")))


@_kind(anywhere=True)
def reinstate(seat: _Seat) -> log_pb2.Rule:
    """Let a seat that has forfeited play again from now on."""
    return log_pb2.Rule(reinstate=log_pb2.Reinstate(seat=seat))


@_kind(anywhere=False)
def skip(seat: _Seat) -> log_pb2.Rule:
    """Take this decision away from the seat on turn: the stand-in's move is entered for it."""
    return log_pb2.Rule(skip=log_pb2.Skip(seat=seat))


@_kind(anywhere=False)
def accept(
    game_file: GameFile,
    move: Annotated[
        str,
        typer.Argument(
            metavar="MOVE", help="In the notation of docs/notation.md, such as '0: 20 bank'.", show_default=False
        ),
    ],
    seat: _Seat,
) -> log_pb2.Rule:
    """Let the move of the seat on turn stand as played, although it breaks rules: only rules that allow it (TBL-7)."""
    game = game_file.record.game
    event = _meant(game_file, seat, move)
    data = game.position.encoded_move(event)
    broken = sorted({violation.rule_id for violation in game.position.violations(event)})
    return log_pb2.Rule(accept=log_pb2.Accept(seat=seat, move=data, rule_ids=broken))


@_kind(anywhere=False)
def adjudicate(
    places: Annotated[
        str,
        typer.Option(
            metavar="PLACES", help="The place of every seat, such as 1,2,2; 1 is the winner.", show_default=False
        ),
    ],
    scores: Annotated[
        str, typer.Option(metavar="POINTS", help="The score of every seat; by default the result has only places.")
    ] = "",
) -> log_pb2.Rule:
    """End the game with this result."""
    given = log_pb2.Adjudicate(places=_numbers("--places", places))
    given.scores.extend(_numbers("--scores", scores) if scores else [])
    return log_pb2.Rule(adjudicate=given)


@_kind(anywhere=True)
def void() -> log_pb2.Rule:
    """End the game; it does not count."""
    return log_pb2.Rule(void=log_pb2.Void())


@_kind(anywhere=True)
def dismiss() -> log_pb2.Rule:
    """Dismiss the protest or appeal that --decides names."""
    return log_pb2.Rule(dismiss=log_pb2.Dismiss())


# What will happen


def _consequences(game_file: GameFile, ruling: Ruling) -> list[str]:
    game = game_file.record.game
    match ruling:
        case Restore(to_seq):
            gone = game_file.transcript.counting_after(to_seq)
            lines = [f"  {seq}  {game_file.transcript.entries[seq]}" for seq in gone]
            return ["taken back:", *lines] if lines else ["nothing is taken back"]
        case Accept(_, move):
            rules = {known.id: known for known in game.position.rules.catalogue}
            return ["against the rules:", *(f"  {sentence(each, rules)}" for each in game.position.violations(move))]
        case Skip(seat):
            return [f"the stand-in's move: {_described(game_file.record, game.position.stand_in(seat))}"]
        case SetClock(seat) if game.clocks is not None:
            return [f"the clock showed {in_words(game.clocks.seat(seat).left_ms)} after the last entry"]
        case _:
            return []


def _move_of(record: Record, ruling: Ruling) -> str:
    return _described(record, ruling.move) if isinstance(ruling, Accept) else ""


def _described(record: Record, move: Any) -> str:
    return notation(record.opened.rules_id).describe(move, record.game.position.state)


def _meant(game_file: GameFile, seat: int, text: str) -> Any:
    """Return the move in the position now, legal or not."""
    game = game_file.record.game
    rules_id = game.opened.rules_id
    line = text if re.match(r"\d+:", text, re.ASCII) else f"{seat}: {text}"
    try:
        act = grammar(rules_id).parse(line, "act")
        event = game_text.meant(rules_id, game.position.state, act)
        if (mark := game_text.mark_of(act)) is not None:
            accepted.check(mark, line, game.position.violations(event), game.position.rules.waivable)
        return event
    except NotationError as error:
        raise Failure(f"{line!r}: {error}", EXIT_USAGE) from None


def _numbers(option: str, text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise Failure(f"{option} {text!r}: expected a number for each seat, such as 1,2,2", EXIT_USAGE) from None
