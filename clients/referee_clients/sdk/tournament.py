"""A tournament that a referee keeps, from its organiser's side: begun, followed, and each of its acts sent once.

Calls block, as commands and the desk wait for the result of an act. Raises ``ClientError``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import grpc

from referee.log.entry import decode_entry
from referee.log.errors import LogError
from referee.log.intent import Place, SignedIntent
from referee.log.keys import PrivateKey
from referee.log.note import VerifierKey, open_checkpoint
from referee.log.replay import Record, signed_part
from referee.tournament.log import AwayLog, Home, parts_of, terms_data
from referee.tournament.rules import Terms
from referee.v1 import event_service_pb2 as events_pb
from referee.v1 import event_service_pb2_grpc as events_grpc
from referee.v1 import game_service_pb2 as pb
from referee.v1 import game_service_pb2_grpc as pb_grpc
from referee_clients.sdk.channel import Security, bearer, open_blocking_channel
from referee_clients.sdk.errors import Answer, ClientError, Denied, Distrust, Unreachable, WentOn, answer_of, denied

CALL_S: Final = 15.0
LOG_S: Final = 60.0
PATIENCE_S: Final = 60.0
"""The seconds that a referee may be away, as when it is started again."""
_FIRST_WAIT_S: Final = 0.1
_LONGEST_WAIT_S: Final = 2.0
_T = TypeVar("_T")


class PartlyEntered(ClientError):
    """Some acts were entered, and the rest was not: why."""

    def __init__(self, entered: int, acts: int, why: Exception) -> None:
        super().__init__(f"{entered} of {acts} acts were entered, and the rest was not: {why}")
        self.entered = entered


@dataclass(frozen=True, slots=True)
class EventKeeper:
    """See ``referee.tournament.log.Keeper``. ``server`` to ``security`` are for an event that is begun."""

    server: str = ""
    token: str = ""
    security: Security | None = None
    patience_s: float = PATIENCE_S

    def begin(self, terms: Terms, key: PrivateKey, arbiters: Sequence[bytes]) -> tuple[Home, AwayLog]:
        """Begin an event at the referee, whose organiser has the key, and its arbiters those."""
        security = self.security or Security.from_environment()
        with open_blocking_channel(self.server, self.token, security) as channel:
            keys = [key.public.raw, *arbiters]
            request = events_pb.CreateEventRequest(terms=terms_data(terms), organiser_keys=keys)
            stub: Any = events_grpc.EventServiceStub(channel)
            try:  # once: a second request would begin another
                created = stub.CreateEvent(request, timeout=CALL_S, metadata=bearer(self.token))
            except grpc.RpcError as error:
                raise _denied(_answer(error)) from None
            data = self._asked(lambda: _file(channel, created.game.id))
        home = Home(
            self.server,
            created.organiser_token,
            created.verifier_key,
            _absolute(security.ca),
            _absolute(security.certificate),
            _absolute(security.key),
            security.insecure,
        )
        parts = parts_of(BytesIO(data))
        record = Record.replay(parts.entries)
        _check_begun(record, parts.note, home, request)
        return home, AwayLog(parts.header, record, parts.entries, key, parts.note)

    def follow(self, home: Home, log: AwayLog, *, waits: bool = True) -> None:
        """Take over what the log lacks. ``waits``: for a referee that is away, as long as patience lasts."""
        asking = self if waits else replace(self, patience_s=0)
        with _channel(home) as channel:
            asking._follow(channel, home, log)

    def send(self, home: Home, log: AwayLog) -> None:
        """Send the log's acts in order, and take over their entries; each is entered once, whatever breaks.

        Raise ``WentOn`` if another author entered something first, and ``PartlyEntered`` if that was after some acts.
        """
        acts = list(log.acts)
        if not acts:
            return
        place, sent = log.record.place, dict[int, SignedIntent]()
        why: Exception | None = None
        with _channel(home) as channel:
            try:
                for act in acts:
                    signed = log.signed(act, place)
                    accepted = self._submit(channel, home, place, signed)
                    sent[place.seq] = signed
                    place = Place(place.game_id, accepted.size, accepted.head)
            except (ClientError, LogError) as error:
                why = error
            log.forget()
            try:
                self._follow(channel, home, log)
            except Unreachable as error:
                told = f"{len(sent)} of {len(acts)} acts were entered, and the next may have been"
                raise Unreachable(f"{error}; {told}: see what `referee event show` shows when it is back") from None
        _check_entered(log, sent)
        if why is not None:
            raise PartlyEntered(len(sent), len(acts), why) if sent else why

    def _submit(self, channel: grpc.Channel, home: Home, place: Place, signed: SignedIntent) -> pb.Accepted:
        """Submit the same bytes until there is an answer: the referee enters them once."""
        request = pb.SubmitIntentRequest(game_id=place.game_id.hex(), intent=signed.intent, signature=signed.signature)
        stub: Any = pb_grpc.GameServiceStub(channel)

        def ask() -> pb.SubmitIntentResponse:
            answer: pb.SubmitIntentResponse = stub.SubmitIntent(request, timeout=CALL_S, metadata=bearer(home.token))
            return answer

        try:
            answer = self._asked(ask)
        except WentOn as error:
            raise WentOn(error.newest, "another desk or command entered something in this event meanwhile") from None
        if answer.HasField("refused"):
            broken = "; ".join(each.text or each.rule_id for each in answer.refused.violations)
            raise ClientError(f"the referee refuses an act that our rules allow: {broken}")
        return answer.accepted

    def _follow(self, channel: grpc.Channel, home: Home, log: AwayLog) -> None:
        """Read on until there is all that there was when it was asked for."""
        stub: Any = pb_grpc.GameServiceStub(channel)
        game_id = log.record.game_id.hex()

        def ask() -> None:
            size = stub.GetGame(pb.GetGameRequest(game_id=game_id), timeout=CALL_S).game.size
            if size < log.record.size:
                raise Distrust(f"the referee has {size} entries of {log.record.size} that it had signed")
            if size == log.record.size:
                return
            stream = stub.WatchGame(pb.WatchGameRequest(game_id=game_id, after_seq=log.record.size - 1), timeout=LOG_S)
            try:
                for message in stream:
                    if message.HasField("commit"):
                        _take(log, message.commit, home)
                    if log.record.size >= size:
                        return
            finally:
                stream.cancel()
            raise Unreachable("the stream ended before the newest entry")

        self._asked(ask)

    def _asked(self, ask: Callable[[], _T]) -> _T:
        """Ask until there is an answer. Raise ``Denied``, ``WentOn``, and ``Unreachable`` at the end of patience."""
        since_s, wait_s = time.monotonic(), _FIRST_WAIT_S
        while True:
            try:
                return ask()
            except grpc.RpcError as error:
                answer = _answer(error)
                if not answer.passes:
                    raise _denied(answer) from None
                why = str(answer)
                wait_s = max(wait_s, min(answer.retry_s or 0.0, _LONGEST_WAIT_S))
            if time.monotonic() - since_s > self.patience_s:
                waited = f" for {self.patience_s:.0f} s" if self.patience_s else ""
                raise Unreachable(f"the referee gave no answer{waited}; last problem: {why}")
            time.sleep(wait_s)
            wait_s = min(2 * wait_s, _LONGEST_WAIT_S)


def _check_begun(record: Record, note: bytes, home: Home, asked: events_pb.CreateEventRequest) -> None:
    """Raise ``Distrust`` unless the event is as asked for: its terms and the authors of acts are fixed now."""
    opened = record.opened
    for what, holds in (
        ("other terms", opened.tables == asked.terms),
        ("other keys that may enter acts", list(opened.scribe_keys) == list(asked.organiser_keys)),
        ("entries that were not sent", record.size == 1),
    ):
        if not holds:
            raise Distrust(f"the referee began an event with {what}; use another referee")
    try:
        head = open_checkpoint(note, VerifierKey.parse(home.verifier))
    except LogError as error:
        raise Distrust(f"the referee did not sign the event that it began: {error}") from error
    if (head.game_id, head.size, head.root) != (record.game_id, record.size, record.root()):
        raise Distrust("the referee signed another event than it began; use another referee")


def _take(log: AwayLog, commit: pb.Commit, home: Home) -> None:
    try:
        log.take(commit.entries, commit.checkpoint, VerifierKey.parse(home.verifier))
    except LogError as error:
        raise Distrust(f"the referee's record after entry {log.record.size - 1} is not valid: {error}") from error


def _check_entered(log: AwayLog, sent: Mapping[int, SignedIntent]) -> None:
    """Raise ``Distrust`` unless every act that was accepted is the entry that it was made for."""
    for seq, act in sent.items():
        entered = signed_part(decode_entry(log.entries[seq])) if seq < log.record.size else None
        if entered is None or entered.intent != act.intent:
            raise Distrust(f"the referee accepted an act, but entry {seq} is another")


def _denied(answer: Answer) -> ClientError:
    """Return the error for an answer that no repetition will change."""
    return denied(answer) if answer.reason == "STALE_HEAD" else Denied(f"the referee refused: {answer}")


def _answer(error: grpc.RpcError) -> Answer:
    return answer_of(cast("Any", error))  # of a call that blocks it is a call, too


def _file(channel: grpc.Channel, game_id: str) -> bytes:
    stub: Any = pb_grpc.GameServiceStub(channel)
    return b"".join(part.chunk for part in stub.GetLog(pb.GetLogRequest(game_id=game_id), timeout=LOG_S))


def _absolute(path: Path | None) -> str:
    return "" if path is None else str(path.absolute())


@contextmanager
def _channel(home: Home) -> Iterator[grpc.Channel]:
    ca, certificate, key = (Path(path) if path else None for path in (home.ca, home.certificate, home.key))
    security = Security(ca, certificate, key, home.insecure)
    with open_blocking_channel(home.server, home.token, security) as channel:
        yield channel
