"""The test vectors of docs/log-format.md: fixed keys and seeds, every label and hash.

``python -m tests.log.format_vectors`` writes referee/log/vectors/data/log/*.json and prints what the document quotes.
"""

from __future__ import annotations

import json
from base64 import b64encode
from hashlib import sha256
from itertools import islice
from typing import Any

from referee.log import merkle
from referee.log.deck import Deck, deck_key, referee_commitment, seat_commitment
from referee.log.entry import decode_entry
from referee.log.header import header_hash
from referee.log.intent import INTENT_TYPE, Place, intent_encoding, join, move, sign
from referee.log.keys import PrivateKey
from referee.log.note import CheckpointSigner
from referee.log.v1 import log_pb2
from referee.log.vectors import DATA
from tests.log import games, toy
from tests.log.consistency import consistency_proof
from tests.log.games import Played, play, start
from tests.wire.hostile_bytes import REFUSED

FOLDER = DATA / "log"
GAME_ID = bytes(range(16))
R = bytes([0x52]) * 32
P = (bytes([0x10]) * 32, bytes([0x11]) * 32)
REFEREE = PrivateKey(bytes([0x01]) * 32)
SEAT = PrivateKey(bytes([0x02]) * 32)
LABELS = {
    "shuffle/tiles/0": ("permutation", 54),
    "shuffle/money/0": ("permutation", 108),
    "shuffle/money/1": ("permutation", 60),
    "shuffle/money/2": ("permutation", 45),
    "pile/2": ("uniform", 21),
    "pile/4": ("uniform", 20),
    "dice/0": ("uniform", 6),
    "dice/1": ("uniform", 2**31 + 1),
}


def keys() -> dict[str, Any]:
    signer = CheckpointSigner("referee.example", REFEREE)
    return {
        "referee_seed": (bytes([0x01]) * 32).hex(),
        "referee_public_key": REFEREE.public.raw.hex(),
        "referee_verifier_key": str(signer.verifier),
        "seat_seed": (bytes([0x02]) * 32).hex(),
        "seat_public_key": SEAT.public.raw.hex(),
        "seat_key_id": SEAT.public.id.hex(),
    }


def intents() -> dict[str, Any]:
    place = Place(GAME_ID, 7, bytes([0x07]) * 32)
    joined = join(place, 0, SEAT, P[0])
    moved = move(place, *_as_seat(1), b"\x01\x02\x03")
    resigned = log_pb2.Intent(game_id=place.game_id, seq=7, prev=place.prev, scribe=0)
    resigned.resign.SetInParent()
    return {
        "payload_type": INTENT_TYPE,
        "join_body": joined.intent.hex(),
        "join_pae_sha256": sha256(intent_encoding(joined.intent)).hexdigest(),
        "join_signature": joined.signature.hex(),
        "move_body": moved.intent.hex(),
        "move_pae": intent_encoding(moved.intent).hex(),
        "move_signature": moved.signature.hex(),
        "resign_body": sign(resigned, SEAT).intent.hex(),
    }


def _as_seat(index: int) -> tuple[Any, PrivateKey]:
    from referee.log.events import Author, Role

    return Author(Role.SEAT, index), SEAT


def tree() -> dict[str, Any]:
    leaves = [merkle.leaf_hash(bytes([i])) for i in range(7)]
    return {
        "entries": [bytes([i]).hex() for i in range(7)],
        "leaf_0": leaves[0].hex(),
        "node_0_1": merkle.node_hash(leaves[0], leaves[1]).hex(),
        "empty_root": merkle.EMPTY_ROOT.hex(),
        "roots": [merkle.root(leaves[:n]).hex() for n in range(1, 8)],
        "inclusion_5_of_7": [h.hex() for h in merkle.inclusion_proof(leaves, 5)],
        "consistency_3_to_7": [h.hex() for h in consistency_proof(leaves, 3)],
    }


def checkpoint() -> dict[str, Any]:
    signer = CheckpointSigner("referee.example", REFEREE)
    root = merkle.root([merkle.leaf_hash(bytes([i])) for i in range(7)])
    note = signer.sign(GAME_ID, 7, root).decode()
    return {
        "game_id": GAME_ID.hex(),
        "root_base64": b64encode(root).decode(),
        "key_id": signer.verifier.id.hex(),
        "note": note,
    }


def deck() -> dict[str, Any]:
    key = deck_key(R, GAME_ID, P)
    stream = Deck(key)
    return {
        "r": R.hex(),
        "game_id": GAME_ID.hex(),
        "p": [p.hex() for p in P],
        "c_r": referee_commitment(R).hex(),
        "c_0": seat_commitment(GAME_ID, 0, P[0]).hex(),
        "c_1": seat_commitment(GAME_ID, 1, P[1]).hex(),
        "k": key.hex(),
        "labels": {
            label: {
                "words": [f"{word:08x}" for word in list(islice(stream.words(label), 9))],
                "n": n,
                kind: stream.permutation(label, n) if kind == "permutation" else stream.uniform(label, n),
            }
            for label, (kind, n) in LABELS.items()
        },
    }


def strict() -> dict[str, Any]:
    return {
        "refused": [
            {"why": why, "message": cls.DESCRIPTOR.full_name, "bytes": data.hex(), "path": path, "offset": offset}
            for why, cls, data, _, path, offset in REFUSED
            if len(data) < 200
        ]
    }


def game() -> Played:
    """Return a dealt game of the toy rules, from GameOpen to the disclosed seed."""
    header = games.small_header(rules_hash=bytes(32), producer="vectors")
    return play(start(header=header, options=b"\x02"))


def file() -> dict[str, Any]:
    played = game()
    opened = played.record.opened
    return {
        "verifier_key": str(games.SIGNER.verifier),
        "seat_keys": [games.seat_key(i).public.raw.hex() for i in (0, 1)],
        "header": played.header.hex(),
        "header_hash": header_hash(played.header).hex(),
        "game_open": decode_entry(played.entries[0]).open.hex(),
        "game_id": played.record.game_id.hex(),
        "c_r": opened.dealt.commitment.hex(),
        "k": deck_key(games.SECRET, played.record.game_id, [games.seed("p 0"), games.seed("p 1")]).hex(),
        "entries": [entry.hex() for entry in played.entries],
        "leaf_hashes": [merkle.leaf_hash(entry).hex() for entry in played.entries],
        "root": played.record.root().hex(),
        "cards": toy.CARDS.hex(),
        "file_bytes": len(played.file()),
        "file_sha256": sha256(played.file()).hexdigest(),
        "file": played.file().hex(),
    }


ALL = {
    "keys": keys,
    "intents": intents,
    "tree": tree,
    "checkpoint": checkpoint,
    "deck": deck,
    "strict": strict,
    "file": file,
}


def quoted() -> dict[str, str]:
    """Return the figures that fit on a line, which the document states."""
    lines = {}
    for name, make in ALL.items():
        for key, value in make().items():
            if key == "labels":
                for label, numbers in value.items():
                    lines[f"deck.{label} words"] = " ".join(numbers["words"])
                    result = numbers.get("permutation", numbers.get("uniform"))
                    text = " ".join(map(str, result[:12])) + " ..." if isinstance(result, list) else str(result)
                    lines[f"deck.{label} n={numbers['n']}"] = text
            elif isinstance(value, list) and value and isinstance(value[0], str) and key != "entries":
                for i, item in enumerate(value):
                    lines[f"{name}.{key}[{i}]"] = item
            elif isinstance(value, str | int) and key not in ("note", "file"):
                lines[f"{name}.{key}"] = str(value)
    return lines


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, make in ALL.items():
        (FOLDER / f"{name}.json").write_text(json.dumps(make(), indent=1) + "\n")
    for key, value in quoted().items():
        print(f"{key} = {value}")


if __name__ == "__main__":
    main()
