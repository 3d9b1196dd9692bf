"""The parts of an act: each step taken alone, in one process, over whole games; and what a batch shares."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, thread_time
from typing import Any, BinaryIO, TypeVar

from referee.log.engines import installed
from referee.log.entry import Clock, build_entry
from referee.log.events import Author, Role
from referee.log.intent import declare, decode_intent, intent_encoding, move
from referee.log.keys import PrivateKey
from referee.log.note import CheckpointSigner
from referee.log.replay import Record
from referee.log.v1 import log_pb2
from referee.server.live.opening import prepare
from referee.server.store.sqlite import SqliteStore
from referee.server.store.store import Change, Opening, Row
from referee.v1 import game_service_pb2 as pb
from referee_clients.sdk.game_copy import GameCopy
from tests.bench.acts import SCRIBE, SCRIPTS, SEATS, script
from tests.bench.measure import Figure

GAMES = 32
_T = TypeVar("_T")


class Steps:
    """Seconds by step."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = defaultdict(float)
        self.acts = 0

    def time(self, step: str, work: Callable[..., _T], *arguments: Any) -> _T:
        start = thread_time()
        found = work(*arguments)
        self.spent[step] += thread_time() - start
        return found


def game(steps: Steps, seed: int) -> None:
    """Every act of a game, step by step as the table takes them."""
    request = pb.CreateGameRequest(
        rules_id="alhambra", seats=[log_pb2.Seat(scribed=True)] * SEATS, declaring_scribe_key=SCRIBE.public.raw
    )
    record, _ = Record.start(prepare(request, installed(), "bench").open_data, Clock(1), engines=installed())
    course, signer = record.game, CheckpointSigner("referee.local", PrivateKey.generate())
    for is_move, data in script(seed):
        make = move(record.place, Author(Role.SCRIBE, 0), SCRIBE, data)
        signed = make if is_move else declare(record.place, 0, SCRIBE, data)
        act = pb.SignedAct(intent=signed.intent, signature=signed.signature)
        message = pb.PlayGameRequest(act=act).SerializeToString()
        steps.acts += 1
        steps.time("decode", pb.PlayGameRequest.FromString, message)
        intent = steps.time("decode", decode_intent, signed.intent)
        decode = course.position.codec.decode_move if is_move else course.position.codec.decode_outcome
        event = steps.time("decode", decode, data, course.position.components)
        steps.time("verify", SCRIBE.public.is_signed, intent_encoding(signed.intent), signed.signature)
        if steps.time("rules", course.position.state.check, event):
            raise AssertionError("the script is not legal")
        written = record.admit(signed, Clock(1), intent)
        twin = course.position.state.copy()
        steps.time("rules", twin.pending)
        steps.time("rules", twin.digest)
        event = log_pb2.Signed(intent=signed.intent, signature=signed.signature, key_id=signed.key_id)
        steps.time("entry", build_entry, record.place, Clock(1), course.position.digest(), event)
        root = steps.time("entry", record.root)
        note = steps.time("sign", signer.sign, record.game_id, record.size, root)
        commit = pb.Commit(entries=[written.data], checkpoint=note)
        steps.time("encode", pb.PlayGameResponse(seq=1, commit=commit).SerializeToString)
        while (due := record.due(0)) is not None:
            record.write(due, Clock(1))


def commits(steps: Steps) -> None:
    """Measure the writer thread's work for a batch of as many games, without the disk's wait."""
    with TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "bench.db")
        games = [os.urandom(16) for _ in range(GAMES)]
        store._write([Change(game, [Row(0, b"open")], Opening(b"h" * 32, b"header", None, [])) for game in games])
        store._write_side.execute("PRAGMA synchronous = OFF")
        for seq in range(1, 200):
            changes = [Change(game, [Row(seq, os.urandom(420), os.urandom(250))]) for game in games]
            steps.time("commit", store._write, changes)
        steps.spent["commit"] *= steps.acts / (199 * GAMES)


def copies() -> Figure:
    """Measure a seat's copy of its game, durable before the seat signs again; the floor is the bytes alone."""
    request = pb.CreateGameRequest(
        rules_id="alhambra", seats=[log_pb2.Seat(scribed=True)] * SEATS, declaring_scribe_key=SCRIBE.public.raw
    )
    opening = prepare(request, installed(), "bench")
    record, opened = Record.start(opening.open_data, Clock(1), engines=installed())
    signer, entries, kept, bare = CheckpointSigner("referee.local", PrivateKey.generate()), [opened.data], [], []
    with TemporaryDirectory(dir=".") as folder:
        copy = GameCopy(Path(folder), record.game_id.hex(), "0", signer.verifier)
        copy._header = opening.opening.header
        with (Path(folder) / "floor").open("ab") as floor:
            for is_move, data in script(0)[:_KEPT]:
                make = move(record.place, Author(Role.SCRIBE, 0), SCRIBE, data)
                signed = make if is_move else declare(record.place, 0, SCRIBE, data)
                entries.append(record.admit(signed, Clock(1), decode_intent(signed.intent)).data)
                while (due := record.due(0)) is not None:
                    entries.append(record.write(due, Clock(1)).data)
                note = signer.sign(record.game_id, record.size, record.root())
                size = copy._end
                kept.append(_us(partial(copy.keep, entries, note)))
                bare.append(_us(partial(_write, floor, os.urandom(copy._end - size))))
    what = "a seat keeps its copy before it signs, µs by the clock; the floor is the disk"
    return Figure(what, median(kept), floor=median(bare))


def _write(file: BinaryIO, data: bytes) -> None:
    file.write(data)
    file.flush()
    os.fsync(file.fileno())


_KEPT = 150
"""Acts after which a seat keeps its copy."""


def _us(work: Callable[[], object]) -> float:
    start = perf_counter()
    work()
    return 1e6 * (perf_counter() - start)


def figures() -> Iterator[Figure]:
    """Microseconds of an act by step."""
    steps = Steps()
    for seed in range(SCRIPTS):
        game(steps, seed)
    commits(steps)
    for step, spent in steps.spent.items():
        yield Figure(f"{step}, µs of an act", 1e6 * spent / steps.acts)
    yield copies()
