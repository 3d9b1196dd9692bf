"""What the commands share by which a seat, or a scribe for one, turns to the table: protest, appeal, resign, …"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Self, TypeVar

import typer

from referee.cli.shared.acting import Floor, Remote, composed, confirm, reason_of
from referee.cli.shared.failure import EXIT_USAGE, Failure
from referee.log.events import KeyChanged, SeatAct
from referee.log.intent import Author, Role, TableAct
from referee.log.v1 import log_pb2
from referee.telling.game_file import GameFile
from referee.telling.words import act_words, quoted
from referee_clients.join import JoinError, parse_join

RuleId = Annotated[
    str, typer.Option("--rule", metavar="ID", help="The id of the rule: one of the game, or TBL-n.", show_default=False)
]


@dataclass(frozen=True, kw_only=True, slots=True)
class Joined(Remote):
    """Which game, of one who has a join string for it."""

    game: Annotated[
        str,
        typer.Argument(
            metavar="GAME",
            help="The seat's join string, which has the address, game, seat and token; '@FILE' reads "
            "it from a file. Or the game's id, with --server and --token-file.",
            show_default=False,
        ),
    ]

    def admitted(self) -> tuple[Self, str, int | None]:
        """Return the same with what a join string says, the token, and the join string's seat. Raise ``Failure``."""
        text = self.game
        try:
            if text.startswith("@"):
                text = Path(text[1:]).read_text(encoding="utf-8").strip()
            if "#" not in text:
                return self, self.token(), None
            join = parse_join(text)
        except JoinError as error:
            raise Failure(str(error), EXIT_USAGE) from None
        except (OSError, UnicodeDecodeError) as error:
            raise Failure(f"{self.game}: {error}", EXIT_USAGE) from None
        return replace(self, server=join.address, game=join.game_id), join.token, join.seat


@dataclass(frozen=True, kw_only=True, slots=True)
class SeatWords(Joined):
    """What every act of a seat is given."""

    key: Annotated[
        Path,
        typer.Option("--key", metavar="FILE", help="The private key of who signs.", show_default=False),
    ]
    seat: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=0, help="The seat that acts, if GAME is no join string that names it.", show_default=False
        ),
    ] = None
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False


@dataclass(frozen=True, kw_only=True, slots=True)
class EnteredWords(SeatWords):
    """Of an act that a scribe may enter for the seat."""

    scribe: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=0, help="The scribe who enters it for --seat, a scribed seat.", show_default=False
        ),
    ] = None


@dataclass(frozen=True, kw_only=True, slots=True)
class SpokenWords(EnteredWords):
    """Of an act that words can go with."""

    reason: Annotated[
        str, typer.Option(metavar="TEXT", help="The reason in words. It is kept beside the log, and can be erased.")
    ] = ""


_W = TypeVar("_W", bound=SeatWords)


def command(common: type[_W], make: Callable[..., TableAct], *, anywhere: bool) -> Any:
    """Return the command that enters what ``make`` makes. ``anywhere``: it is meant wherever the game stands."""

    def run(words: _W, own: dict[str, Any]) -> None:
        _enter(words, make(**own), anywhere=anywhere)

    return composed(common, make, run)


def _enter(words: SeatWords, act: TableAct, *, anywhere: bool) -> None:
    text = reason_of(words.reason) if isinstance(words, SpokenWords) else ""
    words, token = _admitted(words)
    author = _author(words, act)
    floor = Floor.of(words, token)
    game_file = floor.game_file()
    record = game_file.record
    said = floor.check(record, author, words.key, act)
    assert isinstance(said, SeatAct | KeyChanged)  # noqa: S101 - what was asked about
    told = f"{author}: {act_words(said)}"
    confirm([told, *([f"reason: {quoted(text)}"] if text else []), *_about(game_file, act)], sure=words.yes)
    seq = floor.enter(record, author, words.key, act, text, anywhere=anywhere)
    print(f"entered as entry {seq}")


def _admitted(words: _W) -> tuple[_W, str]:
    """Return the same with what a join string says, and the token. Raise ``Failure``."""
    found, token, seat = words.admitted()
    if seat is None:
        return found, token
    if words.seat not in (None, seat):
        raise Failure(f"--seat {words.seat}: the join string is for seat {seat}", EXIT_USAGE)
    return replace(found, seat=seat), token


def _author(words: SeatWords, act: TableAct) -> Author:
    """Return who signs; an act by a scribe says whose it is. Raise ``Failure``."""
    if words.seat is None:
        raise Failure("no seat; expected --seat N, or a join string as GAME", EXIT_USAGE)
    if not isinstance(words, EnteredWords) or words.scribe is None:
        return Author(Role.SEAT, words.seat)
    assert not isinstance(act, log_pb2.Correct | log_pb2.Rule)  # noqa: S101 - no command of these
    act.seat = words.seat
    return Author(Role.SCRIBE, words.scribe)


def _about(game_file: GameFile, act: TableAct) -> list[str]:
    """Return what the entries hold that it names."""
    if isinstance(act, log_pb2.Protest | log_pb2.Appeal):
        return _entry(game_file, act.against_seq)
    if isinstance(act, log_pb2.Consent):
        proposal = game_file.record.game.arbitration.proposal
        return _taken_back(game_file, proposal.to_seq) if proposal is not None else []
    return _taken_back(game_file, act.to_seq) if isinstance(act, log_pb2.TakeBack) else []


def _entry(game_file: GameFile, seq: int) -> list[str]:
    entries = game_file.transcript.entries
    return [f"  {seq}  {entries[seq]}"] if seq < len(entries) else []


def _taken_back(game_file: GameFile, to_seq: int) -> list[str]:
    gone = game_file.transcript.counting_after(to_seq)
    return ["this would take back:", *(line for seq in gone for line in _entry(game_file, seq))]
