"""Signed notes and checkpoints: Go's example verifies, and nothing that the grammar excludes parses."""

from __future__ import annotations

from base64 import b64decode, b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.log.errors import Code, LogError
from referee.log.note import Checkpoint, CheckpointSigner, Note, NoteSignature, VerifierKey, open_checkpoint
from tests.log.games import ORIGIN, SIGNER, key

GAME = bytes(range(16))
ROOT = bytes(range(32))
NOTE = SIGNER.sign(GAME, 12, ROOT)
BODY, _, LINE = NOTE.decode().partition("\n\n")

# The example of golang.org/x/mod/sumdb/note.
GO_KEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
GO_NOTE = (
    "If you think cryptography is the answer to your problem,\n"
    "then you don't know what your problem is.\n"
    "\n"
    "— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
)


def test_go_example() -> None:
    verifier = VerifierKey.parse(GO_KEY)
    assert str(verifier) == GO_KEY
    note = Note.parse(GO_NOTE.encode())
    verifier.check(note)
    assert note.encode().decode() == GO_NOTE


def test_a_checkpoint_comes_back() -> None:
    assert open_checkpoint(NOTE, SIGNER.verifier) == Checkpoint(ORIGIN, GAME, 12, ROOT)
    assert Note.parse(NOTE).encode() == NOTE
    assert BODY.split("\n") == [f"{ORIGIN}/g/{GAME.hex()}", "12", b64encode(ROOT).decode()]
    assert VerifierKey.parse(str(SIGNER.verifier)) == SIGNER.verifier


def test_other_signatures_are_kept_unread() -> None:
    """Witnesses will add lines of types 0x04 and 0x06; their length is theirs."""
    cosigned = NOTE + f"— witness.example {b64encode(b'abcd' + bytes(72)).decode()}\n".encode()
    cosigned += f"— witness.example {b64encode(b'abce' + bytes(2428)).decode()}\n".encode()
    assert open_checkpoint(cosigned, SIGNER.verifier).size == 12
    assert [s.name for s in Note.parse(cosigned).signatures] == [ORIGIN, "witness.example", "witness.example"]
    for kind in (4, 6):
        unsigned = VerifierKey("witness.example", kind, bytes(32))
        assert VerifierKey.parse(str(unsigned)) == unsigned
        with pytest.raises(LogError) as caught:
            unsigned.check(Note.parse(cosigned))
        assert caught.value.code is Code.UNSUPPORTED


def sign_text(text: str) -> bytes:
    line = NoteSignature(ORIGIN, SIGNER.verifier.id, key("referee").sign(text.encode()))
    return Note(text, (line,)).encode()


B64 = b64encode(ROOT).decode()
BAD_BODIES = {
    "size with underscore": f"{ORIGIN}/g/{GAME.hex()}\n1_2\n{B64}\n",
    "size with plus": f"{ORIGIN}/g/{GAME.hex()}\n+12\n{B64}\n",
    "size with zero": f"{ORIGIN}/g/{GAME.hex()}\n012\n{B64}\n",
    "size with space": f"{ORIGIN}/g/{GAME.hex()}\n12 \n{B64}\n",
    "arabic size": f"{ORIGIN}/g/{GAME.hex()}\n١٢\n{B64}\n",
    "negative size": f"{ORIGIN}/g/{GAME.hex()}\n-1\n{B64}\n",
    "huge size": f"{ORIGIN}/g/{GAME.hex()}\n{10**20}\n{B64}\n",
    "no size": f"{ORIGIN}/g/{GAME.hex()}\n\n{B64}\n",
    "upper-case game": f"{ORIGIN}/g/{GAME.hex().upper()}\n12\n{B64}\n",
    "short game": f"{ORIGIN}/g/{GAME.hex()[:-1]}\n12\n{B64}\n",
    "no game": f"{ORIGIN}\n12\n{B64}\n",
    "short root": f"{ORIGIN}/g/{GAME.hex()}\n12\n{b64encode(ROOT[:31]).decode()}\n",
    "unpadded root": f"{ORIGIN}/g/{GAME.hex()}\n12\n{B64.rstrip('=')}\n",
    "root with spare bits": f"{ORIGIN}/g/{GAME.hex()}\n12\n{B64[:-2] + chr(ord(B64[-2]) + 1)}=\n",
    "url-safe root": f"{ORIGIN}/g/{GAME.hex()}\n12\n{b64encode(bytes([255] * 32)).decode().replace('/', '_')}\n",
    "extension": f"{ORIGIN}/g/{GAME.hex()}\n12\n{B64}\nmore\n",
    "line missing": f"{ORIGIN}/g/{GAME.hex()}\n12\n",
}


@pytest.mark.parametrize("body", BAD_BODIES.values(), ids=BAD_BODIES.keys())
def test_bad_checkpoints_though_signed(body: str) -> None:
    with pytest.raises(LogError) as caught:
        open_checkpoint(sign_text(body), SIGNER.verifier)
    assert caught.value.code is Code.NOTE


VALUE = LINE.removeprefix(f"— {ORIGIN} ").rstrip("\n")
BAD_NOTES = {
    "carriage returns": NOTE.replace(b"\n", b"\r\n"),
    "tab": NOTE.replace(b"12", b"\t12"),
    "no newline at the end": NOTE[:-1],
    "two at the end": NOTE + b"\n",
    "no blank line": NOTE.replace(b"\n\n", b"\n"),
    "hyphen": NOTE.replace("—".encode(), b"-"),
    "two spaces": f"{BODY}\n\n— {ORIGIN}  {VALUE}\n".encode(),
    "no name": f"{BODY}\n\n—  {VALUE}\n".encode(),
    "plus in the name": f"{BODY}\n\n— a+b {VALUE}\n".encode(),
    "a letter that only newer versions of Unicode know": f"{BODY}\n\n— a\U0001e4d0b {VALUE}\n".encode(),
    "no-break space in the name": f"{BODY}\n\n— a\xa0b {VALUE}\n".encode(),
    "junk in base64": f"{BODY}\n\n— {ORIGIN} {VALUE[:8]}*{VALUE[8:]}\n".encode(),
    "newline in base64": f"{BODY}\n\n— {ORIGIN} {VALUE[:8]}\n{VALUE[8:]}\n".encode(),
    "space after": f"{BODY}\n\n— {ORIGIN} {VALUE} \n".encode(),
    "no padding": f"{BODY}\n\n— {ORIGIN} {VALUE.rstrip('=')}\n".encode(),
    "no signature": f"{BODY}\n\n— {ORIGIN} {b64encode(SIGNER.verifier.id).decode()}\n".encode(),
    "signed twice": NOTE + LINE.encode(),
    "17 signatures": NOTE + b"".join(f"— w{i} {VALUE}\n".encode() for i in range(16)),
    "not UTF-8": NOTE.replace(b"12", b"\xff"),
    "too long": b"a" * 20000 + NOTE,
    "empty": b"",
    "only signatures": b"\n\n" + LINE.encode(),
}


@pytest.mark.parametrize("data", BAD_NOTES.values(), ids=BAD_NOTES.keys())
def test_bad_notes(data: bytes) -> None:
    with pytest.raises(LogError) as caught:
        Note.parse(data)
    assert caught.value.code is Code.NOTE


@pytest.mark.parametrize("at", range(0, len(NOTE) * 8, 3))
def test_no_bit_can_change(at: int) -> None:
    data = bytearray(NOTE)
    data[at // 8] ^= 1 << at % 8
    with pytest.raises(LogError):
        open_checkpoint(bytes(data), SIGNER.verifier)


@given(st.binary(max_size=200))
def test_anything_is_refused_the_same_way(data: bytes) -> None:
    with pytest.raises(LogError):
        open_checkpoint(data, SIGNER.verifier)


def test_other_keys() -> None:
    other = CheckpointSigner(ORIGIN, key("another referee"))
    with pytest.raises(LogError) as caught:
        open_checkpoint(other.sign(GAME, 12, ROOT), SIGNER.verifier)
    assert caught.value.code is Code.UNTRUSTED_KEY
    renamed = CheckpointSigner("referee.other", key("referee"))
    with pytest.raises(LogError) as caught:
        open_checkpoint(renamed.sign(GAME, 12, ROOT), SIGNER.verifier)
    assert caught.value.code is Code.UNTRUSTED_KEY
    forged = NOTE.replace(b"\n12\n", b"\n13\n")
    with pytest.raises(LogError) as caught:
        open_checkpoint(forged, SIGNER.verifier)
    assert caught.value.code is Code.NOTE_SIGNATURE


def test_origin_is_the_key_name() -> None:
    """The right key under the checkpoint of another origin."""
    with pytest.raises(LogError) as caught:
        open_checkpoint(sign_text(BODY.replace(ORIGIN, "referee.other") + "\n"), SIGNER.verifier)
    assert caught.value.code is Code.UNTRUSTED_KEY


@pytest.mark.parametrize(
    "text",
    [
        "",
        "name",
        "name+00000000",
        str(SIGNER.verifier).replace(ORIGIN, "other.example"),
        str(SIGNER.verifier)[:-1],
        str(SIGNER.verifier) + "\n",
        str(SIGNER.verifier).upper(),
        str(VerifierKey("n", 1, bytes(32))),
        str(VerifierKey("n", 1, b"short")),
        str(VerifierKey("n", 4, b"")),
    ],
)
def test_bad_verifier_keys(text: str) -> None:
    with pytest.raises(LogError) as caught:
        VerifierKey.parse(text)
    assert caught.value.code in (Code.NOTE, Code.KEY)


def test_key_id_as_specified() -> None:
    from hashlib import sha256

    name, hex_id, value = str(SIGNER.verifier).split("+", 2)
    assert b64decode(value)[:1] == b"\x01"
    assert sha256(name.encode() + b"\x0a" + b64decode(value)).hexdigest()[:8] == hex_id
