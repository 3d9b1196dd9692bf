"""Whole games for the tests, made with real keys; everything in them is fixed, so failures repeat."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from io import BytesIO
from typing import Any

from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

from referee.games.game import Chance, Decision
from referee.log import file, intent
from referee.log.audit import audit
from referee.log.deck import referee_commitment
from referee.log.engines import Engines
from referee.log.entry import Clock, Written
from referee.log.events import Author, Role
from referee.log.game import Phase
from referee.log.header import build_header, header_hash, rules_hash
from referee.log.intent import SignedIntent
from referee.log.keys import PrivateKey
from referee.log.note import CheckpointSigner
from referee.log.replay import Record
from referee.log.v1 import log_pb2
from referee.log.verdict import Policy, Report
from tests.log import toy

ORIGIN = "referee.example"


def seed(label: str) -> bytes:
    return sha256(f"test {label}".encode()).digest()


def key(label: str) -> PrivateKey:
    return PrivateKey(seed(label))


SIGNER = CheckpointSigner(ORIGIN, key("referee"))
SECRET = seed("r")
Choose = Callable[[Record, list[Any]], Any]


def first(record: Record, options: list[Any]) -> Any:
    return options[0]


@dataclass
class Played:
    """A game in progress or done, with what is needed to tamper with it."""

    record: Record
    header: bytes
    engines: Engines
    entries: list[bytes] = field(default_factory=list)
    notes: list[bytes] = field(default_factory=list)
    """The checkpoint after each entry, as receipts."""
    time_ms: int = 1_700_000_000_000
    drawn: Any = None
    """The draws of the players of a declared game, where there are too many outcomes to choose from."""

    def clock(self) -> Clock:
        self.time_ms += 250
        return Clock(self.time_ms, charged_ms=250)

    def keep(self, written: Written) -> None:
        self.entries.append(written.data)
        self.notes.append(SIGNER.sign(self.record.game_id, self.record.size, self.record.root()))

    def admit(self, signed: SignedIntent) -> None:
        self.keep(self.record.admit(signed, self.clock()))

    def settle(self) -> None:
        """Everything that the referee has to enter now."""
        while (event := self.record.due(0)) is not None:
            self.keep(self.record.write(event, self.clock()))

    def write(self, event: Any) -> None:
        self.keep(self.record.write(event, self.clock()))

    def file(self, *, note: bytes | None = None) -> bytes:
        return build_file(self.header, self.entries, note or self.notes[-1])

    def audit(self, data: bytes | None = None, policy: Policy | None = None) -> Report:
        policy = policy or Policy(SIGNER.verifier)
        return audit(BytesIO(self.file() if data is None else data), policy, engines=self.engines)


def small_header(rules_id: str = "toy", **other: Any) -> bytes:
    """Return a header of less than 100 bytes: it names the file of the messages and describes nothing."""
    values = {"descriptors": described(log_pb2.DESCRIPTOR.name), "rules_hash": rules_hash(toy.Toy.catalogue), **other}
    return log_pb2.Header(rules_id=rules_id, rules_version=1, **values).SerializeToString(deterministic=True)


def described(*names: str) -> bytes:
    """Return a FileDescriptorSet of files with nothing in them."""
    files = [FileDescriptorProto(name=name) for name in names]
    return FileDescriptorSet(file=files).SerializeToString(deterministic=True)


def build_file(header: bytes, entries: list[bytes], note: bytes) -> bytes:
    stream = BytesIO()
    writer = file.Writer(stream)
    writer.header(header)
    for entry in entries:
        writer.entry(entry)
    writer.end(note)
    return stream.getvalue()


def game_open(
    header: bytes,
    *,
    dealt: bool = True,
    seats: int = 2,
    scribed: tuple[int, ...] = (),
    recorded: bool = False,
    options: bytes = b"",
    tables: bytes = toy.CARDS,
    rules: tuple[str, int] = ("toy", 1),
    proofs: int = log_pb2.PROOF_POLICY_UNSPECIFIED,
) -> log_pb2.GameOpen:
    terms = log_pb2.Terms(proofs=log_pb2.ProofPolicy.ValueType(proofs))
    if recorded:
        terms.illegal_moves = log_pb2.ILLEGAL_MOVE_POLICY_RECORDED
    opened = log_pb2.GameOpen(
        format_version=1,
        rules_id=rules[0],
        rules_version=rules[1],
        options=options,
        tables=tables,
        seats=[log_pb2.Seat(player=seed(f"player {i}"), scribed=i in scribed) for i in range(seats)],
        terms=terms if recorded or proofs else None,
        scribe_keys=[] if dealt and not scribed else [key("scribe 0").public.raw, key("scribe 1").public.raw],
        arbiter_keys=[key("arbiter 0").public.raw],
        header_hash=header_hash(header),
        nonce=seed("nonce")[:16],
    )
    if dealt:
        opened.dealt.commitment = referee_commitment(SECRET)
    else:
        opened.declared.scribe = 1
    return opened


def start(
    opened: log_pb2.GameOpen | None = None,
    *,
    header: bytes | None = None,
    engines: Engines = toy.ENGINES,
    max_entries: int = 65_536,
    **options: Any,
) -> Played:
    header = header or build_header("toy", 1, toy.Toy.catalogue, log_pb2.DESCRIPTOR, "tests")
    opened = opened or game_open(header, **options)
    secret = SECRET if opened.HasField("dealt") else None
    record, written = Record.start(
        opened.SerializeToString(deterministic=True),
        Clock(1_700_000_000_000),
        engines=engines,
        secret=secret,
        max_entries=max_entries,
    )
    played = Played(record, header, engines)
    played.keep(written)
    return played


def seat_key(seat: int) -> PrivateKey:
    return key(f"seat {seat}")


def join_and_reveal(played: Played) -> None:
    seats = [i for i, seat in enumerate(played.record.opened.seats) if not seat.scribed]
    join(played, seats)
    reveal(played, seats)


def join(played: Played, seats: list[int]) -> None:
    record = played.record
    for i in reversed(seats):
        secret = seed(f"p {i}") if record.game.deal.is_dealt else None
        played.admit(intent.join(record.place, i, seat_key(i), secret))


def reveal(played: Played, seats: list[int]) -> None:
    """Reveal these seats' seeds in a dealt game; then the referee continues."""
    record = played.record
    if record.game.deal.is_dealt:
        for i in seats:
            played.admit(intent.reveal(record.place, i, seat_key(i), seed(f"p {i}")))
    played.settle()


def step(played: Played, choose: Choose = first) -> bool:
    """One act of somebody's; False if nothing is left to do."""
    record = played.record
    course = record.game
    if record.phase is not Phase.PLAYING:
        return False
    awaited = course.position.pending()[0]
    if isinstance(awaited, Chance):
        if played.drawn is not None:
            outcome = played.drawn.outcome(course.position.state)
        else:
            outcome = choose(record, [event for event, _ in course.position.state.chance_outcomes()])
        data = course.position.codec.encode_outcome(outcome, course.position.components)
        played.admit(intent.declare(record.place, 1, key("scribe 1"), data))
    elif isinstance(awaited, Decision):
        data = course.position.codec.encode_move(
            choose(record, list(course.position.state.legal_moves())), course.position.components
        )
        if record.opened.seats[awaited.seat].scribed:
            author, signing = Author(Role.SCRIBE, 0), key("scribe 0")
        else:
            author, signing = Author(Role.SEAT, awaited.seat), seat_key(awaited.seat)
        played.admit(intent.move(record.place, author, signing, data))
    played.settle()
    return True


def play(played: Played, choose: Choose = first) -> Played:
    join_and_reveal(played)
    while step(played, choose):
        pass
    return played


def abort(played: Played) -> Played:
    played.write(log_pb2.GameEnd(ending=log_pb2.ENDING_ABORTED))
    played.settle()
    return played
