"""Files that cost their auditor most, and a process for each that audits it.

``python -m tests.log.hostile`` reads lines such as ``["FILE", SECONDS]``. It has imported what an audit needs, and
audits every file in a process that it forks: to import it again would take longer than most of the audits.

Each is an honest beginning and one thing that is repeated until the file has its size. Checksums are right, and its
maker has the keys of its game, so nothing stops the reader early.
"""

from __future__ import annotations

import atexit
import json
import os
import resource
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from io import BytesIO
from itertools import count, cycle, islice, repeat
from pathlib import Path
from typing import Any, Final, Never, TextIO

from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

from referee.games.alhambra.moves import Buy
from referee.games.kingdomino.dominoes import DOMINOES
from referee.games.kingdomino.moves import PlaceDomino
from referee.games.kingdomino.position import Phase
from referee.log import intent
from referee.log.audit import audit
from referee.log.certificates import encode_proof
from referee.log.entry import MAX_ENTRIES, decode_entry
from referee.log.errors import LogError
from referee.log.events import Author, Role
from referee.log.file import HEAD_BYTES, MAGIC, MAX_FILE_BYTES, MAX_IGNORABLE_BYTES, TAIL_BYTES, FrameType, encode_frame
from referee.log.intent import TableAct
from referee.log.merkle import leaf_hash
from referee.log.note import Checkpoint, Note, NoteSignature
from referee.log.remarks import MAX_CHARACTERS, SALT_BYTES, commitment, encode_remark
from referee.log.v1 import log_pb2
from referee.log.verdict import Policy
from referee.wire import strict
from referee.wire.certificates.alhambra.claims import Add, DistanceClaim, Swap
from referee.wire.certificates.kingdomino import certificate
from referee.wire.certificates.kingdomino.claims import DiscardClaim, Frame, Kingdom
from referee.wire.schema import MAX_REPEATED
from referee_solver.alhambra import building
from tests.log import registered
from tests.log.games import SIGNER, Played, join_and_reveal, seat_key, small_header, step
from tests.log.registered import at_random, attempt
from tests.log.seated import CLOCK, Seated

_HEADER = encode_frame(FrameType.HEADER, small_header())
_FAR = 1 << 30
_SKIPPED = 0xFF
"""A type of frame that no reader knows and every one may skip."""

SECONDS_A_MIB = 10
MOST_BYTES = 256 << 20
"""The most memory of the process."""
_NO_MORE_BYTES = 2 << 30
"""The address space at which a process ends that breaks the limit above."""


@cache
def begun(rules_id: str) -> Played:
    """Return a game with certificates and attempts, up to the first choice that makes a claim in Kingdomino."""
    played = registered.opened(rules_id, seats=2, recorded=True, proofs=log_pb2.PROOF_POLICY_ALL)
    join_and_reveal(played)
    position: Any = played.record.game.position
    while rules_id == "kingdomino" and position.state.phase is not Phase.PLACE:
        assert step(played, at_random(1))
    return played


def beginning(played: Played) -> bytes:
    """MAGIC, header, entries."""
    entries = [encode_frame(FrameType.ENTRY, data) for data in played.entries]
    return b"".join([MAGIC, encode_frame(FrameType.HEADER, played.header), *entries])


def _filled(start: bytes, frames: Iterable[bytes], size: int) -> bytes:
    """Return frames until the file has ``size`` bytes or the frames end."""
    out, length = [start], len(start)
    for frame in frames:
        if length + len(frame) > size:
            break
        out.append(frame)
        length += len(frame)
    return b"".join(out)


def _entries(payloads: Iterable[bytes]) -> Iterator[bytes]:
    return (encode_frame(FrameType.ENTRY, data) for data in islice(payloads, MAX_ENTRIES))


# Bytes that are nothing


def tiny(size: int) -> bytes:
    """Return the most entries allowed, of a byte each, and as many frames beside them."""
    pair = encode_frame(FrameType.ENTRY, b"\0") + encode_frame(0x83, b"\0")
    return _filled(MAGIC + _HEADER, repeat(pair, MAX_ENTRIES), size)


def skipped(size: int) -> bytes:
    """Return the longest frames that may be skipped, up to the very last byte."""
    room = size - len(MAGIC + _HEADER)
    number = -(-room // (HEAD_BYTES + MAX_IGNORABLE_BYTES + TAIL_BYTES))
    shares = ((i + 1) * room // number - i * room // number - HEAD_BYTES - TAIL_BYTES for i in range(number))
    return MAGIC + _HEADER + b"".join(encode_frame(0x83, bytes(share)) for share in shares)


def nested(size: int) -> bytes:
    """Groups in groups."""
    return _filled(MAGIC + _HEADER, _entries(repeat(b"\x0b" * strict.MAX_ENTRY_BYTES)), size)


def late_faults(size: int) -> bytes:
    """Entries with a fault at their end, which both decoders reach; they look like the one with the seed, too."""
    refused = log_pb2.Entry(refused=log_pb2.Refused(rule_ids=["x" * 58] * MAX_REPEATED))
    data = refused.SerializeToString() + b"\x82\x01\x22\x0a\x20" + bytes(32)
    return _filled(MAGIC + _HEADER, _entries(repeat(data)), size)


def torn(size: int) -> bytes:
    """Return a frame that ends early, with the beginnings of frames wherever one looks."""
    length = min(size, 256 * 1024)
    return MAGIC + length.to_bytes(4, "big") + b"\1" + (b"\0\0\x80\x80" * size)[: length - 1]


def descriptors(size: int) -> bytes:
    """Return the largest header, of the smallest files."""
    names = [FileDescriptorProto(name=f"{number:x}") for number in range(min(size, 250_000) // 10)]
    named = [*names, FileDescriptorProto(name=log_pb2.DESCRIPTOR.name)]
    header = small_header(descriptors=FileDescriptorSet(file=named).SerializeToString())
    return MAGIC + encode_frame(FrameType.HEADER, header) + encode_frame(FrameType.ENTRY, begun("alhambra").entries[0])


# Signatures


def signed(size: int) -> bytes:
    """Repeat one good signature."""
    played = begun("alhambra")
    join = next(data for data in played.entries if decode_entry(data).HasField("signed"))
    return _filled(beginning(played), _entries(repeat(join)), size)


def longest(size: int) -> bytes:
    """Entries as long as they may be, in which nothing is wrong but their place, and that there is no such move."""
    played = begun("alhambra")
    body = bytes(strict.MAX_BODY_BYTES - 128)
    act = intent.move(played.record.place, Author(Role.SEAT, 0), seat_key(0), body)
    entry = decode_entry(played.entries[-1])
    entry.refused.CopyFrom(log_pb2.Refused(intent=act.intent, signature=act.signature, key_id=act.key_id))
    entry.refused.rule_ids.extend(f"{number:058}" for number in range(271))
    data = strict.encode(entry)
    assert strict.MAX_ENTRY_BYTES - 100 < len(data) <= strict.MAX_ENTRY_BYTES, len(data)
    return _filled(beginning(played), _entries(repeat(data)), size)


def texts(size: int) -> bytes:
    """Protests with the longest texts that there are, of characters that take most memory."""
    played = begun("alhambra")
    entry = decode_entry(played.entries[-1])
    entry.signed.SetInParent()
    text, salt = "\U0001f3f0" + "x" * (MAX_CHARACTERS - 1), bytes(SALT_BYTES)
    act = log_pb2.Intent(game_id=entry.game_id, prev=entry.prev, seat=0)
    act.protest.remark = commitment(salt, text)
    signed = intent.sign(act, seat_key(0))
    entry.signed.CopyFrom(log_pb2.Signed(intent=signed.intent, signature=signed.signature, key_id=signed.key_id))
    protest = encode_frame(FrameType.ENTRY, strict.encode(entry))
    first = len(played.entries)
    remarks = (encode_remark(log_pb2.Remark(seq=first + number, salt=salt, text=text)) for number in count())
    pairs = (protest + encode_frame(FrameType.REMARK, remark) for remark in remarks)
    return _filled(beginning(played), islice(pairs, MAX_ENTRIES), size)


def checkpoints(size: int) -> bytes:
    """One after each entry, of a tree that is still to come: all of them signed, and kept until the end."""
    heads = (SIGNER.sign(bytes(16), _FAR + number, bytes(32)) for number in count())
    pairs = (encode_frame(2, b"\0") + encode_frame(FrameType.OLD_CHECKPOINT, head) for head in heads)
    return _filled(MAGIC + _HEADER, islice(pairs, MAX_ENTRIES), size)


def signatures(size: int) -> bytes:
    """Checkpoints with as many signatures as a note may have, none of them right."""
    text = Checkpoint(SIGNER.verifier.name, bytes(16), 1, bytes(32)).text()
    lines = [NoteSignature("\u00e4" * 400 + str(number), b"four", bytes(64)) for number in range(15)]
    note = Note(text, (*lines, NoteSignature(SIGNER.verifier.name, SIGNER.verifier.id, bytes(64)))).encode()
    pair = encode_frame(FrameType.ENTRY, b"\0") + encode_frame(FrameType.OLD_CHECKPOINT, note)
    return _filled(MAGIC + _HEADER, repeat(pair), size)


def recovered(size: int) -> bytes:
    """Return a referee that says again and again that it has lost entries."""
    played = begun("alhambra")
    entry = decode_entry(played.entries[-1])
    more = log_pb2.Entry(game_id=entry.game_id, seq=9, prev=entry.prev, state_digest=entry.state_digest)
    more.recovered.lost_size = _FAR
    return _filled(beginning(played), _entries(repeat(strict.encode(more))), size)


# Moves


def _attempts(played: Played, moves: Iterable[Any], size: int) -> bytes:
    """Ask about one position with each of these moves."""
    start, first, tries = beginning(played), len(played.entries), iter(moves)
    length = len(start)
    while length < size and len(played.entries) < MAX_ENTRIES - 2:  # the end and the seed have to fit
        assert attempt(played, next(tries))
        length += len(played.entries[-1]) + HEAD_BYTES + TAIL_BYTES
    return _filled(start, _entries(played.entries[first:]), size)


def long_moves(size: int) -> bytes:
    """A purchase with more cards than there are."""
    return _attempts(registered_anew("alhambra"), repeat(Buy(0, (5,) * MAX_REPEATED)), size)


def many_moves(size: int) -> bytes:
    """Attempts that each make a claim, which is kept as no certificate ever comes."""
    played = registered_anew("kingdomino")
    state: Any = played.record.game.position.state
    number = state.due().number
    tries = (PlaceDomino(number, (x, 0), (x + 1, 0)) for x in cycle(range(20, 1 << 20)))
    return _attempts(played, tries, size)


def registered_anew(rules_id: str) -> Played:
    """Return a fresh ``begun``, for callers that add to it."""
    begun.cache_clear()
    played = begun(rules_id)
    begun.cache_clear()
    return played


# Certificates


def _proofs(rules_id: str, certificates: Iterator[bytes], size: int) -> bytes:
    """Return each for the last entry, which claims something else."""
    played = registered_anew(rules_id)
    if rules_id == "kingdomino":
        state: Any = played.record.game.position.state
        assert attempt(played, PlaceDomino(state.due().number, (20, 0), (21, 0)))
    else:
        while not claimed(played):
            assert step(played, at_random(3))
    seq = len(played.entries) - 1
    leaf = leaf_hash(played.entries[seq])
    frames = (encode_frame(FrameType.CERTIFICATE, encode_proof(seq, leaf, each)) for each in certificates)
    return _filled(beginning(played), frames, size)


def claimed(played: Played) -> bool:
    """Return whether the last entry is a tile placed in Alhambra."""
    entry = decode_entry(played.entries[-1])
    act = log_pb2.Intent.FromString(entry.signed.intent)
    return (
        bool(act.move)
        and type(registered.codec("alhambra").decode_move(act.move, components())).__name__ == "PlaceTile"
    )


@cache
def components() -> Any:
    codec = registered.codec("alhambra")
    return codec.decode_components(codec.encode_components(None))


def _grown(dominoes: int) -> Kingdom:
    """Return the first dominoes that fit, each where it first fits, in the frame that is slowest to judge."""
    kingdom = Kingdom(Frame(7, None))
    for domino in DOMINOES[:40]:
        found = certificate.first_placement(kingdom, domino)
        if found is not None and len(kingdom.dominoes) < dominoes:
            kingdom = Kingdom(kingdom.frame, (*kingdom.dominoes, found))
    return kingdom


def discards(size: int, dominoes: int = 23) -> bytes:
    """That a domino fits nowhere, in kingdoms that differ in their crowns alone."""
    kingdom = _grown(dominoes)
    made = certificate.evidence_of(DiscardClaim(kingdom, DOMINOES[47]))

    def certificates() -> Iterator[bytes]:
        placed = made.claim.discard.kingdom.dominoes
        for number in count():
            for at, each in enumerate(placed):
                each.domino.left.crowns, each.domino.right.crowns = number >> 4 * at & 3, number >> 4 * at + 2 & 3
            yield made.SerializeToString(deterministic=True)

    return _proofs("kingdomino", certificates(), size)


def first_discards(size: int) -> bytes:
    """Fill the file with discards from the smallest kingdoms."""
    return discards(size, dominoes=2)


def distances(size: int) -> bytes:
    """Return the longest ways from layout to layout that fit into a frame, through small ones."""
    stock = [name for name in components().names if name[-1].isdigit()]
    cells = [(1, 0), (-1, 0), (0, 1), (0, -1)]
    layout = dict(zip(cells, stock, strict=False))
    seen, moves = {tuple(layout.values())}, [Add(name, cell) for cell, name in layout.items()]
    steps: list[Any] = [*moves]
    while len(steps) < 1500:
        for cell in cells:
            for name in stock:
                after = {**layout, cell: name}
                if name not in layout.values() and tuple(after.values()) not in seen:
                    break
            else:
                continue
            break
        else:
            break
        layout = after
        seen.add(tuple(layout.values()))
        steps.append(Swap(name, cell))

    def certificates() -> Iterator[bytes]:
        for turns in range(1000):
            claim = DistanceClaim({}, tuple(stock), {}, 1000 - turns)
            data = building.of_distance(claim, steps, 0)
            assert len(data) < MAX_IGNORABLE_BYTES - 100, len(data)
            yield data

    return _proofs("alhambra", certificates(), size)


# The table


def _conducted(message: Callable[[Seated, int], TableAct], role: Role, size: int, *, turns: int = 31) -> bytes:
    """Repeat an act in a game by the rules of the table, in which moves can be taken back."""
    terms = log_pb2.Terms(table_rules=1, clock=CLOCK, take_backs=True)
    game = Seated("kingdomino", seats=4, dealt=False, terms=terms)
    for _ in range(turns):
        game.step()
    first, length = game.record.size - 1, len(beginning(game.played))
    while length < size and game.record.size < MAX_ENTRIES - 3:
        try:
            game.act(role, 0, message(game, first))
        except LogError:  # it is counted: then a move is made, and taken back
            game.step()
            game.rule(rule_id="TBL-22", restore=log_pb2.Restore(to_seq=first))
            length += 2 * len(game.played.entries[-1]) + 18
        length += len(game.played.entries[-1]) + 9
    return beginning(game.played)


def restores(size: int) -> bytes:
    """An arbiter who goes back to a position of which no copy is kept, so that it is played anew, again and again."""

    def back(_: Seated, first: int) -> TableAct:
        return log_pb2.Rule(rule_id="TBL-22", restore=log_pb2.Restore(to_seq=first))

    return _conducted(back, Role.ARBITER, size)


def rulings(size: int) -> bytes:
    """Warnings, each a moment that the game can go back to, and seats put out and brought back."""

    def ruling(game: Seated, _: int) -> TableAct:
        if game.record.size % 3:
            return log_pb2.Rule(rule_id="TBL-33", penalty=log_pb2.Penalty(seat=0))
        if 3 in game.game.arbitration.out:
            return log_pb2.Rule(rule_id="TBL-34", reinstate=log_pb2.Reinstate(seat=3))
        return log_pb2.Rule(rule_id="TBL-34", forfeit=log_pb2.Forfeit(seat=3, ending=log_pb2.ENDING_CRASHED))

    return _conducted(ruling, Role.ARBITER, size)


def protests(size: int) -> bytes:
    """Make all the protests that a seat has, then its other acts: the rest of the file are rulings on nothing."""
    return _conducted(lambda game, first: log_pb2.Protest(against_seq=first, rule_id="TBL-1"), Role.SEAT, size)


def proposals(size: int) -> bytes:
    """To take back what cannot be agreed on; when they are used up a move is made and taken back by an arbiter."""
    return _conducted(lambda game, first: log_pb2.TakeBack(to_seq=game.record.size - 1), Role.SEAT, size)


_ALL: Final = (
    *(tiny, skipped, nested, late_faults, torn, descriptors, signed, longest, texts, checkpoints, signatures),
    *(recovered, long_moves, many_moves, discards, first_discards, distances),
    *(restores, rulings, protests, proposals),
)
FILES: Final[dict[str, Callable[[int], bytes]]] = {each.__name__: each for each in _ALL}
"""The makers by name: each returns a file of at most the given bytes."""


# The auditor


def forbid(event: str, arguments: tuple[Any, ...]) -> None:
    """Python calls it before anything is opened or started."""
    if event.startswith(("open", "os.", "socket.", "subprocess.", "shutil.", "urllib.", "sqlite3.", "ctypes.dlopen")):
        raise PermissionError(f"{event} {arguments!r:.200}")


def held(path: Path, data: bytes, slower: int = 1) -> dict[str, Any]:
    """Audit these bytes in a process of its own; return the time and memory. Raises ``AssertionError`` if it is too
    much.

    ``slower``: how many times as long a machine may take as one that is measured on, with nothing else to do.
    """
    assert len(data) <= MAX_FILE_BYTES, "nobody would look into it"
    path.write_bytes(data)
    most = slower * len(data) * SECONDS_A_MIB / (1 << 20)
    lines = _audited(path, 10 + round(most))
    assert len(lines) == 2, "".join(lines)
    assert json.loads(lines[1]) == {"returncode": 0}
    found: dict[str, Any] = json.loads(lines[0])
    assert found["verdict"] in ("CORRUPT", "PREFIX"), found
    assert found["seconds"] < most, found
    assert found["peak"] < MOST_BYTES, found
    assert found["text"] < 4096, found
    return found


def _audited(path: Path, seconds: int) -> list[str]:
    """Return what is printed about the file: what it took, the exit code, and anything that went wrong."""
    process, lines = _forking(), list[str]()
    assert process.stdin is not None
    assert process.stdout is not None
    print(json.dumps([str(path), seconds]), file=process.stdin, flush=True)
    while not lines or not lines[-1].startswith('{"returncode"'):
        lines.append(process.stdout.readline())
        assert lines[-1], "".join(lines)
    return lines


@cache
def _forking() -> subprocess.Popen[str]:
    """Return the process that forks; it ends with this one."""
    command = [sys.executable, "-m", "tests.log.hostile"]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )

    def end() -> None:
        process.kill()
        process.communicate()

    atexit.register(end)
    return process


def main() -> None:
    for rules_id in ("alhambra", "kingdomino"):  # a game that is known is imported when it is first needed
        audit(BytesIO(beginning(begun(rules_id))), Policy(SIGNER.verifier))
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _in_child(*json.loads(line))
        _, status = os.waitpid(child, 0)
        print(json.dumps({"returncode": os.waitstatus_to_exitcode(status)}), flush=True)


def _in_child(path: str, seconds: int) -> Never:
    code = 1
    try:
        measure(path, seconds)
        code = 0
    finally:
        if code:
            traceback.print_exc()
        sys.stdout.flush()
        os._exit(code)


def measure(path: str, most: int) -> None:
    """Audits the file and prints what it took: seconds of processor time, bytes of memory at the highest."""
    resource.setrlimit(resource.RLIMIT_AS, (_NO_MORE_BYTES, _NO_MORE_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (most, most))
    stream = Path(path).open("rb")  # noqa: SIM115 - closed by the end of the process, as nothing may be opened
    status = Path("/proc/self/status").open()  # noqa: SIM115 - the same
    before = _highest(status)
    sys.addaudithook(forbid)
    begin = time.process_time()
    report = audit(stream, Policy(SIGNER.verifier))
    text = report.as_text()
    seconds = time.process_time() - begin
    told = {"seconds": seconds, "before": before, "peak": _highest(status), "text": len(text)}
    sys.stdout.write(json.dumps({**told, "entries": report.entries, "verdict": report.verdict.name}) + "\n")


def _highest(status: TextIO) -> int:
    """Bytes; ``getrusage`` would count what the parent had."""
    status.seek(0)
    return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))


if __name__ == "__main__":
    main()
