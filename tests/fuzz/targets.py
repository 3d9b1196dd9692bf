"""The targets of the fuzzer: for each parser a function of bytes that fails if they make it do what it must not.

Every target asserts the same: nothing but the parser's own error leaves it, and accepted input is written again as the
same bytes. Imported under coverage by ``python -m tests.fuzz``, without it by the tests.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any, Final, TypeVar
from zlib import crc32

import pytest
from google.protobuf.message import Message

from referee.alhambra.v1 import alhambra_pb2
from referee.games import registry
from referee.kingdomino.v1 import kingdomino_pb2
from referee.log import file
from referee.log.audit import audit
from referee.log.certificates import decode_proof
from referee.log.entry import decode_entry, decode_open
from referee.log.errors import LogError
from referee.log.file import HEAD_BYTES, MAGIC, TAIL_BYTES, FrameType, encode_frame
from referee.log.header import decode_header
from referee.log.intent import decode_intent
from referee.log.note import Checkpoint, Note, TlogProof, VerifierKey
from referee.log.public.checkpoint import LogPolicy, leaf_of, open_log_checkpoint, read_leaf
from referee.log.public.tiles import decode_bundle, encode_bundle
from referee.log.public.witness import Request
from referee.log.remarks import decode_remark
from referee.log.v1 import log_pb2
from referee.log.verdict import Policy, Verdict
from referee.rollwrite.v1 import rollwrite_pb2
from referee.text.notation import game_text, position_text
from referee.text.notation import questions as json_questions
from referee.text.notation.questions import QueryError
from referee.text.notation.violations import NotationError
from referee.text.report import sheet as sheets
from referee.wire import registry as codecs
from referee.wire import strict
from referee.wire.certificates.registry import BadCertificate, provable
from referee.wire.strict import MalformedError
from tests.fuzz import seeds

CORPUS: Final = Path(__file__).parent / "corpus"
"""For each target a folder of inputs that were findings."""
_T = TypeVar("_T")
_Case = Callable[[bytes], object]


@dataclass(frozen=True, slots=True)
class Target:
    """One parser, or several that are told apart by the first byte."""

    run: _Case
    """Raises for a finding."""
    seeds: Callable[[], list[bytes]]
    """Inputs of which most are accepted."""


def _refusing(parse: Callable[[bytes], _T], data: bytes, error: type[Exception]) -> _T | None:
    """Return the parsed input, or None if it is refused with this error."""
    try:
        return parse(data)
    except error as found:
        text = str(found)
        assert text, "an error that says nothing"
        text.encode()
        return None


def _by_first_byte(cases: Sequence[_Case]) -> _Case:
    def run(data: bytes) -> None:
        if data:
            cases[data[0] % len(cases)](data[1:])

    return run


def inputs(name: str) -> list[bytes]:
    """Where the target starts: its seeds, and what it found before."""
    found = [path.read_bytes() for path in sorted((CORPUS / name).glob("*"))]
    return [*TARGETS[name].seeds(), *found]


# Game files


def mended(data: bytes) -> bytes:
    """With the checksums and the END that the frames should have, so that the layers behind them are reached."""
    out, at, count, critical = [], len(MAGIC), 0, sha256()
    while at + HEAD_BYTES + TAIL_BYTES <= len(data):
        end = at + HEAD_BYTES + int.from_bytes(data[at : at + 4], "big")
        body = data[at:end]
        if end + TAIL_BYTES > len(data):
            break
        if body[4] == FrameType.END:
            payload = strict.encode(log_pb2.End(count=count, frames_hash=critical.digest()))
            body = len(payload).to_bytes(4, "big") + body[4:5] + payload
        whole = body + crc32(body).to_bytes(4, "big")
        if body[4] < 0x80:
            count += body[4] == FrameType.ENTRY
            critical.update(whole)
        out.append(whole)
        at = end + TAIL_BYTES
    return b"".join([data[: len(MAGIC)], *out, data[at:]])


def frames(data: bytes) -> None:
    """The reader, as the bytes are and with right checksums."""
    for each in (data, mended(data)):
        found = _refusing(lambda stream: list(file.read(BytesIO(stream))), each, LogError)
        if found is not None:
            assert MAGIC + b"".join(encode_frame(frame.type, frame.payload) for frame in found) == each


def whole_audit(data: bytes) -> None:
    """A verdict for everything, and COMPLETE for nothing but what the real referee has signed."""
    for each in (data, mended(data)):
        report = audit(BytesIO(each), Policy(seeds.VERIFIER))
        report.as_text().encode()
        json.loads(report.as_json())
        if report.verdict is Verdict.COMPLETE:
            assert tuple(file.entries(BytesIO(each))) in seeds.signed_games()


# Signed messages


def _wire(message_class: type[Message]) -> _Case:
    """The walker is the norm, and the fast path has its answer."""

    def run(data: bytes) -> None:
        decoded = _refusing(lambda all_: strict.decode(message_class, all_), data, MalformedError)
        if decoded is not None:
            strict.walk(message_class, data)
            assert strict.encode(decoded) == data
        else:
            with pytest.raises(MalformedError):
                strict.walk(message_class, data)

    return run


def _log_message(decode: Callable[[bytes], Message]) -> _Case:
    def run(data: bytes) -> None:
        found = _refusing(decode, data, LogError)
        assert found is None or strict.encode(found) == data

    return run


def _decoded(game: str, thing: str) -> _Case:
    codec = codecs.codec(game, 1)
    components = codec.decode_components(codec.encode_components(None))
    more = (components,) if thing in ("move", "outcome") else ()
    decode, encode = getattr(codec, f"decode_{thing}"), getattr(codec, f"encode_{thing}")

    def run(data: bytes) -> None:
        value = _refusing(lambda all_: decode(all_, *more), data, MalformedError)
        assert value is None or encode(value, *more) == data

    return run


GAMES: Final = ("alhambra", "kingdomino", "rollwrite")
MESSAGES: Final = {"move": "Move", "outcome": "Outcome", "options": "Options", "components": "Tables"}
"""Message names of every game, by the codec's name for them."""
LOG_CLASSES: Final = (
    *(log_pb2.Entry, log_pb2.Intent, log_pb2.GameOpen, log_pb2.Header, log_pb2.Proof, log_pb2.Remark),
    log_pb2.End,
)
LOG_DECODERS: Final[tuple[Callable[[bytes], Message], ...]] = (
    decode_entry,
    decode_intent,
    decode_open,
    decode_header,
    decode_proof,
    decode_remark,
)
"""The decoders of the classes but the last, in their order."""
GAME_MODULES: Final[dict[str, Any]] = {
    "alhambra": alhambra_pb2,
    "kingdomino": kingdomino_pb2,
    "rollwrite": rollwrite_pb2,
}


def _game(game: str) -> _Case:
    """The walker over each of its signed messages, then its codec."""
    classes = [getattr(GAME_MODULES[game], name) for name in MESSAGES.values()]
    return _by_first_byte([*map(_wire, classes), *(_decoded(game, thing) for thing in MESSAGES)])


# Texts


def _note(data: bytes) -> None:
    note = _refusing(Note.parse, data, LogError)
    if note is not None:
        assert note.encode() == data
        checkpoint = _refusing(lambda _: Checkpoint.parse(note.text), data, LogError)
        assert checkpoint is None or checkpoint.text() == note.text
        _refusing(lambda _: seeds.VERIFIER.check(note), data, LogError)


def _verifier_key(data: bytes) -> None:
    text = data.decode(errors="replace")
    key = _refusing(lambda _: VerifierKey.parse(text), data, LogError)
    assert key is None or str(key) == text


def tlog_proof(data: bytes) -> None:
    """Read and check a proof that stands alone."""
    proof = _refusing(TlogProof.parse, data, LogError)
    if proof is not None:
        assert proof.encode() == data
        _refusing(lambda _: proof.check(seeds.VERIFIER), data, LogError)


def _policy(data: bytes) -> None:
    policy = _refusing(LogPolicy.parse, data, LogError)
    if policy is not None:
        assert policy.is_met(policy.witnesses)


def _leaf(data: bytes) -> None:
    head = _refusing(read_leaf, data, LogError)
    assert head is None or leaf_of(head) == data


def _witness_request(data: bytes) -> None:
    request = _refusing(Request.parse, data, LogError)
    assert request is None or request.encode() == data


def _log_checkpoint(data: bytes) -> None:
    _refusing(lambda _: open_log_checkpoint(data, seeds.log_policy()), data, LogError)


def _bundle(data: bytes) -> None:
    count = data[0] if data else 0
    leaves = _refusing(lambda _: decode_bundle(data[1:], count, "bundle"), data, LogError)
    assert leaves is None or encode_bundle(leaves) == data[1:]


def _certificate(game: str) -> _Case:
    known = provable(game, 1)
    assert known is not None
    return lambda data: _refusing(known.check, data, BadCertificate)


def questions(data: bytes) -> None:
    """A line of ``referee inspect``: the answer is a line."""
    found = json_questions.encode(json_questions.answer(data))
    assert found.endswith(b"\n")
    json.loads(found)


def claims(data: bytes) -> None:
    """A line of ``referee prove``, up to the question that the solver is asked: it is written as it was read."""
    found = _refusing(_claim, data, QueryError)
    if found is not None:
        game, claim = found
        parser, known = _claims(game), provable(game, 1)
        assert known is not None
        assert parser.claim(json.loads(json.dumps(parser.written(claim)))) == claim
        parser.describe(claim).encode()
        known.request(claim).SerializeToString()


def _claim(data: bytes) -> tuple[str, Any]:
    question = json_questions.parse_object(data)
    game = json_questions.named_game(question, dict.fromkeys(GAMES[:2]))
    return game, _claims(game).claim(question)


def _claims(game: str) -> Any:
    return registry.part("referee.text.notation", game, "claims")


def notation(data: bytes) -> None:
    """A game as text: what is read is printed, and read again as the same."""
    read = _refusing(lambda _: game_text.read(data.decode(errors="replace")), data, NotationError)
    if read is not None:
        assert game_text.read(game_text.write(read.game)).game == read.game


def positions(data: bytes) -> None:
    """A position as text: what is read has a digest, is printed and read again as the same, and can be played on."""
    found = _refusing(lambda _: position_text.read(data.decode(errors="replace")), data, NotationError)
    if found is None:
        return
    text, digest = position_text.write(found), found.state.digest()
    again = position_text.read(text)
    assert (position_text.write(again), again.state.digest()) == (text, digest)
    for move in islice(found.state.legal_moves(), 3):
        after = found.state.copy()
        after.apply(move)
        assert after.pending()
        assert after.digest() != digest


def boards(data: bytes) -> None:
    """Boards alone as text: what is read is printed and read again as the same, and has one score."""
    found = _refusing(lambda _: position_text.read_boards(data.decode(errors="replace")), data, NotationError)
    if found is None:
        return
    text = position_text.write_boards(found)
    again = position_text.read_boards(text)
    assert (position_text.write_boards(again), again.state.digest()) == (text, found.state.digest())
    assert (
        sheets.read(text).sheet().players
        == sheets.sheet(found.setup.rules_id, found.state, contest=found.contest).players
    )


TARGETS: Final[dict[str, Target]] = {
    "frames": Target(frames, seeds.files),
    "audit": Target(whole_audit, seeds.files),
    "log": Target(
        _by_first_byte(
            [*map(_wire, LOG_CLASSES), *map(_log_message, LOG_DECODERS)],
        ),
        partial(seeds.log_messages, len(LOG_CLASSES)),
    ),
    **{game: Target(_game(game), partial(seeds.game_messages, game, MESSAGES)) for game in GAMES},
    "notes": Target(_by_first_byte([_note, _verifier_key]), seeds.notes),
    "tlog-proofs": Target(tlog_proof, seeds.tlog_proofs),
    "public-log": Target(
        _by_first_byte([_policy, _leaf, _witness_request, _log_checkpoint, _bundle]), seeds.of_the_public_log
    ),
    "certificates": Target(_by_first_byte([_certificate(game) for game in GAMES[:2]]), seeds.certificates),
    "inspect": Target(questions, seeds.questions),
    "claims": Target(claims, seeds.claims),
    "notation": Target(notation, seeds.texts),
    "positions": Target(positions, seeds.positions),
    "boards": Target(boards, seeds.boards),
}
"""By the name that ``--only`` takes."""
