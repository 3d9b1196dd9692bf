"""The directory that a referee lives in: its lock, its key, the organiser's token, the store, the public log."""

from __future__ import annotations

import asyncio
import fcntl
import os
import shlex
import stat
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from referee.log.errors import LogError
from referee.log.keys import PrivateKey
from referee.log.note import CheckpointSigner, VerifierKey
from referee.server.live.opening import new_token, token_digest
from referee.server.live.referee_time import SystemTime, Time
from referee.server.service.files import (
    ALIVE_FILE,
    BACKUP_FILE,
    CLUSTER_MARK_FILE,
    DEFAULT_ORIGIN,
    KEY_FILE,
    LOCK_FILE,
    STORE_ADDRESS_FILE,
    STORE_FILE,
    TOKEN_FILE,
    VERIFIER_FILE,
    check_address,
)
from referee.server.service.tls import NODE_SECRET_BYTES
from referee.server.store.seal import Seal
from referee.server.store.sql import MARKS_FILE, SEAL_FILE, SqlStore, add_marks
from referee.server.store.sqlite import SqliteStore, signers_in
from referee.server.store.sqlite_files import make_whole
from referee.server.store.store import BUSY_S, Store, StoreFailed, Upgrade


class DataError(Exception):
    """The directory cannot be used; the message names the fault, in one line."""


@dataclass(frozen=True, slots=True)
class Data:
    """An opened directory."""

    path: Path
    signer: CheckpointSigner
    store: Store
    marks_path: Path
    seal_path: Path
    """The paths of the store's marks, and of the key that it seals secrets with."""
    time: Time
    """The referee's: not earlier than when it was last running, whatever the machine's clock says."""
    lacking: Mapping[Path, int]
    """Files for which no space could be set aside, and how many bytes more that needs."""
    lock: int
    """Held as long as it is open."""
    alive_elsewhere_ms: int = 0
    """The time when the database noted that a referee was running, before this one."""

    @property
    def token_path(self) -> Path:
        return self.path / TOKEN_FILE

    @property
    def verifier_path(self) -> Path:
        return self.path / VERIFIER_FILE

    def node_secret(self) -> bytes:
        """Return what only those have whose games are in the same database. Raise ``StoreFailed``."""
        return Seal.load(self.seal_path).derived(b"tile-referee/v1/nodes", NODE_SECRET_BYTES)

    def note_alive(self) -> None:
        """Note that the referee is running; when it runs again, no clock has run since then. Raise ``OSError``."""
        now_ms = self.time.now_ms()
        path = self.path / ALIVE_FILE
        path.touch(mode=0o600)
        os.utime(path, ns=(now_ms * 1_000_000, now_ms * 1_000_000))

    def backup_ms(self) -> int:
        """Return when the newest copy of ``referee backup`` was made, in milliseconds since 1970; 0: never.

        Raise ``OSError``.
        """
        return _time_of(self.path / BACKUP_FILE)

    @property
    def can_go_back_together(self) -> bool | None:
        """True if games and marks are on one disk, so that an older copy of it would go unnoticed.

        None if the games are not in a file. Raise ``OSError``.
        """
        if store_address(self.path) is not None:
            return None
        return (self.path / STORE_FILE).stat().st_dev == self.marks_path.stat().st_dev

    def alive_ms(self) -> int:
        """Return when it was noted last, in milliseconds since 1970; 0: never. Raise ``OSError``.

        With games in a database that others can reach, one of them may have been running.
        """
        return max(_time_of(self.path / ALIVE_FILE), self.alive_elsewhere_ms)

    async def close(self) -> None:
        """Close, once what is under way is durable."""
        await self.store.close()
        os.close(self.lock)


def open_data(
    path: Path,
    origin: str,
    *,
    store: str | None = None,
    marks: Path | None = None,
    seal_key: Path | None = None,
    new_marks: bool = False,
    copied_ms: int = 0,
    new_seal: bool = False,
    busy_s: float = BUSY_S,
    on_upgrade: Callable[[Upgrade], None] = lambda _: None,
    alone: bool = False,
    require_standby: bool = False,
) -> Data:
    """Open the directory, or make it with all that is in it. Raise ``DataError``.

    ``origin``: the referee's name; it is the directory's own, so another than before is refused. ``store``: address of
    the database that the games are in, if it is not a file of the directory, which keeps the address. ``marks``,
    ``seal_key``: where these files are if not in the directory. ``new_marks``, ``copied_ms``, ``new_seal``,
    ``on_upgrade``: as ``SqliteStore`` takes them. ``alone``, ``require_standby``: as ``PostgresStore`` takes them;
    without a database there is no standby. A first start that fails leaves no file that would bind the next
    one, such as a key.
    """
    _check_is_file(marks)
    marks, seal_key = marks or path / MARKS_FILE, seal_key or path / SEAL_FILE
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        _check_mode(path)
        lock = _locked(path)
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}") from error
    made = _MadeFiles(path, marks, seal_key)
    opened: SqlStore | None = None
    try:
        signer = signer_of(path, origin)
        database = store or store_address(path)
        if database is None:
            _check_signer(path / STORE_FILE, path / KEY_FILE, signer.verifier)
        keep(path / VERIFIER_FILE, f"{signer.verifier}\n", 0o644)
        if database is None and require_standby:
            what = "its games are in a file, of which there is no standby"
            raise StoreFailed(f"{path}: {what}; expected --store, or no --require-standby")  # noqa: TRY301 - as others
        organiser: bytes | None = None
        files: dict[str, Any] = {"marks": marks, "seal_key": seal_key, "new_marks": new_marks, "new_seal": new_seal}
        files["copied_ms"] = copied_ms
        if database is None:
            opened = SqliteStore(path / STORE_FILE, **files, busy_s=busy_s, on_upgrade=on_upgrade)
        else:
            shared = opened = _postgres("postgres").PostgresStore(
                database,
                **files,
                verifier=str(signer.verifier),
                busy_s=busy_s,
                on_upgrade=on_upgrade,
                alone=alone,
                require_standby=require_standby,
                cluster_mark=path / CLUSTER_MARK_FILE,
                on_bound=made.keep,
            )
            organiser = shared.organiser
            keep(path / STORE_ADDRESS_FILE, f"{database}\n", 0o600)
        if organiser is None:
            opened.set_organiser(token_digest(_token(path / TOKEN_FILE)))
        elif not alone:
            _check_token(path / TOKEN_FILE, organiser)
        time = SystemTime()
        time.reach(max(_time_of(path / ALIVE_FILE), opened.alive_ms))
    except BaseException as error:
        if opened is not None:
            opened.abandon()  # in a cluster it would continue as a living referee
        made.remove()
        os.close(lock)
        if isinstance(error, OSError):
            # An error of writing to a full disk names no file.
            raise DataError(f"{error.filename or path}: {error.strerror}") from error
        if isinstance(error, LogError | StoreFailed | UnicodeEncodeError):
            raise DataError(str(error)) from error
        raise
    return Data(path, signer, opened, marks, seal_key, time, opened.lacking, lock, opened.alive_ms)


class _MadeFiles:
    """The files that a first start makes; it removes them again if it fails."""

    def __init__(self, path: Path, *beside: Path) -> None:
        """``path``: the directory, whose lock is held; ``beside``: files that may lie elsewhere."""
        self._path, self._beside = path, beside
        self._before = {*path.iterdir(), *(file for file in beside if file.exists())}
        binding = (KEY_FILE, VERIFIER_FILE, STORE_FILE, STORE_ADDRESS_FILE)
        self._may_go = not any((path / name).exists() for name in binding)

    def keep(self) -> None:
        """Leave the files whatever follows: a database has the key's name now."""
        self._may_go = False

    def remove(self) -> None:
        """Remove them, but the lock, which the next start takes as it is."""
        if not self._may_go:
            return
        for file in {*self._path.iterdir(), *self._beside} - self._before - {self._path / LOCK_FILE}:
            with suppress(OSError):
                file.unlink()


def move_data(path: Path, address: str, *, marks: Path | None = None, seal_key: Path | None = None) -> int:
    """Move the games of a directory from its file into a database; return how many. Raise ``DataError``.

    From then on the directory's games are there; the file stays as it was. ``address``: of the database. ``marks``,
    ``seal_key``: as ``open_data`` takes them. Moving that was stopped can be repeated.
    """
    try:
        if not (path / STORE_FILE).exists():
            raise DataError(f"{path / STORE_FILE}: No such file; expected --data with a referee's directory")
        if (there := store_address(path)) is not None:
            raise DataError(f"{path}: its games are in {there} already")
        _check_mode(path)
        lock = _locked(path)
        try:
            signer = signer_of(path, None)
            marks, seal_key = marks or path / MARKS_FILE, seal_key or path / SEAL_FILE
            # Any fault in it shows now, and nothing sealed is left open.
            file = SqliteStore(path / STORE_FILE, marks=marks, seal_key=seal_key, on_upgrade=_refuse_upgrade)
            asyncio.run(file.close())
            copier = _postgres("sqlite_to_postgres")
            count: int = copier.copy_games(path / STORE_FILE, address, str(signer.verifier), BUSY_S)
            keep(path / STORE_ADDRESS_FILE, f"{address}\n", 0o600)
        finally:
            os.close(lock)
    except OSError as error:
        raise DataError(f"{error.filename or path}: {error.strerror}") from error
    except (LogError, StoreFailed) as error:
        raise DataError(str(error)) from error
    return count


def found_cluster(path: Path, store: str | None) -> None:
    """Let several referees run on the database of a directory, whose referee is stopped. Raise ``DataError``.

    Its token is the organiser's from then on, at all of them. ``store``: as ``open_data`` takes it.
    """
    if store is None and not (path / STORE_ADDRESS_FILE).exists():
        what = "its games are not in PostgreSQL"
        raise DataError(f"{path}: {what}; expected --store, or referee migrate for games that are in a file")
    data = open_data(path, origin_of(path, None), store=store, alone=True)
    try:
        digest = token_digest(_token(data.token_path))
        shared: Any = data.store
        shared.found_cluster(digest, data.alive_ms())
    except (OSError, StoreFailed) as error:
        raise DataError(str(error)) from error
    finally:
        asyncio.run(data.close())


def replace_organiser(path: Path, store: str | None) -> Path:
    """Make a new organiser's token for a cluster, while referees run; return its file. Raise ``DataError``.

    The one before is void. ``store``: as ``open_data`` takes it.
    """
    file = path / TOKEN_FILE
    try:
        if file.exists():
            raise DataError(f"{file}: this machine has the organiser's token; to replace it, remove the file first")
        database = store or store_address(path)
        if database is None or not (path / KEY_FILE).exists():
            what = "not the directory of a cluster's referee"
            raise DataError(f"{path}: {what}; expected its {KEY_FILE}, {VERIFIER_FILE} and {STORE_ADDRESS_FILE}")
        verifier = signer_of(path, None).verifier
        token = new_token()
        # The file comes last: a referee with a token that the database does not know would not start.
        cluster_module().replace_organiser(database, str(verifier), token_digest(token))
        keep(file, f"{token}\n", 0o600)
    except OSError as error:
        raise DataError(f"{error.filename or path}: {error.strerror}") from error
    except (LogError, StoreFailed) as error:
        raise DataError(str(error)) from error
    return file


def take_marks(data: Data, path: Path) -> int:
    """Add newer marks of another node to the directory's; return for how many games they were newer.

    Raise ``DataError``.
    """
    _check_is_file(path)
    try:
        return add_marks(data.store.marks, path)
    except StoreFailed as error:
        raise DataError(str(error)) from error


def cluster_module() -> Any:
    """Return the module that knows clusters. Raise ``DataError`` if what it needs is not installed."""
    return _postgres("postgres_cluster")


def _refuse_upgrade(upgrade: Upgrade) -> None:
    what = f"an earlier program wrote it (store version {upgrade.version})"
    raise StoreFailed(f"{upgrade.path}: {what}; start referee serve once, which upgrades it, then move it")


def origin_of(path: Path, wanted: str | None) -> str:
    """Return the name that a directory's games are signed under. Raise ``DataError`` if another is wanted."""
    file = path / VERIFIER_FILE
    if not file.exists():
        if wanted is None and ((path / STORE_FILE).exists() or (path / STORE_ADDRESS_FILE).exists()):
            raise DataError(f"{file}: No such file; expected --origin with the name that the games are signed under")
        return wanted or DEFAULT_ORIGIN
    try:
        kept = VerifierKey.parse(file.read_text(encoding="utf-8", errors="replace").strip()).name
    except OSError as error:
        raise DataError(f"{file}: {error.strerror}") from error
    except LogError:
        raise DataError(f"{file}: not a verifier key; remove it and give --origin to have it made again") from None
    if wanted not in {None, kept}:
        raise DataError(f"{path}: this referee's name is {kept}, not {wanted}; expected no --origin, or the same")
    return kept


def signer_of(path: Path, origin: str | None) -> CheckpointSigner:
    """Return what signs a directory's games, with a new key if it has no games yet.

    ``origin``: as ``origin_of`` takes it. Raise ``DataError`` if the key is lost or is another's, ``LogError``,
    ``OSError``.
    """
    name, key = origin_of(path, origin), path / KEY_FILE
    if not key.exists():
        for bound in (VERIFIER_FILE, STORE_FILE, STORE_ADDRESS_FILE):
            if (path / bound).exists():
                what = "No such file, and without it no game can continue"
                raise DataError(f"{key}: {what}; nothing was changed; {_KEY}")
    signer = CheckpointSigner(name, load_or_make_key(key))
    check_key(key, signer, path / VERIFIER_FILE)
    return signer


_KEY = (
    "put back the referee.pem of this directory, from a backup; if it is lost, keep the directory as evidence, and "
    "start with another --data and another --origin"
)


def check_key(key: Path, signer: CheckpointSigner, verifier: Path) -> None:
    """Raise ``DataError`` if the key in this file is not the one that the verifier file names; ``OSError``."""
    if not verifier.exists():
        return
    kept = verifier.read_text(encoding="utf-8", errors="replace").strip()
    if kept != str(signer.verifier):
        what = f"another key than {verifier.name} names, so what it signs would not count, and nothing could continue"
        raise DataError(f"{key}: {what}; nothing was changed; put back the {key.name} of this directory, from a backup")


def _check_signer(store: Path, key: Path, verifier: VerifierKey) -> None:
    """Raise ``DataError`` if the games in a file are signed with another key or name; ``StoreFailed``."""
    found = signers_in(store)
    if found and (verifier.name, verifier.id) not in found:
        names = {name for name, _ in found}
        how = "with another key" if verifier.name in names else f"not by {verifier.name}"
        what = f"the games in {store.name} are signed by {', '.join(sorted(names))}, {how}, so none could continue"
        raise DataError(f"{key}: {what}; nothing was changed; {_KEY}")


def _check_is_file(marks: Path | None) -> None:
    """Raise ``DataError`` for an address: a file of such a name cannot be meant."""
    if marks is not None and str(marks).startswith(("postgres:", "postgresql:")):
        what = "marks are kept in a file of each referee, not in a database"
        raise DataError(f"--marks: {what}; expected a file, on another disk than the games")


def _check_mode(path: Path) -> None:
    """Raise ``DataError`` if others may put files into the directory; ``OSError``."""
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o022:
        what = "others may put another key or database there"
        raise DataError(f"{path}: {what} (mode {mode:04o}); expected: chmod go-w {shlex.quote(str(path))}")


def load_or_make_key(path: Path) -> PrivateKey:
    """Return the private key in the file; a new one if there is no file. Raise ``LogError``, ``OSError``."""
    if path.exists():
        return PrivateKey.load(path)
    key = PrivateKey.generate()
    make_whole(path, key.save)
    return key


def _time_of(path: Path) -> int:
    """Return when a file was written, in milliseconds since 1970; 0 if it is not there."""
    try:
        return path.stat().st_mtime_ns // 1_000_000
    except FileNotFoundError:
        return 0


def store_address(path: Path) -> str | None:
    """Return the address of the database that the directory's games are in; None: they are in a file of it.

    Raise ``DataError``, ``OSError``.
    """
    file = path / STORE_ADDRESS_FILE
    if not file.exists():
        return None
    address = file.read_text(encoding="utf-8", errors="replace").strip()
    try:
        check_address(address)
    except ValueError as error:
        raise DataError(f"{file}: {error}") from None
    return address


def _postgres(module: str) -> Any:
    """Return a module of the store in PostgreSQL, which few referees need.

    Raise ``DataError`` if what it needs is not installed.
    """
    try:
        return import_module(f"referee.server.store.{module}")
    except ImportError as error:
        what = f"a store in PostgreSQL needs {error.name}"
        raise DataError(f"{what}; expected: pip install 'tile-referee[postgresql]'") from error


def keep(path: Path, text: str, mode: int) -> None:
    """Make the file unless it is there and right."""
    if not (path.exists() and path.read_text(encoding="utf-8", errors="replace") == text):
        make_whole(path, lambda file: _write(file, text, mode))


def _write(path: Path, text: str, mode: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _locked(path: Path) -> int:
    """Return two referees on one directory would both write its games."""
    lock = os.open(path / LOCK_FILE, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise DataError(f"{path}: another referee is running on this directory") from None
    return lock


def check_stopped(path: Path) -> None:
    """Raise ``DataError`` if a referee is running on the directory, ``OSError``; make nothing."""
    if (path / LOCK_FILE).exists():
        os.close(_locked(path))


def _check_token(path: Path, organiser: bytes) -> None:
    """Raise ``DataError`` if there is another token than the cluster's; a node needs none."""
    if path.exists() and token_digest(_token(path)) != organiser:
        what = "not the organiser's token of the cluster"
        raise DataError(f"{path}: {what}; expected that of the other nodes, or none: remove the file")


def _token(path: Path) -> str:
    """Return the organiser's token; a new one if its file was removed, which makes the old one void."""
    if path.exists():
        token = path.read_text(encoding="ascii", errors="replace").strip()
        if len(token) < 20:
            raise DataError(f"{path}: not a token; remove the file to get a new one")
        return token
    token = new_token()
    make_whole(path, lambda file: _write(file, f"{token}\n", 0o600))
    return token


def no_upgrade(upgrade: Upgrade) -> None:
    """Refuse to bring a database of an earlier program up to date."""
    what = f"an earlier program wrote it (store version {upgrade.version}), and a look changes nothing"
    raise StoreFailed(f"{upgrade.path}: {what}; expected that program, or referee serve, which upgrades it")
