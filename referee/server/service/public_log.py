"""The public log of a referee's directory: its key, its witnesses' policy, and the log as it is found."""

from __future__ import annotations

from pathlib import Path

from referee.log.errors import LogError
from referee.log.note import CheckpointSigner
from referee.log.public.checkpoint import MAX_POLICY_BYTES, LogPolicy
from referee.server.publishing.sequencer import Sequencer, WentBack
from referee.server.service.data import Data, DataError, check_key, keep, load_or_make_key
from referee.server.service.files import LOG_KEY_FILE, LOG_VERIFIER_FILE
from referee.server.store.store import StoreFailed

LOG_NAME = "log"
"""Ends the log's origin, after that of the games."""


def log_signer(data: Path, origin: str) -> CheckpointSigner:
    """Return what signs the log, with a new key if there was none. Raise ``DataError``, ``LogError``, ``OSError``."""
    key, verifier = data / LOG_KEY_FILE, data / LOG_VERIFIER_FILE
    if verifier.exists() and not key.exists():
        what = "No such file, and the public log is signed with it"
        raise DataError(
            f"{key}: {what}; put it back; if it is lost, the log ends, and a new one needs another --origin"
        )
    signer = CheckpointSigner(f"{origin}/{LOG_NAME}", load_or_make_key(key))
    check_key(key, signer, verifier)
    keep(verifier, f"{signer.verifier}\n", 0o644)
    return signer


def read_policy(path: Path) -> LogPolicy:
    """Return the policy in the file. Raise ``DataError``."""
    try:
        with path.open("rb") as file:
            return LogPolicy.parse(file.read(MAX_POLICY_BYTES + 1))
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}") from error
    except LogError as error:
        expected = f"; expected {error.expected}" if error.expected else ""
        raise DataError(f"{path}: {error.what}{expected}") from error


async def open_log(data: Data, folder: Path, policy_file: Path | None) -> Sequencer:
    """Return the log in the folder, found as it is. Raise ``DataError``."""
    try:
        signer = log_signer(data.path, data.signer.verifier.name)
        policy = read_policy(policy_file) if policy_file is not None else None
        if policy is not None and signer.verifier not in (keys := policy.log(signer.verifier.name)) and keys:
            what = f"it has another key of the log {signer.verifier.name}"
            raise DataError(f"{policy_file}: {what}; expected that of {data.path / LOG_VERIFIER_FILE}")
        try:
            log = Sequencer(data.store, data.signer.verifier.name, signer, folder, policy)
        except ValueError as error:
            raise DataError(f"{policy_file}: {error}") from None
        await log.start()
    except OSError as error:
        raise DataError(f"{error.filename or folder}: {error.strerror}") from error
    except (LogError, StoreFailed, WentBack) as error:
        raise DataError(str(error)) from error
    return log
