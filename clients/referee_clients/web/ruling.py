"""Rulings as a page asks for them: in JSON, in the words of ``referee rule``. Signs nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from referee.games import forfeits
from referee.log.errors import LogError
from referee.log.events import Author, Role
from referee.log.intent import TableAct, author_of
from referee.log.judge import judge_act
from referee.log.keys import PublicKey
from referee.log.reading import read_act
from referee.log.remarks import MAX_CHARACTERS, is_plain
from referee.log.replay import Record
from referee.log.v1 import log_pb2
from referee.text.notation.violations import BadWord
from referee.text.words.catalogue import Phrase, phrase
from referee_clients.rulings import BadMove, NotAllowed, Prepared, refused, resting, standing_move
from referee_clients.web.given import Given, key_of

_ENDINGS: Final = {ending.name.lower().replace("_", "-"): ending for ending in forfeits.ENDINGS}


def prepared(record: Record, given: Given) -> Prepared:
    """Return what is to be signed, for the game as it stands. Raise ``BadWord`` and ``NotAllowed``."""
    arbiter = given.number("arbiter") or 0
    if arbiter >= len(record.opened.arbiter_keys):
        raise NotAllowed(phrase("not allowed now: the game has no arbiter {n}", n=arbiter))
    kind, reason = given.text("ruling"), ""
    act: TableAct
    if kind == "change-key":
        act = _change_key(given)
    elif kind in _RULINGS:
        act = resting(_RULINGS[kind](given, record), given.text("rule"), given.number("decides"))
        reason = given.text("reason")
        if len(reason) > MAX_CHARACTERS or not is_plain(reason):
            what = phrase(": expected at most {most} printable characters", most=MAX_CHARACTERS)
            raise BadWord("reason", what)
    else:
        raise BadWord("ruling", _one_of(kind, [*_RULINGS, "change-key"]))
    given.check_all_read()
    found = Prepared.of(record.place, Author(Role.ARBITER, arbiter), act, reason)
    try:
        judge_act(record.game, read_act(found.intent, author_of(found.intent), record.game.position), record.size)
    except LogError as error:
        raise refused(error) from None
    return found


def _one_of(found: str, names: Iterable[str]) -> Phrase:
    return phrase(" {found}: expected one of {names}", found=repr(found[:40]), names=", ".join(names))


def _change_key(given: Given) -> log_pb2.ChangeKey:
    key = key_of("new-key", given.text("new-key"))
    try:
        PublicKey(key)
    except LogError as error:
        what = phrase(": {what}", what=error.phrase) if error.phrase else f": {error.what}; expected {error.expected}"
        raise BadWord("new-key", what) from None
    return log_pb2.ChangeKey(seat=given.needed("seat"), key=key)


def _penalty(given: Given, _: Record) -> log_pb2.Rule:
    time_ms = given.ms("time") if given.text("time") else 0
    points, strikes = given.number("points") or 0, given.number("strikes") or 0
    return log_pb2.Rule(
        penalty=log_pb2.Penalty(seat=given.needed("seat"), time_ms=time_ms, points=points, strikes=strikes)
    )


def _forfeit(given: Given, _: Record) -> log_pb2.Rule:
    name = given.text("ending") or "adjudicated"
    if name not in _ENDINGS:
        raise BadWord("ending", _one_of(name, _ENDINGS))
    ending = log_pb2.Ending.ValueType(_ENDINGS[name].value)
    return log_pb2.Rule(forfeit=log_pb2.Forfeit(seat=given.needed("seat"), ending=ending))


def _accept(given: Given, record: Record) -> log_pb2.Rule:
    try:
        return log_pb2.Rule(accept=standing_move(record, given.needed("seat"), given.text("move")))
    except BadMove as error:
        raise BadWord("move", f": {error}") from None


def _adjudicate(given: Given, _: Record) -> log_pb2.Rule:
    places, scores = given.numbers("places"), given.numbers("scores", -(1 << 31))
    return log_pb2.Rule(adjudicate=log_pb2.Adjudicate(places=places, scores=scores))


_RULINGS: Final[Mapping[str, Callable[[Given, Record], log_pb2.Rule]]] = {
    "pause": lambda *_: log_pb2.Rule(pause=log_pb2.Pause()),
    "adjourn": lambda *_: log_pb2.Rule(adjourn=log_pb2.Adjourn()),
    "resume": lambda *_: log_pb2.Rule(resume=log_pb2.Resume()),
    "restore": lambda given, _: log_pb2.Rule(restore=log_pb2.Restore(to_seq=given.needed("to"))),
    "set-clock": lambda given, _: log_pb2.Rule(
        set_clock=log_pb2.SetClock(seat=given.needed("seat"), left_ms=given.ms("left"))
    ),
    "penalty": _penalty,
    "forfeit": _forfeit,
    "reinstate": lambda given, _: log_pb2.Rule(reinstate=log_pb2.Reinstate(seat=given.needed("seat"))),
    "skip": lambda given, _: log_pb2.Rule(skip=log_pb2.Skip(seat=given.needed("seat"))),
    "accept": _accept,
    "adjudicate": _adjudicate,
    "void": lambda *_: log_pb2.Rule(void=log_pb2.Void()),
    "dismiss": lambda *_: log_pb2.Rule(dismiss=log_pb2.Dismiss()),
}
"""By name, as commands."""
