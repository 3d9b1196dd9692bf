"""``referee rule``: an arbiter's rulings."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from referee.cli.acting import Floor, Remote, check_game, composed, confirm, reason_of, record_of
from referee.cli.failure import EXIT_USAGE, Failure
from referee.cli.times import milliseconds
from referee.log.intent import Author, Role
from referee.log.v1 import log_pb2
from referee.notation import game_text
from referee.notation.errors import NotationError
from referee.notation.grammar import grammar
from referee.notation.registry import notation
from referee.notation.sentences import sentence
from referee.story.story import Story
from referee.story.words import in_words, quoted, ruling_words

rule = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown")
_Seat = Annotated[int, typer.Option("--seat", metavar="N", min=0, help="Which seat.", show_default=False)]


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
        int, typer.Option(metavar="N", min=0, help="Which of the game's arbiters, from 0 on, as the keys were given.")
    ] = 0
    rule: Annotated[
        str, typer.Option("--rule", metavar="ID", help="The rule that it rests on: of the game, or TBL-n.")
    ] = ""
    reason: Annotated[str, typer.Option(metavar="TEXT", help="In words, kept beside the log: they can be erased.")] = ""
    decides: Annotated[
        int | None, typer.Option(metavar="ENTRY", min=0, help="The protest or appeal that it decides.")
    ] = None
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False


@rule.callback()
def rulings() -> None:
    """Rules on a game, as one of its arbiters: `referee rule pause GAME --key arbiter.pem --token-file arbiter.token`.

    The game's log has the ruling, signed with the arbiter's key. Before it is sent it is told what will happen, and
    asked. `referee docket GAME` shows protests, rulings and what the game waits for.

    Exit codes: 0 entered; 1 it is not allowed now, the referee cannot be reached or refuses, or it was not confirmed; 2
    wrong usage.
    """


def _kind(*, anywhere: bool) -> Callable[[Callable[..., log_pb2.Rule]], Callable[..., log_pb2.Rule]]:
    """Makes a command of what makes a ruling. ``anywhere``: it is meant wherever the game stands."""

    def register(make: Callable[..., log_pb2.Rule]) -> Callable[..., log_pb2.Rule]:
        def run(words: _Words, own: dict[str, Any]) -> None:
            _rule(words, make, own, anywhere=anywhere)

        rule.command(make.__name__.replace("_", "-"))(composed(_Words, make, run))
        return make

    return register


def _rule(words: _Words, make: Callable[..., log_pb2.Rule], own: dict[str, Any], *, anywhere: bool) -> None:
    text = reason_of(words.reason)
    token = words.token()
    floor = Floor(words.server, check_game(words.game), token, words.secured(token))
    story = floor.story()
    record = record_of(story)
    if "story" in make.__annotations__:
        own["story"] = story
    ruling = make(**own)
    ruling.rule_id = words.rule
    if words.decides is not None:
        ruling.decides = words.decides
    author = Author(Role.ARBITER, words.arbiter)
    floor.check(record, author, words.key, ruling)
    told = f"{author} rules: {ruling_words(ruling, _move_of(story, ruling))}"
    confirm([told, *([f"reason: {quoted(text)}"] if text else []), *_consequences(story, ruling)], sure=words.yes)
    seq = floor.enter(record, author, words.key, ruling, text, anywhere=anywhere)
    print(f"entered as entry {seq}")


# The rulings


@_kind(anywhere=True)
def pause() -> log_pb2.Rule:
    """All clocks stop, and nobody is awaited."""
    return log_pb2.Rule(pause=log_pb2.Pause())


@_kind(anywhere=True)
def adjourn() -> log_pb2.Rule:
    """As pause, for longer: the players leave the table."""
    return log_pb2.Rule(adjourn=log_pb2.Adjourn())


@_kind(anywhere=True)
def resume() -> log_pb2.Rule:
    """The game goes on after pause or adjourn."""
    return log_pb2.Rule(resume=log_pb2.Resume())


@_kind(anywhere=False)
def restore(
    to: Annotated[
        int, typer.Option("--to", metavar="ENTRY", min=0, help="The last entry that counts.", show_default=False)
    ],
) -> log_pb2.Rule:
    """The position is again that after an earlier entry; in a dealt game never past what was drawn."""
    return log_pb2.Rule(restore=log_pb2.Restore(to_seq=to))


@_kind(anywhere=True)
def set_clock(
    seat: _Seat,
    left: Annotated[str, typer.Option("--left", metavar="TIME", help="Such as 5m or 1m30s.", show_default=False)],
) -> log_pb2.Rule:
    """A seat's clock shows so much from now on."""
    return log_pb2.Rule(set_clock=log_pb2.SetClock(seat=seat, left_ms=milliseconds("--left", left)))


@_kind(anywhere=True)
def penalty(
    seat: _Seat,
    time: Annotated[str, typer.Option("--time", metavar="TIME", help="Off its clock, such as 30s.")] = "0s",
    points: Annotated[int, typer.Option(metavar="N", min=0, help="Off its final score.")] = 0,
    strikes: Annotated[int, typer.Option(metavar="N", min=0, help="As if so many moves had been refused.")] = 0,
) -> log_pb2.Rule:
    """A seat loses time, points, or gets strikes; nothing of that is a warning."""
    ms = milliseconds("--time", time)
    return log_pb2.Rule(penalty=log_pb2.Penalty(seat=seat, time_ms=ms, points=points, strikes=strikes))


@_kind(anywhere=True)
def forfeit(
    seat: _Seat,
    ending: Annotated[Forfeits, typer.Option(help="How it is told.")] = Forfeits.ADJUDICATED,
) -> log_pb2.Rule:
    """A seat is out; the stand-in moves for it."""
    return log_pb2.Rule(forfeit=log_pb2.Forfeit(seat=seat, ending=log_pb2.Ending.Value(f"ENDING_{ending.name}")))


@_kind(anywhere=True)
def reinstate(seat: _Seat) -> log_pb2.Rule:
    """A seat that has forfeited plays again from now on."""
    return log_pb2.Rule(reinstate=log_pb2.Reinstate(seat=seat))


@_kind(anywhere=False)
def skip(seat: _Seat) -> log_pb2.Rule:
    """The seat on turn loses this decision: the stand-in's move is entered for it."""
    return log_pb2.Rule(skip=log_pb2.Skip(seat=seat))


@_kind(anywhere=False)
def accept(
    story: Story,
    move: Annotated[
        str,
        typer.Argument(metavar="MOVE", help="As docs/notation.md has it, such as '0: 20 bank'.", show_default=False),
    ],
    seat: _Seat,
) -> log_pb2.Rule:
    """The move of the seat on turn stands as it was played, though it breaks rules: such as allow that (TBL-7)."""
    course = record_of(story).course
    event = _meant(story, seat, move)
    data = course.codec.encode_move(event, course.tables)
    broken = sorted({violation.rule_id for violation in course.state.check(event)})
    return log_pb2.Rule(accept=log_pb2.Accept(seat=seat, move=data, rule_ids=broken))


@_kind(anywhere=False)
def adjudicate(
    places: Annotated[
        str, typer.Option(metavar="PLACES", help="Of every seat, such as 1,2,2: 1 is the winner.", show_default=False)
    ],
    scores: Annotated[str, typer.Option(metavar="POINTS", help="Of every seat; places alone if not given.")] = "",
) -> log_pb2.Rule:
    """The game is over with this result."""
    given = log_pb2.Adjudicate(places=_numbers("--places", places))
    given.scores.extend(_numbers("--scores", scores) if scores else [])
    return log_pb2.Rule(adjudicate=given)


@_kind(anywhere=True)
def void() -> log_pb2.Rule:
    """The game is over and does not count."""
    return log_pb2.Rule(void=log_pb2.Void())


@_kind(anywhere=True)
def dismiss() -> log_pb2.Rule:
    """The protest or appeal that --decides names has no consequence."""
    return log_pb2.Rule(dismiss=log_pb2.Dismiss())


# What will happen


def _consequences(story: Story, ruling: log_pb2.Rule) -> list[str]:
    course = record_of(story).course
    kind = ruling.WhichOneof("ruling")
    if kind == "restore":
        gone = story.events_after(ruling.restore.to_seq)
        return ["taken back:", *(f"  {seq}  {story.moves[seq]}" for seq in gone)] if gone else ["nothing is taken back"]
    if kind == "accept":
        rules = {known.id: known for known in course.game.catalogue}
        event = course.decoded_move(ruling.accept.move)
        return ["against the rules:", *(f"  {sentence(each, rules)}" for each in course.state.check(event))]
    if kind == "skip":
        move = course.decoded_move(course.stand_in(ruling.skip.seat).move)
        return [f"the stand-in's move: {notation(course.game.rules_id).describe(move, course.state)}"]
    if kind == "set_clock" and course.clocks is not None:
        return [f"it showed {in_words(course.clocks.seat(ruling.set_clock.seat).left_ms)} after the last entry"]
    return []


def _move_of(story: Story, ruling: log_pb2.Rule) -> str:
    if not ruling.HasField("accept"):
        return ""
    course = record_of(story).course
    return notation(course.game.rules_id).describe(course.decoded_move(ruling.accept.move), course.state)


def _meant(story: Story, seat: int, text: str) -> Any:
    """The move in the position now, legal or not."""
    course = record_of(story).course
    rules_id = course.game.rules_id
    line = text if re.match(r"\d+:", text, re.ASCII) else f"{seat}: {text}"
    try:
        return game_text.meant(rules_id, course.state, grammar(rules_id).parse(line, "act"))
    except NotationError as error:
        raise Failure(f"{line!r}: {error}", EXIT_USAGE) from None


def _numbers(option: str, text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise Failure(f"{option} {text!r}: expected a number for each seat, such as 1,2,2", EXIT_USAGE) from None
