"""Copies of a referee's directory: a signed one of a running referee, and how one is laid down again.

A copy is a directory. ``backup.json`` says when it was made and which heads its games had, and ``backup.note`` is the
referee's signature under that.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Final

from referee.log.errors import LogError
from referee.log.file import regular
from referee.log.note import Checkpoint, CheckpointSigner, Note, TreeHead, VerifierKey
from referee.server.service.data import DataError, check_stopped, signer_of, store_address
from referee.server.service.files import (
    BACKUP_FILE,
    KEY_FILE,
    LOG_KEY_FILE,
    LOG_VERIFIER_FILE,
    STORE_ADDRESS_FILE,
    STORE_FILE,
    TOKEN_FILE,
    VERIFIER_FILE,
)
from referee.server.store.marks import Mark
from referee.server.store.sql import MARKS_FILE, SEAL_FILE
from referee.server.store.sqlite import Copied, copy_store, doubts_in
from referee.server.store.sqlite_files import logs_of
from referee.server.store.sqlite_marks import marks_in
from referee.server.store.store import StoreFailed

_MANIFEST: Final = "backup.json"
_NOTE: Final = "backup.note"
_STORES: Final = (STORE_FILE, STORE_ADDRESS_FILE)
_SECRET: Final = (KEY_FILE, LOG_KEY_FILE, TOKEN_FILE, SEAL_FILE)
_PUBLIC: Final = (VERIFIER_FILE, LOG_VERIFIER_FILE)


@dataclass(frozen=True, slots=True)
class Backup:
    """The contents of a copy."""

    copied_ms: int
    """The time that it is as old as, in milliseconds since 1970; 0 if no signature in the copy says so.

    With a referee that runs this is when the copy was begun; with one that is stopped, when its newest entry was
    written: nothing shows that the directory is not an older one, such as a snapshot of its disk.
    """
    games: int = 0
    """Games in it that are not over."""
    files: tuple[str, ...] = ()
    """The names of its files."""
    doubts: Mapping[bytes, int] = field(default_factory=dict)
    """Games that were in doubt when it was made, and since when, as ``Marks.doubts``."""
    is_of_running: bool = True
    """False: the referee was stopped when it was made."""
    lacking: int = 0
    """Games of which it lacks entries that were signed, as the marks say: the database had gone back."""
    address: str | None = None
    """The address of the database that the games are in, which is not in the copy; None: they are in a file."""
    made: tuple[Path, ...] = ()
    """Files that ``lay_down`` has made."""
    marks: Path | None = None
    """The path to which ``lay_down`` has moved earlier marks."""


def back_up(
    path: Path,
    out: Path,
    now_ms: int,
    *,
    with_keys: bool = True,
    marks: Path | None = None,
    seal_key: Path | None = None,
) -> Backup:
    """Copy a referee's directory, whether it runs or not; all of it or nothing. Games in PostgreSQL are not copied.

    ``with_keys``: copy the secret keys as well, without which the copy cannot be used. ``marks``, ``seal_key``: where
    these are if not in the directory. Raise ``DataError``.
    """
    try:
        address = store_address(path)
        if not (path / STORE_FILE).exists() and address is None:
            raise DataError(f"{path / STORE_FILE}: No such file; expected --data with a referee's directory")
        if out.exists():
            raise DataError(f"{out}: is there already; expected the name of a new directory")
        signer = signer_of(path, None)
        beside = out.with_name(f".{out.name}.new")
        if beside.exists():
            shutil.rmtree(beside)
        beside.mkdir(mode=0o700)
        is_running = _is_running(path)
        copied, lacking = _NO_GAMES, list[bytes]()
        if address is None:
            # The marks first: those of a referee that runs are never ahead of games that are copied later.
            known = _known(marks or path / MARKS_FILE)
            copied = copy_store(path / STORE_FILE, beside / STORE_FILE)
            lacking = [game_id for game_id, mark in known.items() if mark.size > _size(copied, game_id)]
        names = (*_PUBLIC, *([STORE_ADDRESS_FILE] if address else ()), *(_SECRET if with_keys else ()))
        sources = {name: path / name for name in names}
        if with_keys and seal_key is not None:
            sources[SEAL_FILE] = seal_key
        for name, source in sources.items():
            if source.exists():
                _copy(source, beside / name)
        doubts = doubts_in(marks or path / MARKS_FILE)
        copied_ms = now_ms
        if copied.newest_ms and not is_running:
            # The games of an earlier copy were whole at its time.
            copied_ms = min(now_ms, max([copied.newest_ms, *([] if lacking else doubts.values())]))
        for game_id in lacking:
            if (last_ms := copied.last_ms.get(game_id)) is not None:
                doubts[game_id] = min(last_ms, doubts.get(game_id, last_ms))
        _sign(beside, signer, copied_ms, copied.notes, doubts)
        _sync(beside)
        beside.rename(out)
        _sync(out.parent)
        if address is None:
            (path / BACKUP_FILE).touch(mode=0o600)
            os.utime(path / BACKUP_FILE, ns=(now_ms * 1_000_000, now_ms * 1_000_000))
    except OSError as error:
        raise DataError(f"{error.filename or out}: {error.strerror}") from error
    except (LogError, StoreFailed) as error:
        raise DataError(str(error)) from error
    files = tuple(sorted(file.name for file in out.iterdir()))
    return Backup(copied_ms, len(copied.notes), files, {}, is_running, len(lacking), address)


_NO_GAMES: Final = Copied({}, {}, frozenset(), 0)


def _is_running(path: Path) -> bool:
    try:
        check_stopped(path)
    except DataError:
        return True
    return False


def _known(marks: Path) -> dict[bytes, Mark]:
    return marks_in(marks) if marks.exists() else {}


def _size(copied: Copied, game_id: bytes) -> int:
    """Return how many entries of a game are in a copy; of one that is over no fewer than were signed."""
    note = copied.notes.get(game_id)
    if note is None:
        return sys.maxsize if game_id in copied.games else 0
    size = _head(note).get("size")
    return size if isinstance(size, int) else sys.maxsize  # the referee sets such a game aside


def lay_down(copy: Path, path: Path, now_ms: int, *, marks: Path | None = None) -> Backup:
    """Put a copy into a referee's directory, which has no games yet. Return its contents. Raise ``DataError``.

    ``copy``: a directory that ``back_up`` made, one with copies of the same files, or a database alone. Files that are
    in ``path`` already, such as its keys, have to be the same. Marks that are there, or in ``marks``, are moved away.
    """
    try:
        files = {STORE_FILE: copy} if copy.is_file() else _files(copy)
        address = store_address(copy) if STORE_ADDRESS_FILE in files else None
        backup = Backup(0) if copy.is_file() else _read(copy)
        for left in logs_of(copy if copy.is_file() else copy / STORE_FILE):
            if left.exists():
                what = "belongs to the copy, which is not whole without it"
                raise DataError(f"{left}: {what}; expected a copy that referee backup made, or sqlite3's .backup")
        store_logs = [log.name for log in logs_of(path / STORE_FILE)]
        for name in (STORE_FILE, *store_logs, STORE_ADDRESS_FILE):
            if (path / name).exists():
                what = "is there, and a copy is put only where no games are"
                raise DataError(f"{path / name}: {what}; move {path} away, and keep it: it may know more than the copy")
        for name, file in files.items():
            if (there := path / name).exists() and _whole(there) != _whole(file):
                raise DataError(f"{there}: is not the one in {copy}; expected the copy of this referee")
        if KEY_FILE not in files and not (path / KEY_FILE).exists():
            what = f"neither {copy} nor {path} has the referee's key"
            raise DataError(f"{what}; expected {KEY_FILE} in {path}, from where you keep the keys")
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        kept = marks or path / MARKS_FILE
        aside = kept.with_name(f"{kept.name}.before-{now_ms}") if kept.exists() else None
        for old in (kept, *logs_of(kept)):
            if old.exists():
                old.rename(old.with_name(f"{kept.name}.before-{now_ms}{old.name.removeprefix(kept.name)}"))
        # The database last: without it the next try begins anew.
        made = [path / name for name in sorted(files, key=lambda name: name in _STORES)]
        made = [file for file in made if not file.exists()]
        try:
            for file in made:
                _copy(files[file.name], file)
        except BaseException:  # a disk that is full: the next try finds nothing of this one
            for file in made:
                file.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise DataError(f"{error.filename or copy}: {error.strerror}") from error
    return replace(backup, made=tuple(made), marks=aside, address=address)


def take_up(backup: Backup) -> None:
    """Remove again what ``lay_down`` has made."""
    for file in backup.made:
        for each in (file, *logs_of(file)):
            each.unlink(missing_ok=True)


def _files(copy: Path) -> dict[str, Path]:
    """Return the files of a copy that belong into a directory, by name. Raise ``DataError``."""
    if not any((copy / name).exists() for name in _STORES):
        raise DataError(f"{copy / STORE_FILE}: No such file; expected a directory that referee backup made")
    return {name: copy / name for name in (*_STORES, *_PUBLIC, *_SECRET) if (copy / name).exists()}


def _sign(
    folder: Path, signer: CheckpointSigner, copied_ms: int, notes: dict[bytes, bytes], doubts: dict[bytes, int]
) -> None:
    heads = {game_id.hex(): _head(note) for game_id, note in sorted(notes.items())}
    manifest = {
        "origin": signer.verifier.name,
        "copied_ms": copied_ms,
        "sha256": {name: _digest(folder / name) for name in _STORES if (folder / name).exists()},
        "open_games": heads,
        "in_doubt": {game_id.hex(): copied_ms for game_id, copied_ms in sorted(doubts.items())},
    }
    data = f"{json.dumps(manifest, indent=1)}\n".encode()
    head = TreeHead(f"{signer.verifier.name}/backup", copied_ms, sha256(data).digest())
    for name, written in ((_MANIFEST, data), (_NOTE, signer.sign_head(head))):
        with (folder / name).open("xb") as file:
            file.write(written)
            file.flush()
            os.fsync(file.fileno())


def _head(note: bytes) -> dict[str, object]:
    try:
        checkpoint = Checkpoint.parse(Note.parse(note).text)
    except LogError:
        return {}
    return {"size": checkpoint.size, "root": b64encode(checkpoint.root).decode()}


def _read(copy: Path) -> Backup:
    """Return what a copy says of itself, if it says anything. Raise ``DataError`` if it is not what was signed."""
    if not (copy / _MANIFEST).exists():
        return Backup(0)
    data = _whole(copy / _MANIFEST)
    altered = f"{copy}: is not as referee backup made it"
    try:
        verifier = VerifierKey.parse(_whole(copy / VERIFIER_FILE).decode(errors="replace").strip())
        note = Note.parse(_whole(copy / _NOTE))
        verifier.check(note)
        head = TreeHead.parse(note.text)
        signed = head.origin == f"{verifier.name}/backup" and head.root == sha256(data).digest()
    except LogError as error:
        raise DataError(f"{altered}: {error}; expected another copy") from error
    if not signed:
        raise DataError(f"{altered}: {_NOTE} does not fit {_MANIFEST}; expected another copy")
    manifest = json.loads(data)
    for name in _STORES:
        if (_digest(copy / name) if (copy / name).exists() else None) != manifest["sha256"].get(name):
            raise DataError(f"{altered}: {name} was changed or damaged; expected another copy")
    doubts = {bytes.fromhex(game_id): copied_ms for game_id, copied_ms in manifest["in_doubt"].items()}
    return Backup(manifest["copied_ms"], len(manifest["open_games"]), doubts=doubts)


def _whole(path: Path) -> bytes:
    with regular(path) as file:
        return file.read()


def _digest(path: Path) -> str:
    with regular(path) as file:
        return file_digest(file, "sha256").hexdigest()


def _copy(source: Path, target: Path) -> None:
    """Copy a file with its mode, durably."""
    mode = 0o644 if source.name in _PUBLIC else 0o600
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
    with os.fdopen(descriptor, "wb") as to, regular(source) as from_:
        shutil.copyfileobj(from_, to)
        to.flush()
        os.fsync(to.fileno())


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
