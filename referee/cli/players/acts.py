"""The acts of a seat besides moves: ``referee protest``, ``appeal``, ``resign``, ``take-back``, ``consent``, …"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Self, TypeVar

from cyclopts import Parameter
from cyclopts.validators import Number

from referee.cli.shared.arguments import new_private_key, public_key
from referee.cli.shared.failure import EXIT_USAGE, Failure
from referee.cli.shared.names import player_line
from referee.cli.shared.remote_games import whole_id
from referee.cli.shared.table import Floor, Remote, called, composed, confirm, reason_of
from referee.log.events import Author, KeyChanged, Role, SeatAct
from referee.log.intent import TableAct
from referee.log.v1 import log_pb2
from referee.server.live.docket import TEXT_EXPECTED, is_text
from referee.telling.game_file import GameFile
from referee.telling.words import act_words, quoted
from referee.v1 import arbiter_service_pb2 as pb
from referee_clients.join import JoinError, parse_join
from referee_clients.sdk.arbiter import arbiter
from referee_clients.status import call_words

RuleId = Annotated[
    str,
    Parameter(name="--rule", metavar="ID", help="The id of the rule: one of the game, or TBL-n.", show_default=False),
]


@dataclass(frozen=True, kw_only=True, slots=True)
class Joined(Remote):
    """The game, and a join string for it."""

    game: Annotated[
        str,
        Parameter(
            name="GAME",
            help="The seat's join string, which has the address, game, seat and token; '@FILE' reads "
            "it from a file. Or the game's id, with --server and --token-file.",
            show_default=False,
        ),
    ]

    def admitted(self) -> tuple[Self, str, int | None]:
        """Return the options completed from a join string, the token, and the join string's seat. Raise ``Failure``."""
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
    """The options of every act of a seat."""

    key: Annotated[
        Path,
        Parameter(metavar="FILE", help="The private key that signs the act.", show_default=False),
    ]
    seat: Annotated[
        int | None,
        Parameter(
            metavar="N",
            help="The seat that acts, if GAME is no join string that names it.",
            show_default=False,
            validator=Number(gte=0),
        ),
    ] = None
    yes: Annotated[bool, Parameter(help="Do not ask for confirmation.")] = False


@dataclass(frozen=True, kw_only=True, slots=True)
class EnteredWords(SeatWords):
    """The options of an act that a scribe may enter for the seat."""

    scribe: Annotated[
        int | None,
        Parameter(
            metavar="N",
            help="The scribe who enters it for --seat, a scribed seat.",
            show_default=False,
            validator=Number(gte=0),
        ),
    ] = None


@dataclass(frozen=True, kw_only=True, slots=True)
class SpokenWords(EnteredWords):
    """The options of an act that can have words."""

    reason: Annotated[
        str, Parameter(metavar="TEXT", help="The reason in words. It is kept beside the log, and can be erased.")
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
    told = [f"{author.phrase}: {act_words(said)}"]
    if words.seat is not None:
        told.insert(0, player_line(words.seat, floor.names(record)))
    confirm([*told, *([f"reason: {quoted(text)}"] if text else []), *_about(game_file, act)], sure=words.yes)
    seq = floor.enter(record, author, words.key, act, text, anywhere=anywhere)
    print(f"entered as entry {seq}")


def _admitted(words: _W) -> tuple[_W, str]:
    """Return the options completed from a join string, and the token. Raise ``Failure``."""
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


def _protest(
    *,
    entry: Annotated[
        int, Parameter(metavar="ENTRY", help="The entry that you dispute.", show_default=False, validator=Number(gte=0))
    ],
    rule: RuleId,
) -> log_pb2.Protest:
    """Dispute an entry, as a seat: an arbiter must rule on it before the game can end.

    Exit codes: 0 entered; 1 not allowed now, the referee cannot be reached or refuses, or you did not confirm; 2 wrong
    usage.

    Example: `referee protest @join.txt --key seat.pem --entry 41 --rule ALH-A2 --reason "that side has a wall"`
    """
    return log_pb2.Protest(against_seq=entry, rule_id=rule)


protest = command(SpokenWords, _protest, anywhere=True)


def _appeal(
    *,
    entry: Annotated[
        int, Parameter(metavar="ENTRY", help="The entry of the ruling.", show_default=False, validator=Number(gte=0))
    ],
    rule: RuleId,
) -> log_pb2.Appeal:
    """Dispute a ruling, as a seat: another arbiter of the game must rule on it before the game can end.

    Exit codes: 0 entered; 1 not allowed now, the referee cannot be reached or refuses, or you did not confirm; 2 wrong
    usage.

    Example: `referee appeal @join.txt --key seat.pem --entry 45 --rule TBL-7`
    """
    return log_pb2.Appeal(against_seq=entry, rule_id=rule)


appeal = command(SpokenWords, _appeal, anywhere=True)


def _resign() -> log_pb2.Resign:
    """Leave a game, as a seat: the seat forfeits, and the stand-in makes its moves while the others play on.

    Exit codes: 0 entered; 1 not allowed now, the referee cannot be reached or refuses, or you did not confirm; 2 wrong
    usage.

    Example: `referee resign @join.txt --key seat.pem`
    """
    return log_pb2.Resign()


resign = command(EnteredWords, _resign, anywhere=True)


def _take_back(
    *,
    to: Annotated[
        int,
        Parameter(
            metavar="ENTRY", help="The last entry that still counts.", show_default=False, validator=Number(gte=0)
        ),
    ],
) -> log_pb2.TakeBack:
    """Propose, as a seat, to take back everything after an entry. It happens once every other seat consents.

    The terms of the game must allow it, and it never goes back past a draw or a roll.

    Exit codes: 0 entered; 1 not allowed now, the referee cannot be reached or refuses, or you did not confirm; 2 wrong
    usage.

    Example: `referee take-back @join.txt --key seat.pem --to 40`
    """
    return log_pb2.TakeBack(to_seq=to)


take_back = command(EnteredWords, _take_back, anywhere=False)


def _consent(
    *,
    entry: Annotated[
        int, Parameter(metavar="ENTRY", help="The entry of the proposal.", show_default=False, validator=Number(gte=0))
    ],
) -> log_pb2.Consent:
    """Agree, as a seat, to a take-back that another seat proposed.

    Exit codes: 0 entered; 1 not allowed now, the referee cannot be reached or refuses, or you did not confirm; 2 wrong
    usage.

    Example: `referee consent @join.txt --key seat.pem --entry 42`
    """
    return log_pb2.Consent(to_seq=entry)


consent = command(EnteredWords, _consent, anywhere=False)


def _change_key(
    *,
    new_key: Annotated[
        str,
        Parameter(
            metavar="KEY",
            help="The seat's new key: a file with a private or public key, or the public key in hex.",
            show_default=False,
        ),
    ],
    new: Annotated[bool, Parameter(help="Create the file of --new-key with a new key, readable only by you.")] = False,
) -> log_pb2.ChangeKey:
    """Play on with another key, as a seat; --key is the one until now.

    The new key counts from the first act that it signs: sign the next move with it, and the old key ends. Until then
    you can use either. If the old key is lost, ask an arbiter (`referee rule change-key`). No key is changed before
    play: the seat's share of the deck follows from the key with which it joined.

    Exit codes: 0 entered; 1 not allowed now, the referee cannot be reached or refuses, or you did not confirm; 2 wrong
    usage.

    Example: `referee change-key @join.txt --key seat.pem --new-key new.pem --new`
    """
    if new:
        new_private_key(Path(new_key), instead="the name of a new file, or no --new to use this one")
    return log_pb2.ChangeKey(key=public_key(f"--new-key {new_key}", new_key))


change_key = command(SeatWords, _change_key, anywhere=True)


def _call(
    text: Annotated[
        str,
        Parameter(name="TEXT", help="Why you call, on one line of at most 200 characters.", show_default=False),
    ],
) -> str:
    """Call an arbiter to a game, as its seat, its scribe or the organiser. The clocks keep running.

    The call is not in the log. The arbiters see it at `referee arbiter`, in `referee docket` and in `referee status`
    until one of them answers it; a referee that is started again has forgotten it. Anyone who reads the docket can read
    the text. You can have one open call in a game.

    Exit codes: 0 the arbiters see the call; 1 the referee cannot be reached or refuses; 2 wrong usage.

    Example: `referee call @blue.join "the line of dominoes is wrong"`
    """
    return text


def _run(words: Joined, own: dict[str, Any]) -> None:
    text = own["text"]
    if not is_text(text):
        raise Failure(f"TEXT: a referee does not take this text; expected {TEXT_EXPECTED}", EXIT_USAGE)
    words, token, _ = words.admitted()
    secured = words.secured(token)
    game = whole_id(words.server, secured, words.game)

    async def ask() -> pb.Call:
        async with arbiter(words.server, game, token, secured) as calls:
            return await calls.call(text)

    found = called(words.server, ask)
    print(call_words(found))
    print("the arbiters see this until one of them answers it; `referee docket` shows whether it is still open")


call = composed(Joined, _call, _run)
