"""Keys: what libsodium refuses, what is refused beyond it, files, DSSE, and OpenSSL as a second opinion."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from nacl.exceptions import BadSignatureError
from nacl.signing import VerifyKey

from referee.log.errors import Code, LogError
from referee.log.intent import INTENT_TYPE, intent_encoding
from referee.log.keys import PrivateKey, PublicKey, check_public_key, key_id, public_key_from_pem
from tests.log.games import key

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
# All points of order 1, 2, 4 and 8, in canonical encoding.
SMALL_ORDER = [
    "0100000000000000000000000000000000000000000000000000000000000000",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
]
NOT_CANONICAL = [(y | sign << 255).to_bytes(32, "little").hex() for y in range(P, 2**255) for sign in (0, 1)]


@pytest.mark.parametrize("encoded", SMALL_ORDER + NOT_CANONICAL)
def test_weak_keys_are_refused(encoded: str) -> None:
    """Attack 4: a key that everything, or something fixed, verifies under."""
    raw = bytes.fromhex(encoded)
    with pytest.raises(LogError) as caught:
        check_public_key(raw)
    assert caught.value.code is Code.KEY
    # And libsodium takes no signature of theirs, for any order of R.
    for r in SMALL_ORDER:
        with pytest.raises(BadSignatureError):
            VerifyKey(raw).verify(b"message", bytes.fromhex(r) + bytes(32))


def test_keys_of_mixed_order_are_refused() -> None:
    """A good key plus a point of order 8: it verifies or not, as the verifier multiplies by the cofactor or not."""
    from nacl.bindings import crypto_core_ed25519_is_valid_point

    d = -121665 * pow(121666, -1, P) % P
    x1, y1 = _decompress(key("mixed").public.raw, d)
    x2, y2 = _decompress(bytes.fromhex(SMALL_ORDER[6]), d)
    t = d * x1 * x2 * y1 * y2 % P
    x = (x1 * y2 + x2 * y1) * pow(1 + t, -1, P) % P
    y = (y1 * y2 + x1 * x2) * pow(1 - t, -1, P) % P
    mixed = (y | (x & 1) << 255).to_bytes(32, "little")
    assert not crypto_core_ed25519_is_valid_point(mixed)
    with pytest.raises(LogError):
        PublicKey(mixed)


def _decompress(raw: bytes, d: int) -> tuple[int, int]:
    value = int.from_bytes(raw, "little")
    y, sign = value & ((1 << 255) - 1), value >> 255
    xx = (y * y - 1) * pow(d * y * y + 1, -1, P) % P
    x = pow(xx, (P + 3) // 8, P)
    if x * x % P != xx:
        x = x * pow(2, (P - 1) // 4, P) % P
    assert x * x % P == xx
    return (P - x if x & 1 != sign else x), y


@pytest.mark.parametrize("size", [0, 31, 33])
def test_lengths(size: int) -> None:
    with pytest.raises(LogError):
        PublicKey(bytes(size))
    assert not key("a").public.is_signed(b"", bytes(size))


def test_signatures_are_not_malleable() -> None:
    signature = key("a").sign(b"message")
    assert key("a").public.is_signed(b"message", signature)
    s = int.from_bytes(signature[32:], "little") + ORDER
    assert not key("a").public.is_signed(b"message", signature[:32] + s.to_bytes(32, "little"))
    assert not key("a").public.is_signed(b"massage", signature)
    assert not key("b").public.is_signed(b"message", signature)


def test_rfc_8032_vector() -> None:
    private = PrivateKey(bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"))
    assert private.public.raw.hex() == "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
    assert private.sign(b"").hex().startswith("e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155")


def test_key_files(tmp_path: Path) -> None:
    path = tmp_path / "seat.key"
    private = PrivateKey.generate()
    private.save(path)
    assert path.stat().st_mode & 0o777 == 0o600
    loaded = PrivateKey.load(path)
    assert loaded.public == private.public
    assert hash(loaded.public) == hash(private.public)
    assert loaded.public.id == key_id(private.public.raw)
    with pytest.raises(FileExistsError):
        private.save(path)
    for mode in (0o640, 0o604, 0o601, 0o666):
        path.chmod(mode)
        with pytest.raises(LogError) as caught:
            PrivateKey.load(path)
        assert caught.value.code is Code.KEY
    path.chmod(0o400)
    PrivateKey.load(path)
    assert private.public.raw.hex() in repr(private)
    assert private._seed.hex() not in repr(private)


@pytest.mark.parametrize("text", ["", "not a key", "-----BEGIN PRIVATE KEY-----\n!\n-----END PRIVATE KEY-----\n"])
def test_other_files_are_no_keys(tmp_path: Path, text: str) -> None:
    path = tmp_path / "seat.key"
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(LogError):
        PrivateKey.load(path)
    with pytest.raises(LogError):
        public_key_from_pem(text)


def test_symbolic_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with pytest.raises(OSError, match="link"):
        key("a").save(tmp_path / "link")


def test_public_pem_comes_back() -> None:
    assert public_key_from_pem(key("a").public.pem()) == key("a").public


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_openssl_agrees(tmp_path: Path) -> None:
    """OpenSSL reads our key files and verifies our signatures, over DSSE and over bare text."""
    private = key("a")
    private.save(tmp_path / "key.pem")
    (tmp_path / "public.pem").write_text(private.public.pem())
    shown = subprocess.run(
        ["openssl", "pkey", "-in", tmp_path / "key.pem", "-pubout"], check=True, capture_output=True, text=True
    )
    assert shown.stdout.replace("\n", "") == private.public.pem().replace("\n", "")
    message = intent_encoding(b"body")
    (tmp_path / "message").write_bytes(message)
    (tmp_path / "signature").write_bytes(private.sign(message))
    command = ["openssl", "pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", str(tmp_path / "public.pem")]
    command += ["-in", str(tmp_path / "message"), "-sigfile", str(tmp_path / "signature")]
    assert subprocess.run(command, check=False, capture_output=True).returncode == 0
    (tmp_path / "message").write_bytes(message + b" ")
    assert subprocess.run(command, check=False, capture_output=True).returncode != 0


@pytest.mark.parametrize("body", [b"", b"x", bytes(range(256)), "ž".encode() * 40])
def test_encoding_is_dsse(body: bytes) -> None:
    from securesystemslib.dsse import Envelope

    assert intent_encoding(body) == Envelope(body, INTENT_TYPE, {}).pae()


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_mode_does_not_depend_on_umask(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        key("a").save(tmp_path / "k")
    finally:
        os.umask(old)
    assert (tmp_path / "k").stat().st_mode & 0o777 == 0o600
