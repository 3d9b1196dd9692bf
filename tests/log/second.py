"""A second verifier, written from docs/log-format.md alone: it imports nothing of the referee's.

No rules and no strict decode, so it says less than the auditor; where both speak they must agree.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import zlib
from collections.abc import Iterator
from typing import Any

from nacl.exceptions import BadSignatureError
from nacl.signing import VerifyKey

MAGIC = bytes.fromhex("89544c520d0a1a0a0001")
INTENT = b"application/vnd.tile-referee.intent.v1+protobuf"


class Refused(Exception):
    """The fault, and the entry that has it."""

    def __init__(self, what: str, entry: int | None = None) -> None:
        super().__init__(what, entry)
        self.entry = entry


def sha(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def frames(data: bytes) -> Iterator[tuple[int, bytes, bytes]]:
    if data[:10] != MAGIC:
        raise Refused("magic")
    at = 10
    while at < len(data):
        length = int.from_bytes(data[at : at + 4], "big")
        whole = data[at : at + 9 + length]
        if len(whole) < 10 or zlib.crc32(whole[:-4]) != int.from_bytes(whole[-4:], "big"):
            raise Refused("frame")
        yield whole[4], whole[5:-4], whole
        at += len(whole)


def varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(data):
            raise Refused("protobuf")
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def fields(data: bytes) -> dict[int, list[Any]]:
    out: dict[int, list[Any]] = {}
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        value: int | bytes
        if tag & 7 == 0:
            value, at = varint(data, at)
        elif tag & 7 == 2:
            size, at = varint(data, at)
            value = data[at : at + size]
            at += size
        else:
            raise Refused("protobuf")
        out.setdefault(tag >> 3, []).append(value)
    return out


def tree_root(leaves: list[bytes]) -> bytes:
    """The recursive definition of RFC 6962."""
    if len(leaves) == 1:
        return leaves[0]
    k = 1
    while k * 2 < len(leaves):
        k *= 2
    return sha(b"\x01" + tree_root(leaves[:k]) + tree_root(leaves[k:]))


def stream(key: bytes, label: str) -> Iterator[int]:
    counter = 0
    while True:
        block = hmac.new(
            key, b"tile-referee/v1/" + label.encode() + b"\0" + counter.to_bytes(8, "big"), "sha256"
        ).digest()
        yield from (int.from_bytes(block[i : i + 4], "big") for i in range(0, 32, 4))
        counter += 1


def uniform(words: Iterator[int], n: int) -> int:
    while (x := next(words)) >= 2**32 - 2**32 % n:
        pass
    return x % n


def permutation(key: bytes, label: str, n: int) -> list[int]:
    words = stream(key, label)
    order = list(range(n))
    for i in range(n - 1, 0, -1):
        j = uniform(words, i + 1)
        order[i], order[j] = order[j], order[i]
    return order


def check_note(note: bytes, verifier_key: str, game_id: bytes, leaves: list[bytes]) -> None:
    name, hex_id, encoded = verifier_key.split("+", 2)
    typed = base64.b64decode(encoded)
    if sha(name.encode() + b"\n" + typed)[:4].hex() != hex_id or typed[0] != 1:
        raise Refused("verifier key")
    text, _, lines = note.decode().rpartition("\n\n")
    text += "\n"
    root = base64.b64encode(tree_root(leaves)).decode()
    if text != f"{name}/g/{game_id.hex()}\n{len(leaves)}\n{root}\n":
        raise Refused("checkpoint")
    for line in lines.splitlines():
        value = base64.b64decode(line.split(" ")[2])
        if line.startswith(f"— {name} ") and value[:4].hex() == hex_id:
            verify(typed[1:], value[4:], text.encode(), None)
            return
    raise Refused("untrusted")


def verify(key: bytes, signature: bytes, message: bytes, entry: int | None) -> None:
    try:
        VerifyKey(key).verify(message, signature)
    except (BadSignatureError, ValueError, TypeError) as error:
        raise Refused("signature", entry) from error


class Verifier:
    """One file. ``deck`` is K, once r is disclosed; ``lost``: heads that the referee lost and said so."""

    def __init__(self, data: bytes, verifier_key: str) -> None:
        self.entries: list[bytes] = []
        self.leaves: list[bytes] = []
        self.seats: dict[int, list[bytes]] = {}
        self.commitments: dict[int, bytes] = {}
        self.seeds: dict[int, bytes] = {}
        self.deck: bytes | None = None
        self.outcomes: list[bytes] = []
        self.lost: list[tuple[int, bytes]] = []
        self.is_over = False
        self.last_ms = 0
        self.remarks: dict[int, bytes] = {}
        header = note = b""
        hashed = hashlib.sha256()
        kinds = []
        words: list[dict[int, list[Any]]] = []
        for kind, payload, whole in frames(data):
            if kind == 5:
                end = fields(payload)
                if end[1] != [len(self.entries)] or end[2] != [hashed.digest()]:
                    raise Refused("END")
            if kind < 0x80:
                hashed.update(whole)
                kinds.append(kind)
            if kind == 1:
                header = payload
            elif kind == 2:
                self.entries.append(payload)
            elif kind == 3:
                note = payload
            elif kind == 0x82:
                words.append(fields(payload))
        if kinds != [1] + [2] * len(self.entries) + [3, 5]:
            raise Refused("order of frames")
        self.opened = fields(fields(self.entries[0])[9][0])
        if self.opened[12] != [sha(header)]:
            raise Refused("header", 0)
        self.game_id = sha(fields(self.entries[0])[9][0])[:16]
        for index, data_ in enumerate(self.entries):
            self.entry(index, data_)
        check_note(note, verifier_key, self.game_id, self.leaves)
        for remark in words:
            seq = remark.get(1, [0])[0]
            if self.remarks.get(seq) != sha(b"tile-referee/v1/remark\0" + remark[2][0] + remark[3][0]):
                raise Refused("remark", seq)

    def place(self, index: int) -> tuple[bytes, int, bytes]:
        return self.game_id, index, self.leaves[-1] if self.leaves else bytes(32)

    def entry(self, index: int, data: bytes) -> None:
        entry = fields(data)
        if (entry[1][0], entry.get(2, [0])[0], entry[3][0]) != self.place(index):
            raise Refused("chain", index)
        self.table(index, entry)
        for part in entry.get(10, []) + entry.get(12, []):
            self.signed(index, fields(part))
        for part in entry.get(11, []):
            self.outcomes.append(fields(part)[1][0])
        for part in entry.get(17, []):
            lost = fields(part)
            size, root, copied_ms = lost.get(1, [0])[0], lost.get(2, [b""])[0], lost.get(3, [0])[0]
            is_named = not copied_ms and size > index and len(root) == 32 and 4 not in lost
            if self.is_over or not (is_named or (copied_ms and not size and not root)):
                raise Refused("recovered", index)
            self.lost.append((size, root))
        self.is_over |= 15 in entry
        for part in entry.get(16, []):
            self.disclose(index, fields(part)[1][0])
        self.leaves.append(sha(b"\0" + data))

    def table(self, index: int, entry: dict[int, list[Any]]) -> None:
        """Check the rules of the table that need no others: their presence, and the times of acts other than moves."""
        terms = fields(self.opened.get(7, [b""])[0])
        acts = [fields(fields(part)[1][0]) for part in entry.get(10, []) + entry.get(12, [])]
        if not terms.get(3):
            if entry.keys() & {13, 18, 19, 20} or any(act.keys() & {12, 13, 14, 15, 17, 18, 19} for act in acts):
                raise Refused("unsupported", index)
            return
        at = entry.get(4, [0])[0]
        timed = 13 in entry or any(10 in act for act in acts)
        if at < self.last_ms or (entry.keys() & {5, 6, 7} and not (timed and 4 in terms)):
            raise Refused("times", index)
        if 18 in entry and not self.last_ms <= fields(entry[18][0]).get(1, [0])[0] <= at:
            raise Refused("interrupted", index)
        is_result = 15 in entry and fields(entry[15][0])[1][0] not in (8, 10) and index < 65_534
        if is_result and at < self.last_ms + terms.get(9, [0])[0]:
            raise Refused("time to protest", index)
        self.last_ms = at

    def signed(self, index: int, part: dict[int, list[Any]]) -> None:
        body, signature, key_id = part[1][0], part[2][0], part[3][0]
        act = fields(body)
        if (act[1][0], act[2][0], act[3][0]) != self.place(index):
            raise Refused("chain", index)
        for number, field in ((14, 4), (19, 4), (15, 6)):  # protest, appeal, rule
            for words in (fields(each) for each in act.get(number, [])):
                self.remarks[index] = words.get(field, [b""])[0]
        if 6 in act:
            key = self.opened[10][act[6][0]]
        elif 4 in act:
            seat = act[4][0]
            if 8 in act:
                join = fields(act[8][0])
                self.seats.setdefault(seat, [join[1][0]])
                self.commitments[seat] = join.get(2, [b""])[0]
            keys = self.seats.get(seat, [b""])
            key = next((known for known in keys if sha(known)[:8] == key_id), keys[0])
            if key == keys[-1]:
                self.seats[seat] = [key]
            if 9 in act:
                self.seeds[seat] = fields(act[9][0])[1][0]
        else:
            key = self.opened[11][act[5][0]]
        message = b"DSSEv1 %d %b %d %b" % (len(INTENT), INTENT, len(body), body)
        if key_id != sha(key)[:8]:
            raise Refused("key id", index)
        verify(key, signature, message, index)
        if 16 in act:
            self.change_key(act, index)

    def change_key(self, act: dict[int, list[Any]], index: int) -> None:
        """The old key of the seat counts until the new one has signed, or ends by a ruling."""
        if fields(self.opened.get(7, [b""])[0]).get(3, [0])[0] < 2:
            raise Refused("unsupported", index)
        change = fields(act[16][0])
        seat = change[1][0] if 6 in act else act[4][0]
        kept = [] if 6 in act else self.seats[seat][:1]
        self.seats[seat] = [*kept, change[2][0]]

    def disclose(self, index: int, r: bytes) -> None:
        if fields(self.opened[8][0])[1][0] != sha(b"tile-referee/v1/ref-commit\0" + r):
            raise Refused("r", index)
        for seat, p in self.seeds.items():
            made = sha(b"tile-referee/v1/seat-commit\0" + self.game_id + bytes([seat]) + p)
            if made != self.commitments[seat]:
                raise Refused("p", index)
        seeds = b"".join(self.seeds[seat] for seat in sorted(self.seeds))
        inner = sha(b"tile-referee/v1/deck-key\0" + self.game_id + seeds)
        self.deck = hmac.new(r, inner, "sha256").digest()
