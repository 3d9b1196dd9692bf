"""The protocol of a program that is a bot: each question and each answer is one line of JSON (docs/exec-bots.md).

Positions and moves are the messages of the API and of the log in protobuf's JSON, with the names of their fields as the
.proto files have them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

from google.protobuf import json_format, message_factory
from google.protobuf.message import Message

from referee.games import registry as games
from referee.text.notation.questions import QueryError, parse_object, shown
from referee.text.notation.registry import notation
from referee.wire import registry as wire
from referee.wire.strict import MalformedError
from referee_clients.bots.bot import RESIGN, Ending, Happening, Proposal, Protest, Table, TakeBack

PROTOCOL: Final = 1
_SHOWN_BYTES: Final = 60
_ENCODE: Final = json.JSONEncoder(separators=(",", ":")).encode


def hello() -> bytes:
    """Return the first line."""
    return _line({"hello": {"protocol": PROTOCOL}})


def new(table: Table) -> bytes:
    """Return the line that tells of the game."""
    codec = wire.codec(table.rules_id, table.rules_version)
    told: dict[str, Any] = {
        "game": table.rules_id,
        "version": table.rules_version,
        "seats": table.seats,
        "seat": table.seat,
        "id": table.game_id,
        "options": _as_json(_message(table, "Options").FromString(codec.encode_options(table.options))),
        "terms": None if table.terms is None else _as_json(table.terms),
    }
    if table.seed is not None:
        told["seed"] = table.seed
    return _line({"new": told})


def turn(table: Table, number: int, observation: Any, legal_moves: Sequence[Any]) -> bytes:
    """Return the question for a move."""
    codec = wire.codec(table.rules_id, table.rules_version)
    moves, words = _message(table, "Move"), notation(table.rules_id)
    asked = {
        "number": number,
        "left_ms": table.left_ms(),
        "position": _as_json(codec.position(observation)),
        "moves": [_as_json(moves.FromString(codec.encode_move(move, table.components))) for move in legal_moves],
        "texts": [words.describe(move, observation) for move in legal_moves],
        "since": _since(table),
    }
    return _line({"turn": asked})


def take_back(proposal: Proposal) -> bytes:
    """Return the question whether the seat agrees."""
    return _line({"take_back": {"entry": proposal.seq, "seat": proposal.seat, "to": proposal.to_seq}})


def end(table: Table, ending: Ending) -> bytes:
    """Return the last line."""
    told = {"ending": ending.ending, "scores": ending.scores, "places": ending.places, "since": _since(table)}
    return _line({"end": told})


def _since(table: Table) -> list[dict[str, Any]]:
    return [_happened(each) for each in table.since()]


def _happened(happening: Happening) -> dict[str, Any]:
    return {"entry": happening.seq, "seat": happening.seat, "kind": happening.kind, "text": happening.text}


def answer(line: bytes) -> Mapping[str, Any]:
    """Return an answer. Raise ``QueryError``."""
    try:
        return parse_object(line)
    except QueryError as error:
        raise QueryError(f"{shown(line[:_SHOWN_BYTES].decode(errors='replace'))}: {error}") from None


def games_of(said: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Return what it plays; None: everything. Raise ``QueryError``."""
    if type(said.get("name")) is not str:
        raise QueryError(f'{shown(dict(said))}; expected {{"name":"…"}} with its name, and perhaps "games"')
    plays = said.get("games")
    if plays is None:
        return None
    if type(plays) is not list or not all(type(each) is str for each in plays):
        raise QueryError(f"games: {shown(plays)}; expected a list such as {shown(games.names())}")
    return tuple(plays)


def answers_take_backs(said: Mapping[str, Any]) -> bool:
    """Return whether it wants to be asked about take-backs. Raise ``QueryError``."""
    wants = said.get("take_backs", False)
    if type(wants) is not bool:
        raise QueryError(f"take_backs: {shown(wants)}; expected true or false")
    return wants


def agreed(said: Mapping[str, Any]) -> bool:
    """Return whether it agrees to a take-back. Raise ``QueryError``."""
    if set(said) != {"agree"} or type(said["agree"]) is not bool:
        raise QueryError(f'{shown(dict(said))}; expected {{"agree":true}} or {{"agree":false}}')
    return bool(said["agree"])


def choice_of(table: Table, said: Mapping[str, Any], legal_moves: Sequence[Any]) -> Any:
    """Return what it chose: a move, ``RESIGN``, a ``TakeBack`` or a ``Protest``. Raise ``QueryError``."""
    match said:
        case {"resign": True} if len(said) == 1:
            return RESIGN
        case {"resign": _}:
            raise QueryError(f'{shown(dict(said))}; expected {{"resign":true}} alone')
        case {"take_back": {"to": int(to), **others}} if len(said) == 1 and not others and type(to) is int:
            return TakeBack(to)
        case {"take_back": _}:
            raise QueryError(
                f'{shown(dict(said))}; expected {{"take_back":{{"to":NUMBER}}}} with the last entry to keep'
            )
        case {"protest": {"entry": int(entry), "rule": str(rule), **others}} if (
            len(said) == 1 and not others and type(entry) is int
        ):
            return Protest(entry, rule)
        case {"protest": _}:
            raise QueryError(f'{shown(dict(said))}; expected {{"protest":{{"entry":NUMBER,"rule":"…"}}}} alone')
    return _move_of(table, said, legal_moves)


def _move_of(table: Table, said: Mapping[str, Any], legal_moves: Sequence[Any]) -> Any:
    """Return the move: one of the list by its number, or one in full. Raise ``QueryError``."""
    if set(said) != {"move"}:
        raise QueryError(f'{shown(dict(said))}; expected {{"move":NUMBER}}, with a number of the list of moves')
    move = said["move"]
    if type(move) is int:
        if not 0 <= move < len(legal_moves):
            raise QueryError(f"move: {move}; expected a number from 0 to {len(legal_moves) - 1}")
        return legal_moves[move]
    if type(move) is not dict:
        raise QueryError(
            f"move: {shown(move)}; expected a number from 0 to {len(legal_moves) - 1}, or a move as listed"
        )
    message = _message(table, "Move")()
    try:
        json_format.ParseDict(move, message)
        return wire.codec(table.rules_id, table.rules_version).decode_move(
            message.SerializeToString(deterministic=True), table.components
        )
    except (json_format.ParseError, RecursionError):
        raise QueryError(f"move: {shown(move)}; expected a move with the fields that those of the list have") from None
    except MalformedError as error:
        raise QueryError(f"move: {shown(move)}: {error}") from None


@cache
def _messages(rules_id: str, version: int) -> Mapping[str, type[Message]]:
    found = wire.codec(rules_id, version).signed_file().message_types_by_name
    return {name: message_factory.GetMessageClass(found[name]) for name in ("Move", "Options")}


def _message(table: Table, name: str) -> type[Message]:
    return _messages(table.rules_id, table.rules_version)[name]


def _as_json(message: Message) -> dict[str, Any]:
    found: dict[str, Any] = json_format.MessageToDict(
        message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
    )
    return found


def _line(told: Mapping[str, Any]) -> bytes:
    return f"{_ENCODE(told)}\n".encode()
