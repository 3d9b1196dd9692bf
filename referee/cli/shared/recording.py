"""What the commands that write game files have in common: keys, names and files that are not there yet."""

from __future__ import annotations

from pathlib import Path

from referee.cli.shared import texts
from referee.cli.shared.failure import EXIT_USAGE, Failure
from referee.games.results import Wait
from referee.log.errors import LogError
from referee.log.keys import PrivateKey
from referee.log.note import CheckpointSigner
from referee.log.verdict import Verdict
from referee.telling.rehearsal import rehearse
from referee.text.notation.game_text import GameText
from referee.text.notation.violations import NotationError


def not_recordable(path: Path, error: LogError | NotationError) -> Failure:
    """Return what a person reads of a line, or of an end, that no log has."""
    if isinstance(error, NotationError):
        return Failure(f"{path}: {error}", int(Verdict.RULES))
    expected = f"; expected {error.expected}" if error.expected else ""
    return Failure(f"{path}: {error.what}{expected}", int(Verdict.RULES))


def rehearsed(path: Path, game: GameText) -> Wait | None:
    """Judge what a text has beside its moves; return what its result waits for, if it does. Raise ``Failure``."""
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
    keys = [texts.private_key(option, path) for option, path in paths.items()]
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
