"""Public keys as people have them: all commands read them in the same way."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.cli.shared.arguments import public_key, verifier_key
from referee.cli.shared.failure import Failure
from tests.cli.inside import referee
from tests.log.games import SIGNER, key

KEY = key("somebody")


@pytest.fixture
def pem(tmp_path: Path) -> Path:
    path = tmp_path / "key.pem"
    KEY.save(path)
    return path


def test_every_form(pem: Path, tmp_path: Path) -> None:
    redirected, public = tmp_path / "key.hex", tmp_path / "key.pub"
    redirected.write_text(referee("keys", pem).stdout)
    public.write_text(referee("keys", pem, "--pem").stdout)
    for text in (KEY.public.raw.hex(), KEY.public.raw.hex().upper(), str(redirected), str(public), str(pem)):
        assert public_key("--declare", text) == KEY.public.raw


def refused(text: str | Path) -> str:
    with pytest.raises(Failure) as failed:
        public_key(f"--seat-key 0={text}", str(text))
    assert failed.value.exit_code == 2
    message = str(failed.value)
    assert message.startswith(f"--seat-key 0={text}: ")
    assert "\n" not in message
    return message.removeprefix(f"--seat-key 0={text}: ")


def test_what_is_none(pem: Path, tmp_path: Path) -> None:
    expected = "expected 64 hexadecimal digits, or a file with them or with a PEM key"
    garbage = tmp_path / "garbage"
    garbage.write_bytes(bytes(range(256)))
    assert refused(garbage) == f"not a key; {expected}"
    assert refused("f" * 63) == f"No such file or directory; {expected}"
    assert refused("f" * 300) == f"File name too long; {expected}"
    assert refused("") == f"Is a directory; {expected}"
    assert refused("00" * 32).startswith("weak public key")
    garbage.write_text("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n")
    assert refused(garbage) == "not an Ed25519 public key; expected SubjectPublicKeyInfo in PEM"
    pem.chmod(0o644)
    assert refused(pem) == "mode 0644 lets others use this key; expected mode 0600"


def test_new_and_audit_say_the_whole_word(tmp_path: Path) -> None:
    absent = tmp_path / "alice.pem"
    audit = ("audit", absent, "--key", str(SIGNER.verifier))
    for words, word in (
        (("new", "--declare", absent), f"--declare {absent}"),
        (("new", "--scribe", absent), f"--scribe {absent}"),
        ((*audit, "--seat-key", f"0={absent}"), f"--seat-key 0={absent}"),
        ((*audit, "--scribe-key", f"1={absent}"), f"--scribe-key 1={absent}"),
    ):
        done = referee(*words)
        assert done.returncode == 2
        assert done.stderr.startswith(f"referee: {word}: No such file or directory; expected 64 hexadecimal digits")


def test_a_word_that_is_no_choice() -> None:
    done = referee("serve", "--log-format", "x")
    expected = 'Invalid value "x" for --log-format. Choose from: "auto", "json", "text".'
    assert (done.returncode, done.stderr) == (2, f"referee: {expected} Try --help.\n")


def test_a_private_key_given_by_mistake_is_not_repeated(pem: Path) -> None:
    secret = "".join(pem.read_text().splitlines()[1:-1])
    for word in (pem, pem.read_text()):
        with pytest.raises(Failure) as failed:
            verifier_key("--key", str(word))
        assert failed.value.exit_code == 2
        said = str(failed.value)
        assert said.startswith("--key")
        assert not any(secret[at : at + 12] in said for at in range(len(secret) - 12))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("keys", "--pem", "--new"), "parameter PATH requires an argument"),
        (("keys", "-x"), "Unknown option: -x"),
        (("keys", "--", "-x"), "-x: no such file"),
        (("keys", "a.pem", "b.pem"), "b.pem"),
        (("web", "--listen", "-x"), "--listen '-x': expected HOST:PORT"),
        (("web", "--listen=x", "--listen=y"), "--listen 'y': expected HOST:PORT"),
        (("web", "--no-json"), "Unknown option: --no-json"),
        (("games", "--table", "-1"), 'Invalid value "-1" for --table'),
        (("games", "--state", "set-aside"), 'Invalid value for --state: "set-aside". Choose from: joining, '),
        (("best-turn", "--svgg"), "There is no such option"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_how_words_are_read(words: tuple[str, ...], said: str) -> None:
    done = referee(*words)
    assert done.returncode == 2 or words[1] == "--", done
    assert said in done.stderr
