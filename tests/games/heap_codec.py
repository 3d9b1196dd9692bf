"""The codec of ``tests.games.heap``: what stands in messages of its own elsewhere is one byte here."""

from __future__ import annotations

from typing import Any

from google.protobuf.wrappers_pb2 import BytesValue

from referee.wire.strict import MalformedError
from tests.games.heap import Die, Heap, Take


class Codec:
    """The option: how many stones. There are no components."""

    def decode_options(self, data: bytes) -> int:
        return 20 if not data else _byte(data, 1, 99, but=20)

    def encode_options(self, options: int) -> bytes:
        return b"" if options == 20 else bytes([options])

    def decode_components(self, data: bytes) -> bytes:
        return data

    def encode_components(self, components: Any) -> bytes:
        return b"none" if components is None else components

    def decode_move(self, data: bytes, components: Any) -> Take:
        return Take(_byte(data, 1, 3))

    def encode_move(self, move: Take, components: Any) -> bytes:
        return bytes([move.stones])

    def decode_outcome(self, data: bytes, components: Any) -> Die:
        return Die(_byte(data, 0, 3))

    def encode_outcome(self, outcome: Die, components: Any) -> bytes:
        return bytes([outcome.shows])

    def position(self, state: Heap) -> BytesValue:
        return BytesValue(value=state.encode())

    def signed_file(self) -> Any:
        return BytesValue.DESCRIPTOR.file


def _byte(data: bytes, low: int, high: int, but: int = -1) -> int:
    if len(data) != 1 or not low <= data[0] <= high or data[0] == but:
        raise MalformedError(f"{data.hex()}", "", 0, f"one byte of {low} to {high}")
    return data[0]
