"""Parts of an event that its acts, its terms and its position have in common, <-> protobuf."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NoReturn

from referee.event.v1 import event_pb2 as pb
from referee.games.event import acts
from referee.games.event.terms import Terms, TieBreak
from referee.games.game import SetupError
from referee.wire.strict import MalformedError

HASH_BYTES: Final = 32
GAME_ID_BYTES: Final = 16


def refuse(path: str, what: str, expected: str) -> NoReturn:
    """Raise ``MalformedError``."""
    raise MalformedError(what, path, 0, expected)


def sized(value: bytes, length: int, path: str, *, optional: bool = False) -> bytes:
    if len(value) != length and (value or not optional):
        refuse(path, f"{len(value)} bytes", f"{length} bytes{' or none' if optional else ''}")
    return value


def tables_of(messages: Iterable[pb.Table], path: str) -> acts.Tables:
    tables = tuple(tuple(message.players) for message in messages)
    for i, table in enumerate(tables):
        if not table:
            refuse(f"{path}[{i}]", "no players", "a table with players")
    return tables


def table_messages(tables: acts.Tables) -> list[pb.Table]:
    """Return a message for each table."""
    return [pb.Table(players=table) for table in tables]


def result_of(message: pb.Result, path: str = "result") -> acts.Result:
    """Raise ``MalformedError``."""
    if not message.places:
        refuse(f"{path}.places", "none", "a place for every seat")
    log = None
    if message.HasField("log"):
        game_id = sized(message.log.game_id, GAME_ID_BYTES, f"{path}.log.game_id")
        log = acts.GameLog(game_id, message.log.size, sized(message.log.root, HASH_BYTES, f"{path}.log.root"))
    return acts.Result(tuple(message.places), tuple(message.scores), tuple(message.forfeited), log)


def result_message(result: acts.Result) -> pb.Result:
    """Return the result as acts have it."""
    message = pb.Result(places=result.places, scores=result.scores, forfeited=result.forfeited)
    if result.log is not None:
        message.log.CopyFrom(pb.GameLog(game_id=result.log.game_id, size=result.log.size, root=result.log.root))
    return message


def terms_of(message: pb.Tables) -> Terms:
    """Raise ``MalformedError``."""
    for i, tie_break in enumerate(message.tie_breaks):
        if tie_break == pb.TIE_BREAK_UNSPECIFIED:
            refuse(f"tie_breaks[{i}]", "none", "a tie-break")
    try:
        return Terms(
            game=message.game,
            sizes=tuple(message.sizes),
            rounds=message.rounds,
            points=tuple(tuple(each.places) for each in message.points),
            commitment=message.commitment,
            tie_breaks=tuple(TieBreak(each) for each in message.tie_breaks),
            bye_points=message.bye_points,
            late_until=message.late_until,
            late_points=message.late_points,
            forfeit_keeps_points=message.forfeit_keeps_points,
            cut=message.cut,
            cut_size=message.cut_size,
            cut_advance=message.cut_advance,
        )
    except SetupError as error:
        raise MalformedError(error.what, error.field, 0, "terms of an event") from None


def terms_message(terms: Terms) -> pb.Tables:
    """Return the terms as GameOpen has them."""
    return pb.Tables(**vars(terms) | {"points": [pb.Points(places=places) for places in terms.points]})
