"""A connection to PostgreSQL, the arrays that statements are given, and the translation of errors.

A commit whose wait for a standby is cancelled is reported as done, with a warning, though the standby may not have it:
the caller of a commit calls ``heed`` afterwards, and takes nothing for done before it returns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from struct import pack
from typing import Any, ClassVar, Self

import psycopg
from psycopg import Connection
from psycopg.adapt import Dumper
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.errors import DataCorrupted, Diagnostic, IndexCorrupted, InvalidParameterValue
from psycopg.pq import Format, TransactionStatus

from referee.server.store.session import Found
from referee.server.store.store import StoreDamaged, StoreFailed


class _Array(bytes):
    """An array without NULL, in binary and put together at once: the driver inspects every value of a list.

    The form on the wire: dimensions, whether there is a NULL, type of a value, how many, the first index, values, each
    after its length.
    """

    TYPE: ClassVar[int]
    """The catalogue's number of the array type."""
    OF: ClassVar[int]
    """The catalogue's number of the value type."""

    @classmethod
    def _of(cls, count: int, values: bytes) -> Self:
        if not count:
            return cls(pack("!iii", 0, 0, cls.OF))
        return cls(pack("!iiiii", 1, 0, cls.OF, count, 1) + values)


class Bigints(_Array):
    """``bigint[]``."""

    TYPE, OF = 1016, 20

    @classmethod
    def of(cls, values: Sequence[int]) -> Self:
        return cls._of(len(values), b"".join([pack("!iq", 8, value) for value in values]))


class Integers(_Array):
    """``integer[]``."""

    TYPE, OF = 1007, 23

    @classmethod
    def of(cls, values: Sequence[int]) -> Self:
        return cls._of(len(values), b"".join([pack("!ii", 4, value) for value in values]))


class Byteas(_Array):
    """``bytea[]``."""

    TYPE, OF = 1001, 17

    @classmethod
    def of(cls, values: Sequence[bytes]) -> Self:
        return cls._of(len(values), b"".join([part for value in values for part in (pack("!i", len(value)), value)]))


class _AsItIs(Dumper):
    format = Format.BINARY

    def dump(self, obj: bytes) -> bytes:
        return obj


def register_arrays(connection: Connection[Any]) -> None:
    """Register the arrays with the connection."""
    for array in (Bigints, Integers, Byteas):
        connection.adapters.register_dumper(array, type(f"{array.__name__}Dumper", (_AsItIs,), {"oid": array.TYPE}))


_LEAST_VERSION = 14
_DEFAULTS = {
    "application_name": "referee",
    "target_session_attrs": "read-write",
    # A server that is gone without a word is noticed within this many seconds, as is one that does not answer.
    "connect_timeout": "5",
    "keepalives_idle": "5",
    "keepalives_interval": "2",
    "keepalives_count": "3",
    "tcp_user_timeout": "10000",
}
"""Unless the address says otherwise."""
_DURABLE = {"fsync": ("on",), "full_page_writes": ("on",), "synchronous_commit": ("on", "remote_apply")}
"""The server's settings with which a commit survives a power cut, and the loss of the primary."""
_HARMLESS = ("DEBUG", "LOG", "INFO", "NOTICE")


class PostgresSession:
    """``Session`` on a connection of its own. Outside of a transaction every statement is one. One thread at a time."""

    def __init__(self, url: str, busy_s: float) -> None:
        """Connect. ``busy_s``: how long to wait for a lock, in seconds. Raise ``psycopg.Error``, ``StoreFailed``."""
        self._url = url
        self._warnings: list[str] = []
        defaults = {name: value for name, value in _DEFAULTS.items() if name not in conninfo_to_dict(url)}
        self._connection = psycopg.connect(make_conninfo(url, **defaults), autocommit=True)
        try:
            self._check_server()
            # A session that hangs within a transaction must not keep the next one from taking over.
            self._set("lock_timeout", f"{max(1, round(busy_s * 1000))}ms")
            self.end_when_idle(10)
            # Nor may a statement that waits for a lock stay in the queue when its client is gone.
            with suppress(InvalidParameterValue):  # not every system lets the server know
                self._set("client_connection_check_interval", "1s")
            # Only a warning shows that a commit's wait for the standby was cancelled.
            self._set("client_min_messages", "warning")
        except BaseException:
            self._connection.close()
            raise
        self._connection.add_notice_handler(self._noticed)
        register_arrays(self._connection)

    def _check_server(self) -> None:
        major = self._connection.info.server_version // 10_000
        if major < _LEAST_VERSION:
            raise StoreFailed(f"{self._url}: PostgreSQL {major}; expected {_LEAST_VERSION} or newer")
        for name, expected in _DURABLE.items():
            (value,) = self.execute("SELECT current_setting(?)", (name,)).fetchone()
            if value not in expected:
                what = f"{name} is {value}, and what is acknowledged could be lost"
                raise StoreFailed(f"{self._url}: {what}; expected {' or '.join(expected)}")
            if name == "synchronous_commit":  # the others are the server's: a session cannot change them
                self._set(name, value)  # as it is now, whatever is reloaded later

    def _set(self, name: str, value: str) -> None:
        """Set a value for this session, which overrides the server, the role and the address."""
        self.execute("SELECT set_config(?, ?, false)", (name, value))

    def execute(self, sql: str, values: Sequence[Any] = (), /) -> Found:
        return self._connection.execute(_translated(sql), values, binary=True)

    def executemany(self, sql: str, values: Iterable[Sequence[Any]], /) -> None:
        with self._connection.cursor() as cursor:
            cursor.executemany(_translated(sql), values)

    def copy(self, sql: str, rows: Iterable[Sequence[Any]]) -> int:
        """Copy the rows into a table, and return how many there were."""
        with self._connection.cursor() as cursor:
            with cursor.copy(sql.encode()) as copying:
                for row in rows:
                    copying.write_row(row)
            return cursor.rowcount

    def end_when_idle(self, seconds: float) -> None:
        """Have the server end this session when nothing is asked for this long within a transaction."""
        self._set("idle_in_transaction_session_timeout", f"{max(1, round(seconds * 1000))}ms")

    @property
    def in_transaction(self) -> bool:
        return self._connection.info.transaction_status is not TransactionStatus.IDLE

    @property
    def is_broken(self) -> bool:
        """Return whether nothing more can be asked on it."""
        return self._connection.closed

    def heed(self) -> None:
        """Raise ``StoreFailed`` if the server warned since the last call: a commit that it reported may not be done."""
        if self._warnings:
            warnings, self._warnings = self._warnings, []
            raise StoreFailed(f"{self._url}: {'; '.join(warnings)}")

    def close(self) -> None:
        self._connection.close()

    def _noticed(self, notice: Diagnostic) -> None:
        if notice.severity_nonlocalized not in _HARMLESS:
            self._warnings.append(f"{notice.severity_nonlocalized}: {notice.message_primary}")


def connect_s(url: str) -> int:
    """Return how long connecting may take, in seconds: every host of the address before the last can be gone."""
    words = conninfo_to_dict(url)
    hosts = str(words.get("host") or words.get("hostaddr") or "").split(",")
    return int(words.get("connect_timeout") or _DEFAULTS["connect_timeout"]) * len(hosts)


@lru_cache(maxsize=256)
def _translated(sql: str) -> bytes:
    """Return the statement as the driver takes it; a statement of this package has its values nowhere but there."""
    return sql.replace("%", "%%").replace("?", "%s").encode()


def _in_one_line(text: str) -> str:
    return " ".join(text.split())


@contextmanager
def postgres_errors(url: str) -> Iterator[None]:
    """Raise what goes wrong inside as ``StoreFailed``, or ``StoreDamaged`` if something cannot be read."""
    try:
        yield
    except psycopg.Error as error:
        kind = StoreFailed
        if isinstance(error, DataCorrupted | IndexCorrupted):
            kind = StoreDamaged
        raise kind(f"{url}: {_in_one_line(error.diag.message_primary or str(error))}") from error
    except OSError as error:
        raise StoreFailed(f"{error.filename or url}: {error.strerror}") from error
