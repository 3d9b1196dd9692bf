"""Games as text: files of them are read, signed and written, and keys are read for that."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from referee.cli.shared.arguments import private_key
from referee.cli.shared.failure import EXIT_USAGE, Failure
from referee.console import printable
from referee.games.results import Wait
from referee.log.errors import Code, LogError
from referee.log.keys import PrivateKey
from referee.log.note import CheckpointSigner, Note, NoteSignature, VerifierKey
from referee.log.verdict import Finding, Verdict
from referee.text.notation.game_text import GameText
from referee.text.notation.grammar import MAX_CHARACTERS
from referee.text.notation.violations import Kind, NotationError

_T = TypeVar("_T")
_MOST_BYTES = 4 * MAX_CHARACTERS
_DASH = "\u2014 ".encode()
"""Begins the signatures of a note, after its last blank line."""
_BOM = b"\xef\xbb\xbf"


def read(path: Path, reader: Callable[[str], _T], verifier: VerifierKey | None = None) -> _T:
    """Return the result of ``reader`` for a file. With a key, the file has to be signed by it; else the signer is
    unchecked.

    Raise ``Failure``: 2 for an unreadable file, 8 for a breach of the rules, and the codes of ``referee audit``.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
        return reader(_text(path, data, verifier))
    except OSError as error:
        raise Failure(f"{path}: {error.strerror}", EXIT_USAGE) from None
    except UnicodeDecodeError as error:
        raise Failure(f"{path}: byte {error.start} is not UTF-8", EXIT_USAGE) from None
    except LogError as error:
        raise Failure(f"{path}: {error}", int(Finding.of(error).verdict)) from None
    except NotationError as error:
        code = int(Verdict.RULES) if error.kind is Kind.ILLEGAL else EXIT_USAGE
        raise Failure(f"{path}: {error}", code) from None


def _text(path: Path, data: bytes, verifier: VerifierKey | None) -> str:
    """Return the text without the signatures under it. Raise ``Failure``, ``LogError``, ``UnicodeDecodeError``."""
    if data.startswith(_BOM):
        raise Failure(f"{path}: begins with a byte order mark; expected UTF-8 without one", EXIT_USAGE)
    unix = data.replace(b"\r\n", b"\n")
    if not unix.rpartition(b"\n\n")[2].startswith(_DASH):
        if verifier is not None:
            raise LogError(Code.NOTE, "the text is not signed", f"a signature by {verifier.name}")
        return data.decode()
    if unix != data:
        raise LogError(Code.NOTE, "the lines of this signed text end with CR LF", "LF, as when it was signed")
    note = Note.parse(data, _MOST_BYTES)
    if verifier is not None:
        verifier.check(note)
    else:
        names = ", ".join(signature.name for signature in note.signatures)
        print(f"{printable(str(path))}: signed by {names}; signature not checked", file=sys.stderr)
    return note.text


def signed(text: str, name: str, key: PrivateKey) -> str:
    """Return the text as a signed note. No text of a game can be taken for a checkpoint, which has three lines."""
    signer = VerifierKey.of(name, key.public)
    signature = NoteSignature(name, signer.id, key.sign(text.encode()))
    return Note(text, (signature,)).encode().decode()


def not_recordable(path: Path, error: LogError | NotationError) -> Failure:
    """Return what a person reads of a line, or of an end, that no log has."""
    if isinstance(error, NotationError):
        return Failure(f"{path}: {error}", int(Verdict.RULES))
    expected = f"; expected {error.expected}" if error.expected else ""
    return Failure(f"{path}: {error.what}{expected}", int(Verdict.RULES))


def rehearsed(path: Path, game: GameText) -> Wait | None:
    """Judge what a text has beside its moves; return what its result waits for, if it does. Raise ``Failure``."""
    from referee.telling.recorder import rehearse  # noqa: PLC0415 - it takes the grammar, and all of a log

    try:
        return rehearse(game)
    except (LogError, NotationError) as error:
        raise not_recordable(path, error) from None


def checkpoint_signer(origin: str, key: PrivateKey) -> CheckpointSigner:
    """Raise ``Failure``."""
    try:
        return CheckpointSigner(origin, key)
    except LogError as error:
        raise Failure(f"--origin: {error.what}; expected {error.expected}", EXIT_USAGE) from None


def different_keys(paths: dict[str, Path]) -> list[PrivateKey]:
    """Return the private keys that these options name, which have to differ. Raise ``Failure``."""
    keys = [private_key(option, path) for option, path in paths.items()]
    taken: dict[bytes, str] = {}
    for option, key in zip(paths, keys, strict=True):
        if (other := taken.setdefault(key.public.raw, option)) != option:
            raise Failure(f"{other} and {option}: the same key twice; expected two different keys", EXIT_USAGE)
    return keys


def write_new(option: str, path: Path, data: bytes) -> None:
    """Write a file that is not there yet. Raise ``Failure``."""
    try:
        with path.open("xb") as stream:
            stream.write(data)
    except OSError as error:
        raise Failure(f"{option} {path}: {error.strerror}") from None
