"""Writes everything that another engine or verifier can be compared with into one folder, with a list of its hashes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from google.protobuf import json_format

from referee import __version__
from referee.games import registry
from referee.games.game import Chance, Decision, Forced, Over
from referee.log.audit import Policy, audit
from referee.log.note import VerifierKey
from referee.log.vectors import DATA, forged
from referee.log.vectors.transcripts import TRANSCRIPTS, Transcript, steps, text_of
from referee.text.notation.registry import notation
from referee.wire.registry import codec

VERSION: Final = 1
"""Of the layout of the folder and of the forms in it."""
MANIFEST: Final = "MANIFEST.json"


def files() -> Iterator[tuple[str, bytes]]:
    """Yield the name of every file, from the folder on, and what is in it; the manifest comes last."""
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
    """Yield every position of the game: what everybody sees of it, its encoding, digest and points, legal moves, and
    what happens.
    """
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
    yield "certificates/forged.jsonl", b"".join(_line(forged.of_certificate(each)) for each in proved)


def _logs() -> Iterator[tuple[str, bytes]]:
    """Yield games' files, forgeries of each, and what an auditor with the verifier key says of them."""
    key = (DATA / "logs" / "referee.vkey").read_bytes()
    policy = Policy(VerifierKey.parse(key.decode("ascii").strip()))
    yield "logs/referee.vkey", key
    verdicts = {}
    for path in sorted((DATA / "logs").glob("*.gamelog")):
        data = path.read_bytes()
        made = [(f"good/{path.name}", data)]
        made += [(f"forged/{path.stem}-{name}.gamelog", wrong) for name, wrong in forged.of_log(data)]
        for name, file in made:
            report = audit(BytesIO(file), policy)
            verdicts[name] = {"verdict": report.verdict.name, "exit_code": report.exit_code}
            yield f"logs/{name}", file
    yield "logs/verdicts.json", _json(verdicts)


def _json(found: Any) -> bytes:
    return json.dumps(found, indent=1, ensure_ascii=False).encode() + b"\n"


def _line(found: Any) -> bytes:
    return json.dumps(found, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
