"""Messages of the log as typed events: the only code that asks a message which of its fields is set.

``referee.log.judge`` decides whether an event may stand; ``LoggedGame`` has its effects.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from referee.games.game import Ending
from referee.games.results import Result
from referee.log import events
from referee.log.errors import Code, LogError, not_awaited
from referee.log.intent import author_of
from referee.log.v1 import log_pb2

_which = log_pb2.Intent.WhichOneof
"""The method itself: to find it in a message takes as long as to call it."""


class Decoder(Protocol):
    """The functions of a game for reading its entries; ``referee.log.position.Position`` has them."""

    def decoded_move(self, data: bytes) -> Any:
        """Return the engine's own move. Raise ``LogError``."""
        ...

    def decoded_outcome(self, data: bytes) -> Any:
        """Return the engine's own outcome. Raise ``LogError``."""
        ...


def read_entry(entry: log_pb2.Entry, kind: str, intent: log_pb2.Intent | None, decoder: Decoder) -> events.Event:
    """Return the event of an entry that ``decode_entry`` accepted. Raise ``LogError``: ``MALFORMED``, ``UNSUPPORTED``.

    ``kind``: its ``event_name``; ``intent``: the decoded intent in it, if it holds one.
    """
    if kind == "signed" and intent is not None:
        return read_act(intent, author_of(intent), decoder)
    if kind == "refused" and intent is not None:
        attempt = read_act(intent, author_of(intent), decoder)
        if not isinstance(attempt, events.Moved):
            raise not_awaited("a refused act", "a refused move")
        return events.Refused(attempt.author, attempt.move, tuple(entry.refused.rule_ids))
    read = _EVENTS.get(kind)
    if read is None:
        raise LogError(Code.UNSUPPORTED, f"an entry with {kind}")
    return read(entry, decoder)


def read_act(intent: log_pb2.Intent, author: events.Author, decoder: Decoder) -> events.Act:
    """Return what an intent of this author says that ``decode_intent`` accepted. Raise what ``read_entry`` raises."""
    kind = _which(intent, "act")
    if kind == "move":
        return events.Moved(author, decoder.decoded_move(intent.move))
    read = _ACTS.get(kind or "")
    if read is None:
        raise LogError(Code.UNSUPPORTED, f"{kind} is not offered by this version")
    return read(intent, author, decoder)


def read_rule(rule: log_pb2.Rule, author: events.Author, decode_move: Callable[[bytes], Any]) -> events.Ruled:
    """Return what a ruling says. Raise what ``decode_move`` raises; ``LogError`` (``MALFORMED``) for one of no kind."""
    kind = rule.WhichOneof("ruling")
    if kind is None:
        raise LogError(Code.MALFORMED, "a rule without a ruling", "one ruling")
    ruling: events.Ruling
    if kind == "accept":
        given = rule.accept
        ruling = events.Accept(_seat(given), decode_move(given.move), tuple(given.rule_ids))
    else:
        ruling = _RULINGS[kind](rule)
    decides = rule.decides if rule.HasField("decides") else None
    return events.Ruled(author, ruling, rule.rule_id, decides, rule.remark, rule)


def read_end(end: log_pb2.GameEnd) -> Result:
    """Return what a GameEnd says. Raise ``LogError`` (``MALFORMED``) for one that does not say how the game ended."""
    if end.ending == log_pb2.ENDING_UNSPECIFIED:
        raise LogError(Code.MALFORMED, "GameEnd without an ending", "an ending")
    return Result(Ending(end.ending), tuple(end.scores), tuple(end.places))


def _seat(given: Any) -> int:
    return given.seat if given.HasField("seat") else events.UNNAMED


def _dispute(given: log_pb2.Protest | log_pb2.Appeal) -> tuple[int, str, int, bytes]:
    return given.against_seq, given.rule_id, _seat(given), given.remark


def _adjudicated(given: log_pb2.Adjudicate) -> events.Adjudicate:
    return events.Adjudicate(Result(Ending.ADJUDICATED, tuple(given.scores), tuple(given.places)))


def _penalty(given: log_pb2.Penalty) -> events.Penalty:
    return events.Penalty(_seat(given), given.time_ms, given.points, given.strikes)


def _forfeit(given: log_pb2.Forfeit) -> events.Forfeit:
    return events.Forfeit(_seat(given), Ending(given.ending) if given.ending else None)


_EVENTS: Final[Mapping[str, Callable[[log_pb2.Entry, Decoder], events.Event]]] = {
    "open": lambda entry, _: events.Opened(entry.open),
    "chance": lambda entry, d: events.Dealt(d.decoded_outcome(entry.chance.outcome), entry.chance.outcome),
    "forced_pass": lambda entry, _: events.Passed(entry.forced_pass.seat),
    "stand_in": lambda entry, d: events.StoodIn(entry.stand_in.seat, d.decoded_move(entry.stand_in.move)),
    "timeout": lambda entry, _: events.TimedOut(entry.timeout.seat),
    "absent": lambda entry, _: events.WasAbsent(entry.absent.seat, entry.absent.since_ms),
    "interrupted": lambda entry, _: events.Interrupted(entry.interrupted.alive_ms),
    "recovered": lambda entry, _: events.Recovered(
        entry.recovered.lost_size, entry.recovered.lost_root, entry.recovered.copied_ms
    ),
    "end": lambda entry, _: events.Ended(read_end(entry.end)),
    "disclose": lambda entry, _: events.Disclosed(entry.disclose.seed),
}
_ACTS: Final[Mapping[str, Callable[[log_pb2.Intent, events.Author, Decoder], events.Act]]] = {
    "join": lambda i, author, _: events.Joined(author, i.join.key, i.join.commitment),
    "reveal": lambda i, author, _: events.Revealed(author, i.reveal.seed),
    "declare": lambda i, author, d: events.Declared(author, d.decoded_outcome(i.declare)),
    "resign": lambda i, author, _: events.Resigned(author, _seat(i.resign)),
    "take_back": lambda i, author, _: events.TakeBackProposed(author, i.take_back.to_seq, _seat(i.take_back)),
    "consent": lambda i, author, _: events.Consented(author, i.consent.to_seq, _seat(i.consent)),
    "protest": lambda i, author, _: events.Protested(author, *_dispute(i.protest)),
    "appeal": lambda i, author, _: events.Appealed(author, *_dispute(i.appeal)),
    "correct": lambda i, author, _: events.Corrected(author, i.correct.to_seq),
    "rule": lambda i, author, d: read_rule(i.rule, author, d.decoded_move),
    "change_key": lambda i, author, _: events.KeyChanged(author, _seat(i.change_key), i.change_key.key),
}
_RULINGS: Final[Mapping[str, Callable[[log_pb2.Rule], events.Ruling]]] = {
    "restore": lambda rule: events.Restore(rule.restore.to_seq),
    "adjudicate": lambda rule: _adjudicated(rule.adjudicate),
    "void": lambda _: events.Void(),
    "pause": lambda _: events.Pause(),
    "resume": lambda _: events.Resume(),
    "adjourn": lambda _: events.Adjourn(),
    "set_clock": lambda rule: events.SetClock(_seat(rule.set_clock), rule.set_clock.left_ms),
    "penalty": lambda rule: _penalty(rule.penalty),
    "forfeit": lambda rule: _forfeit(rule.forfeit),
    "reinstate": lambda rule: events.Reinstate(_seat(rule.reinstate)),
    "skip": lambda rule: events.Skip(_seat(rule.skip)),
    "dismiss": lambda _: events.Dismiss(),
}


AT_ANY_TIME: Final = (Ending.ABORTED, Ending.REFEREE_FAULT)
"""The endings that are possible at any time in a game without an end, whatever is awaited."""


def end_message(result: Result) -> log_pb2.GameEnd:
    """Return the result as an entry has it."""
    ending = log_pb2.Ending.ValueType(result.ending.value)
    return log_pb2.GameEnd(ending=ending, scores=result.scores, places=result.places)
