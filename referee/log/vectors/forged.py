"""Makes forgeries of a game's file and of certificates, each wrong in one way that a verifier has to notice."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence
from io import BytesIO
from typing import Any

from referee.games import registry
from referee.log import file
from referee.log.frames import Frame, FrameType
from referee.wire.certificates.certificate import BadCertificate
from referee.wire.certificates.registry import provable


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
