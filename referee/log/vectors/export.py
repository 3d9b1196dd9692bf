"""The vectors for other engines and verifiers, written into one folder, with a list of its hashes.

Among it are forgeries of good logs, which a verifier has to refuse.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from google.protobuf import json_format

from referee import __version__
from referee.games import registry
from referee.games.game import Chance, Decision, Forced, Over
from referee.log import file
from referee.log.audit import audit
from referee.log.file import Frame, FrameType
from referee.log.note import VerifierKey
from referee.log.vectors import DATA
from referee.log.vectors.transcripts import TRANSCRIPTS, Transcript, steps, text_of
from referee.log.verdict import Policy
from referee.text.notation.registry import notation
from referee.wire.certificates.registry import BadCertificate, provable
from referee.wire.registry import codec


def of_log(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield names and files. Frames, CRCs and END fit, but for the first three."""
    frames = list(file.read(BytesIO(data)))
    entries = [number for number, frame in enumerate(frames) if frame.type == FrameType.ENTRY]
    middle, last = entries[len(entries) // 2], entries[-1]
    at = frames[middle].offset + 5 + len(frames[middle].payload) // 2
    yield "torn", data[:-40]
    yield "bit-flipped", data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
    yield "not-a-game-file", b"\x00" + data[1:]
    yield "entry-changed", _written(_with(frames, middle, _flipped(frames[middle].payload)))
    yield "entry-left-out", _written([*frames[:middle], *frames[middle + 1 :]])
    yield "entry-twice", _written([*frames[: middle + 1], *frames[middle:]])
    yield "entries-swapped", _written([*frames[:middle], frames[middle + 1], frames[middle], *frames[middle + 2 :]])
    yield "tail-left-out", _written([*frames[:last], *frames[last + 1 :]])
    (note,) = (number for number, frame in enumerate(frames) if frame.type == FrameType.CHECKPOINT)
    text = frames[note].payload
    signed = text.rindex(b"\n", 0, len(text) - 1) + len(text) // 8
    yield "checkpoint-changed", _written(_with(frames, note, text[:signed] + _other(text[signed]) + text[signed + 1 :]))
    yield "header-changed", _written(_with(frames, 0, _flipped(frames[0].payload)))


def of_certificate(proved: dict[str, Any]) -> dict[str, Any]:
    """Return the line with a certificate that shows nothing of the kind."""
    good = base64.b64decode(proved["certificate"])
    rules_id = proved["question"]["game"]
    provables = provable(rules_id, registry.get(rules_id).version)
    if provables is None:
        raise ValueError(f"nothing is proved about {rules_id}")
    for at in range(len(good) - 1, -1, -1):
        forged = good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :]
        try:
            provables.check(forged)
        except BadCertificate:
            return {**proved, "certificate": base64.b64encode(forged).decode("ascii")}
    raise ValueError(f"every certificate is as good as this one: {json.dumps(proved)}")


def _with(frames: Sequence[Frame], number: int, payload: bytes) -> list[Frame]:
    return [*frames[:number], frames[number]._replace(payload=payload), *frames[number + 1 :]]


def _flipped(payload: bytes) -> bytes:
    at = len(payload) // 2
    return payload[:at] + bytes([payload[at] ^ 1]) + payload[at + 1 :]


def _other(letter: int) -> bytes:
    return b"B" if letter == ord("A") else b"A"


def _written(frames: Sequence[Frame]) -> bytes:
    """Return a file with these frames, an END that fits among them."""
    out = BytesIO()
    writer = file.Writer(out)
    note = b""
    for frame in frames:
        match frame.type:
            case FrameType.HEADER:
                writer.header(frame.payload)
            case FrameType.ENTRY:
                writer.entry(frame.payload)
            case FrameType.OLD_CHECKPOINT:
                writer.old_checkpoint(frame.payload)
            case FrameType.CERTIFICATE:
                writer.proof(frame.payload)
            case FrameType.REMARK:
                writer.remark(frame.payload)
            case FrameType.CHECKPOINT:
                note = frame.payload
    writer.end(note)
    return out.getvalue()


VERSION: Final = 1
"""The version of the layout of the folder and of the forms in it."""
MANIFEST: Final = "MANIFEST.json"


def files() -> Iterator[tuple[str, bytes]]:
    """Yield the name of every file, from the folder on, and its content; the manifest comes last."""
    hashes = {}
    for name, data in _files():
        hashes[name] = sha256(data).hexdigest()
        yield name, data
    manifest = {
        "version": VERSION,
        "program": f"tile-referee {__version__}",
        "rules": {game.rules_id: game.version for game in registry.newest()},
        "sha256": dict(sorted(hashes.items())),
    }
    yield MANIFEST, _json(manifest)


def write(folder: Path) -> int:
    """Write them into the folder, which is made if it is not there. Return how many. Raise ``OSError``."""
    number = 0
    for number, (name, data) in enumerate(files(), start=1):  # noqa: B007 - it is counted
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return number


def _files() -> Iterator[tuple[str, bytes]]:
    for path in sorted(DATA.rglob("*")):
        if path.is_file() and path.parent.name != "logs" and path.name != "certificates.jsonl":
            yield path.relative_to(DATA).as_posix(), path.read_bytes()
    for transcript in TRANSCRIPTS:
        where = f"{transcript.rules_id}/transcripts/{transcript.name}"
        yield f"{where}.txt", text_of(transcript).encode()
        yield f"{where}.jsonl", b"".join(_line(each) for each in _positions(transcript))
    yield from _certificates()
    yield from _logs()


def _positions(transcript: Transcript) -> Iterator[dict[str, Any]]:
    """Yield every position of the game: its public view, encoding, digest and points, the legal moves, and the
    event."""
    game = registry.get(transcript.rules_id)
    wire, words = codec(game.rules_id, game.version), notation(game.rules_id)
    components = wire.decode_components(wire.encode_components(None))
    for number, step in enumerate(steps(transcript)):
        state = step.state
        told: dict[str, Any] = {
            "number": number,
            "awaited": _awaited(step.awaited),
            "position": json_format.MessageToDict(
                wire.position(state.observation(None)), preserving_proto_field_name=True
            ),
            "encoding": state.encode().hex(),
            "digest": state.digest().hex(),
            "scores": list(state.scores),
            "moves": [
                {"text": words.describe(move, state), "bytes": wire.encode_move(move, components).hex()}
                for move in step.moves
            ],
        }
        if isinstance(step.awaited, Over):
            told |= {"places": list(step.awaited.places)}
        else:
            told["event"] = {"text": words.describe(step.event, state), "bytes": step.data.hex()}
        yield told


def _awaited(awaited: Any) -> dict[str, Any]:
    match awaited:
        case Decision(seat, kinds):
            return {"decision": {"seat": seat, "kinds": list(kinds)}}
        case Chance(kind):
            return {"chance": kind}
        case Forced(seat):
            return {"pass": seat}
        case _:
            return {"over": awaited.ending.name}


def _certificates() -> Iterator[tuple[str, bytes]]:
    proved = [json.loads(line) for line in (DATA / "certificates.jsonl").read_bytes().splitlines()]
    yield "certificates/good.jsonl", b"".join(map(_line, proved))
    yield "certificates/forged.jsonl", b"".join(_line(of_certificate(each)) for each in proved)


def _logs() -> Iterator[tuple[str, bytes]]:
    """Yield games' files, forgeries of each, and the reports of an auditor with the verifier key."""
    key = (DATA / "logs" / "referee.vkey").read_bytes()
    policy = Policy(VerifierKey.parse(key.decode("ascii").strip()))
    yield "logs/referee.vkey", key
    verdicts = {}
    for path in sorted((DATA / "logs").glob("*.gamelog")):
        data = path.read_bytes()
        made = [(f"good/{path.name}", data)]
        made += [(f"forged/{path.stem}-{name}.gamelog", wrong) for name, wrong in of_log(data)]
        for name, log_file in made:
            report = audit(BytesIO(log_file), policy)
            verdicts[name] = {"verdict": report.verdict.name, "exit_code": report.exit_code}
            yield f"logs/{name}", log_file
    yield "logs/verdicts.json", _json(verdicts)


def _json(found: Any) -> bytes:
    return json.dumps(found, indent=1, ensure_ascii=False).encode() + b"\n"


def _line(found: Any) -> bytes:
    return json.dumps(found, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
