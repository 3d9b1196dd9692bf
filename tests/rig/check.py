"""The check that a game's log fits its clients' messages: linearizability, made easy by the order of the log.

Knows histories and entries, not how they came about. A finding is a sentence; a good game has none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from referee.log.codec import read_act
from referee.log.entry import decode_entry
from referee.log.errors import LogError, RulesError
from referee.log.intent import author_of, decode_intent
from referee.log.judge import judge_act
from referee.log.replay import Record, signed_part
from referee_clients.bot_check.relay import Stream
from tests.rig.history import Act, History, Outcome


def check(history: History, entries: Sequence[bytes]) -> list[str]:
    """Return the parts of the history that the log contradicts."""
    places: defaultdict[bytes, list[int]] = defaultdict(list)
    for seq, data in enumerate(entries):
        if (signed := signed_part(decode_entry(data))) is not None:
            places[signed.intent].append(seq)
    return [
        *(f"{seqs}: one act is several entries" for seqs in places.values() if len(seqs) > 1),
        *(f"{seqs}: an act that nobody made" for act, seqs in places.items() if act not in _made(history)),
        *(finding for act in history.acts for finding in _of_act(act, places.get(act.intent, []))),
        *_of_time(history.acts),
        *(finding for stream in history.streams for finding in _of_stream(stream, entries)),
        *_of_refusals(history.acts, entries),
    ]


def _made(history: History) -> set[bytes]:
    return {act.intent for act in history.acts}


def _of_act(act: Act, seqs: list[int]) -> Iterator[str]:
    """Check that an act stands in the log where its client learned that it does, and nowhere if it learned so."""
    who = f"{act.client}, act for {decode_intent(act.intent).seq}"
    if act.outcome is Outcome.ACCEPTED and seqs != [act.seq]:
        yield f"{who}: accepted as {act.seq}, stands at {seqs}"
    if act.outcome is Outcome.VOID and seqs:
        yield f"{who}: told that it is not in the log, stands at {seqs}"
    if act.outcome is Outcome.REFUSED and act.seq is not None and seqs != [act.seq]:
        yield f"{who}: its refusal recorded as {act.seq}, stands at {seqs}"
    if act.outcome is Outcome.REFUSED and act.seq is None and seqs:
        yield f"{who}: refused, stands at {seqs}"


def _of_time(acts: Sequence[Act]) -> Iterator[str]:
    """Check that an act acknowledged before another one was made stands before it."""
    newest: Act | None = None
    answered = sorted((act for act in acts if act.seq is not None), key=lambda act: act.answered_ns or 0)
    waiting = iter(answered)
    following = next(waiting, None)
    for act in sorted((act for act in acts if act.seq is not None), key=lambda act: act.invoked_ns):
        while following is not None and (following.answered_ns or 0) < act.invoked_ns:
            newest = following if newest is None or (following.seq or 0) > (newest.seq or 0) else newest
            following = next(waiting, None)
        if newest is not None and (newest.seq or 0) > (act.seq or 0):
            yield f"{act.client}: {act.seq} was made after {newest.seq} of {newest.client} was acknowledged"


def _of_stream(stream: Stream, entries: Sequence[bytes]) -> Iterator[str]:
    """It carries the log from its resume point on, as far as it came."""
    if stream.resume is None:
        return
    first = stream.resume + 1
    if stream.entries != list(entries[first : first + len(stream.entries)]):
        yield f"{stream.client}: the stream after {stream.resume} is not the log's {len(stream.entries)} entries"
    if stream.seqs != sorted(stream.seqs):
        yield f"{stream.client}: the stream after {stream.resume} goes back: {stream.seqs}"
    if stream.seqs and stream.seqs[-1] != stream.resume + len(stream.entries):
        yield f"{stream.client}: {stream.seqs[-1]} is told after {len(stream.entries)} entries from {first} on"


def _of_refusals(acts: Sequence[Act], entries: Sequence[bytes]) -> Iterator[str]:
    """Where a move was refused, it does break those rules."""
    refused: defaultdict[int, list[Act]] = defaultdict(list)
    for act in acts:
        if act.outcome is Outcome.REFUSED:
            refused[decode_intent(act.intent).seq].append(act)
    record: Record | None = None
    for seq, data in enumerate([*entries, b""]):
        try:
            if record is None:
                record = Record(decode_entry(data).open)
            for act in refused.pop(seq, ()):
                if (broken := _broken(record, act.intent)) != act.rules:
                    yield f"{act.client}, act for {seq}: refused for {act.rules}, breaks {broken}"
            if seq < len(entries):
                record.read(data)
        except LogError as error:
            yield f"entry {seq} does not follow: {error}"
            return
    for act in (act for rest in refused.values() for act in rest):
        yield f"{act.client}: refused at {decode_intent(act.intent).seq}, which the log has not reached"


def _broken(record: Record, body: bytes) -> tuple[str, ...]:
    """Return the rules that the act breaks now; its signature is the clients' own concern."""
    try:
        intent = decode_intent(body)
        judge_act(record.game, read_act(intent, author_of(intent), record.game.position), record.size)
    except RulesError as error:
        return tuple(error.rule_ids)
    except LogError as error:
        return (error.code.name,)
    return ()
