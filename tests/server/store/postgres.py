"""A real PostgreSQL of the tests' own: in a folder of its own, on a socket in there, gone when they are done."""

from __future__ import annotations

import atexit
import os
import pwd
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from tempfile import mkdtemp
from time import sleep
from typing import Any
from urllib.parse import urlsplit

import psycopg

from referee.server.store import postgres_opening
from referee.server.store.postgres import PostgresStore

USER = "referee"
_OTHERS = ("postgres", "nobody")
"""Whom it runs as if the tests are root's, which PostgreSQL refuses to be."""
_SETTINGS = {
    "listen_addresses": "",
    "autovacuum": "off",
    "max_wal_senders": "4",
    "wal_keep_size": "64MB",
    "wal_retrieve_retry_interval": "200ms",
    "shared_buffers": "16MB",
    "logging_collector": "off",
}


def _other() -> tuple[int, int] | None:
    """Return the user and the group that run PostgreSQL; None: the user that runs the tests."""
    if os.geteuid():
        return None
    for name in _OTHERS:
        with suppress(KeyError):
            found = pwd.getpwnam(name)
            return found.pw_uid, found.pw_gid
    return None


def _as(other: tuple[int, int] | None, *command: str | Path) -> list[str | Path]:
    """Return the command as run by the other one.

    Not by what ``subprocess`` has for that, with which it forks: a process in which gRPC's threads are at work may hang
    at its end after that.
    """
    if other is None:
        return [*command]
    return ["setpriv", f"--reuid={other[0]}", f"--regid={other[1]}", "--clear-groups", *command]


def programs() -> Path | None:
    """Return the folder with PostgreSQL's programs: of the package ``pgserver``, else of the system; None: neither."""
    folders = [*Path("/usr/lib/postgresql").glob("*/bin"), *(Path(p) for p in os.environ["PATH"].split(os.pathsep))]
    spec = find_spec("pgserver")
    if spec is not None and spec.origin is not None:
        folders.insert(0, Path(spec.origin).parent / "pginstall" / "bin")
    for folder in folders:
        if (folder / "initdb").exists() and _works(folder / "postgres"):
            return folder
    return None


def _works(program: Path) -> bool:
    try:
        return subprocess.run(_as(_other(), program, "--version"), capture_output=True, check=False).returncode == 0
    except OSError:
        return False


class Postgres:
    """A server. Every database that it makes is new."""

    def __init__(self, bin_: Path, folder: Path) -> None:
        """Nothing is there yet; ``make`` it, or have it ``follow`` another."""
        self.folder = folder
        self._bin = bin_
        self._process: subprocess.Popen[bytes] | None = None
        self._numbers = count(1)
        self._shared: str | None = None
        self.env: dict[str, str] = {}
        """More of the environment, from the next start on."""
        self._other = _other()
        if self._other is not None:
            os.chown(folder, *self._other)

    def make(self) -> None:
        """Become a server that has nothing yet."""
        subprocess.run(_as(self._other, "cp", "-a", _new(self._bin), self.folder / "data"), check=True)

    def follow(self, primary: Postgres) -> None:
        """Become the primary's standby, whatever was here before."""
        shutil.rmtree(self.folder / "data", ignore_errors=True)
        words = ("-D", "data", "-h", str(primary.folder), "-U", USER, "-R", "-c", "fast", "--no-sync")
        # With a slot it would report what it has, and commits would wait for a copy that is not whole yet.
        self.run("pg_basebackup", *words, "--no-slot")

    def copy_log(self, to: str, name: str) -> subprocess.Popen[bytes]:
        """Begin to copy the log into a folder in this one; the server knows the copier by this name."""
        (self.folder / to).mkdir()
        self.own(to)
        words = ("-D", to, "-d", f"host={self.folder} user={USER} application_name={name}", "--synchronous")
        return subprocess.Popen(_as(self._other, self._bin / "pg_receivewal", *words), cwd=self.folder)

    def run(self, program: str, *words: str, given: str = "") -> str:
        """Run one of PostgreSQL's programs, as the server's user; return what it prints."""
        command = _as(self._other, self._bin / program, *words)
        done = subprocess.run(command, cwd=self.folder, input=given, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        said: str = done.stdout
        return said

    def own(self, name: str) -> None:
        """Give the content of this folder to the user that runs the server."""
        for path in [self.folder / name, *(self.folder / name).rglob("*")]:
            if self._other is not None:
                os.chown(path, *self._other, follow_symlinks=False)

    def start(self, **settings: str) -> None:
        """Return when it takes connections."""
        words = [f"-c{name}={value}" for name, value in ({**_SETTINGS, **settings}).items()]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                _as(self._other, self._bin / "postgres", "-D", "data", "-k", self.folder, *words),
                cwd=self.folder,
                stdout=log,
                stderr=log,
                env={**os.environ, **self.env},
            )
        while True:
            try:
                psycopg.connect(self.url("postgres")).close()
            except psycopg.OperationalError:
                assert self._process.poll() is None, (self.folder / "log").read_text()
                sleep(0.01)  # asking without a pause takes the time that the server needs
            else:
                return

    @property
    def pid(self) -> int:
        """Return the id of its first process, which has started the others."""
        assert self._process is not None
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Return True unless it was stopped or ended on its own."""
        return self._process is not None and self._process.poll() is None

    def stop(self, how: signal.Signals = signal.SIGQUIT) -> None:
        """``SIGQUIT``: at once, as in a crash; ``SIGINT``: as an operator does it."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait()
            self._process = None

    @staticmethod
    def name_in(url: str) -> str:
        return urlsplit(url).path[1:]

    def url(self, database: str) -> str:
        return f"postgresql://{USER}@/{database}?host={self.folder}"

    def new(self) -> str:
        """Return the address of a database of its own."""
        name = f"club{next(self._numbers)}"
        self.ask("postgres", f"CREATE DATABASE {name}")
        return self.url(name)

    def drop(self, name: str) -> None:
        """Remove one, even with connections."""
        self.ask("postgres", f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    def emptied(self) -> str:
        """Return the address of a database without games, which is quicker than a new one; its tables may be there."""
        if self._shared is None:
            self._shared = self.new()
            return self._shared
        if self.ask(self._shared, "SELECT to_regclass('nodes')") == [(None,)]:
            return self._shared  # no store was opened there
        tables = ", ".join([*postgres_opening.TABLES, "nodes"])
        self.ask(self._shared, f"TRUNCATE {tables} RESTART IDENTITY")
        self.ask(self._shared, "DELETE FROM facts WHERE name NOT IN ('version', 'id')")
        return self._shared

    def ask(self, database: str, sql: str) -> list[tuple[Any, ...]]:
        """Ask as an operator would, in one of its databases, given by its name or its address."""
        url = database if "://" in database else self.url(database)
        with psycopg.connect(url, autocommit=True) as connection:
            cursor = connection.execute(sql.encode())
            return cursor.fetchall() if cursor.description is not None else []


@cache
def _new(bin_: Path) -> Path:
    """Return the data directory of a server that has nothing yet: to copy it takes less than to make it."""
    folder = Path(mkdtemp(prefix="referee-pg-", dir=_memory()))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    words = ("-D", "data", "-U", USER, "--auth=trust", "-E", "UTF8", "--locale=C", "--no-sync")
    Postgres(bin_, folder).run("initdb", *words)
    return folder / "data"


def _memory() -> str | None:
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


@contextmanager
def made(count_: int = 1, *, on_disk: bool = False) -> Iterator[list[Postgres]]:
    """So many servers, of which the first one runs; none if there is no PostgreSQL on this machine.

    ``on_disk``: they wait for a disk, as those of operators do; otherwise they are in memory, if that can be.
    """
    if (bin_ := programs()) is None:
        yield []
        return
    # Not in the tests' own folder: the path of a socket has a limit, and others may not look into that of root.
    root = None if on_disk else _memory()
    servers = [Postgres(bin_, Path(mkdtemp(prefix="referee-pg-", dir=root))) for _ in range(count_)]
    try:
        servers[0].make()
        servers[0].start()
        yield servers
    finally:
        for server in servers:
            server.stop()
            shutil.rmtree(server.folder, ignore_errors=True)


@contextmanager
def running() -> Iterator[Postgres | None]:
    """None: there is none on this machine."""
    with made() as servers:
        yield servers[0] if servers else None


def on_postgres(url: str, folder: Path, **more: Any) -> PostgresStore:
    """Return a store in this database, whose files are in the folder."""
    words = {"marks": folder / "marks.db", "seal_key": folder / "seal.key", "verifier": "club.example+1", **more}
    return PostgresStore(url, **words)
