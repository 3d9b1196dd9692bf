"""Opening a PostgreSQL database: its tables, what its server has to be like, and proof that it did not go back.

A database can go back: to a backup, to an earlier moment, to a standby that was behind. Each of several nodes keeps its
own last sign of life in a file, the cluster mark. A sign of life is a commit like any other, so a database that has it
also has all that any node let out before. It is known by a number that is drawn at random at each start, not by one
that a database that went back would give again. Each refusal is one line.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from time import sleep, time
from typing import Any, Final, NamedTuple

import psycopg
from psycopg.conninfo import make_conninfo

from referee.server.store import statements
from referee.server.store.marks import Mark
from referee.server.store.postgres_nodes import ALIVE_LOCK, beats_of
from referee.server.store.postgres_session import Byteas, Integers, PostgresSession
from referee.server.store.session import Session, State
from referee.server.store.sql import fact, keep_fact
from referee.server.store.sqlite_files import make_whole
from referee.server.store.sqlite_marks import SqliteMarks
from referee.server.store.store import Cause, Standbys, StoreFailed

CLUSTER_MARK_FILE = "cluster.mark"
_FORM = "tile-referee/v1/cluster-mark {database} {referee} {beats:020d} {doubted}\n"
_FACT = "doubted"
NEVER = bytes(16)
"""Stands for a time before any game was put in doubt."""


class ClusterMark(NamedTuple):
    """The last sign of life that was durable."""

    database: bytes
    """The id of the database: drawn when its tables were made."""
    referee: bytes
    """The id of the start, 16 random bytes."""
    beats: int
    """The number of this start's signs of life."""
    doubted: bytes = NEVER
    """The newest ``Doubting`` of that time; empty: a mark of an earlier program, which did not note it."""

    @classmethod
    def load(cls, path: Path) -> ClusterMark | None:
        """Return what ``save`` wrote last; None: nothing. Raise ``StoreFailed``, ``OSError``."""
        try:
            words = path.read_text(encoding="ascii", errors="replace").split()
        except FileNotFoundError:
            return None
        try:
            _, database, referee, beats, *doubted = words
            mark = cls(bytes.fromhex(database), bytes.fromhex(referee), int(beats), *map(bytes.fromhex, doubted))
            mark = mark if doubted else mark._replace(doubted=b"")
        except (TypeError, ValueError):
            mark = None
        if mark is None or mark._text().split() != words:
            raise StoreFailed(f"{path}: damaged; see referee recover --accept-rollback") from None
        return mark

    def save(self, path: Path) -> None:
        """Keep it, durably. Raise ``OSError``."""
        data = self._text().encode()
        if not path.exists():
            make_whole(path, lambda file: _write(file, data, os.O_CREAT | os.O_EXCL))
        # Within one sector, which is written whole.
        _write(path, data)

    def _text(self) -> str:
        return _FORM.format(
            database=self.database.hex(), referee=self.referee.hex(), beats=self.beats, doubted=self.doubted.hex()
        )


class Doubting(NamedTuple):
    """The time when all open games were put in doubt last, and the numbers drawn for that and for each time before.

    A number that a mark knows, and that is not the newest one here, shows that games were put in doubt since.
    """

    at_ms: int
    """The time by the database's clock, in milliseconds since 1970; 0: never."""
    numbers: Sequence[bytes]
    """The newest first; ``NEVER`` is the last."""

    @classmethod
    def of(cls, session: Session) -> Doubting:
        """Return what the database has."""
        # An earlier program noted the time alone.
        at_ms, *numbers = (fact(session, _FACT) or b"0").decode().split()
        return cls(int(at_ms), [*map(bytes.fromhex, numbers), NEVER])

    def is_newer_than(self, doubted: bytes) -> bool:
        """Return whether games were put in doubt after a time whose newest number this is."""
        return doubted in self.numbers[1:]

    def begin(self, session: Session, known: bytes | None) -> None:
        """Note that they are put in doubt now. ``known``: the number of a mark, which the database may have lost."""
        lost = [known] if known and known not in self.numbers else []
        numbers = [secrets.token_bytes(16), *lost, *self.numbers[:-1]]
        (now_ms,) = session.execute("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint").fetchone()
        keep_fact(session, _FACT, " ".join([str(now_ms), *(number.hex() for number in numbers)]).encode())


def newest_doubting(session: Session) -> bytes:
    """Return the number of the newest time that games were put in doubt."""
    return Doubting.of(session).numbers[0]


# --- games in doubt: with several referees a doubt holds for all of them ---------------------------------------------

_DOUBT = "doubt "


class SharedMarks(SqliteMarks):
    """The marks of one node. The database knows its doubts."""

    def __init__(self, change: Callable[..., Any], path: Path, busy_s: float) -> None:
        """``change`` is called with a function of a connection, and its arguments: it is durable when this returns."""
        super().__init__(path, busy_s=busy_s)
        self._change = change

    def _keep_doubts(self, games: Mapping[bytes, int]) -> None:
        self._change(keep_doubts, games)

    def _end_doubt(self, game_id: bytes) -> None:
        self._change(_end_doubt, game_id)


def doubts_of(session: Session) -> dict[bytes, int]:
    """Return the games in doubt, as ``Marks.doubts``."""
    found = session.execute("SELECT name, value FROM facts WHERE name LIKE ?", (f"{_DOUBT}%",))
    return {bytes.fromhex(name.removeprefix(_DOUBT)): int(value) for name, value in found.fetchall()}


def doubt_of(session: Session, game_id: bytes) -> int | None:
    """Return since when a game is in doubt, in milliseconds since 1970; None: it is not."""
    kept = fact(session, _name(game_id))
    return None if kept is None else int(kept)


def keep_doubts(session: Session, games: Mapping[bytes, int]) -> None:
    """Put these games in doubt; for each, when its copy was made."""
    for game_id, copied_ms in games.items():
        keep_fact(session, _name(game_id), str(copied_ms).encode())


def doubt_lost(session: Session, lost: Iterable[bytes]) -> None:
    """Put games in doubt that lack entries, since their last one."""
    last_ms = dict(statements.last_times(session))
    keep_doubts(session, {game_id: last_ms.get(game_id, round(time() * 1000)) for game_id in lost})


def doubt_all(session: Session, mark: ClusterMark | None) -> tuple[int, Mapping[bytes, int]]:
    """Put every game in doubt that is not over, unless that was done since ``mark``.

    Return when it was done before, in milliseconds since 1970, 0 if it was done now; and the games, if it was.
    """
    doubting = Doubting.of(session)
    if mark is not None and doubting.is_newer_than(mark.doubted):
        return doubting.at_ms, {}
    # A game that is in doubt since an older copy stays so.
    last_ms = dict(statements.last_times(session)) | doubts_of(session)
    keep_doubts(session, last_ms)
    doubting.begin(session, None if mark is None else mark.doubted)
    # The organiser waived a standby for what the database was then.
    end_waiver(session)
    return 0, last_ms


def _name(game_id: bytes) -> str:
    return _DOUBT + game_id.hex()


def _end_doubt(session: Session, game_id: bytes) -> None:
    session.execute("DELETE FROM facts WHERE name = ?", (_name(game_id),))


def _write(path: Path, data: bytes, more: int = 0) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | more, 0o600)
    try:
        os.pwrite(descriptor, data, 0)
        os.fdatasync(descriptor)
    finally:
        os.close(descriptor)


# --- the tables: what ``sqlite`` says of those in SQLite is true of those of the same names here ------------------

VERSION = 4
_EARLIER = {1, 2, 3}
"""Versions that are brought up to date."""
_OF_NODES = (
    "owner integer DEFAULT nullif(current_setting('referee.node', true), '')::integer",
    *("alive_ms bigint", "last_ms bigint", "due_ms bigint", "listed bytea"),
)
"""The columns that several nodes need for a game, which ``postgres_nodes`` explains."""
_NODE = (
    "beats bigint NOT NULL DEFAULT 0",
    "address text NOT NULL DEFAULT ''",
    "given integer NOT NULL DEFAULT 0",
    "draining boolean NOT NULL DEFAULT false",
)
TABLES = {
    "headers": "hash bytea PRIMARY KEY, data bytea NOT NULL",
    "games": f"""number bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, id bytea NOT NULL UNIQUE,
        header bytea NOT NULL, state integer NOT NULL DEFAULT 0, event bigint, round bigint, place bigint,
        opened_ms bigint NOT NULL DEFAULT 0, {", ".join(_OF_NODES)}""",
    "entries": """game bigint NOT NULL, seq integer NOT NULL, data bytea NOT NULL, note bytea NOT NULL,
        PRIMARY KEY (game, seq)""",
    "answers": "game bigint NOT NULL, seq integer NOT NULL, data bytea NOT NULL, PRIMARY KEY (game, seq)",
    "closed": "game bigint PRIMARY KEY, data bytea NOT NULL",
    "secrets": "game bigint PRIMARY KEY, seed bytea NOT NULL",
    "grants": """number bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, hash bytea NOT NULL UNIQUE,
        principal text NOT NULL, scopes text NOT NULL, game bigint, seat integer,
        certificate integer NOT NULL DEFAULT 0, issued_ms bigint NOT NULL DEFAULT 0,
        expires_ms bigint NOT NULL DEFAULT 0, revoked_ms bigint NOT NULL DEFAULT 0""",
    "players": "game bigint NOT NULL, seat integer NOT NULL, principal text NOT NULL, PRIMARY KEY (game, seat)",
    "proofs": """game bigint NOT NULL, seq integer NOT NULL, part integer NOT NULL, data bytea NOT NULL,
        PRIMARY KEY (game, seq, part)""",
    "unproved": "game bigint PRIMARY KEY, seq integer NOT NULL",
    "heads": """place bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, game bytea NOT NULL, size bigint NOT NULL,
        root bytea NOT NULL, leaf bigint UNIQUE, UNIQUE (game, size, root)""",
    "remarks": "game bigint NOT NULL, seq integer NOT NULL, data bytea NOT NULL, PRIMARY KEY (game, seq)",
    "names": """game bigint NOT NULL, seat integer NOT NULL, name text NOT NULL, salt bytea NOT NULL,
        source integer NOT NULL, named_ms bigint NOT NULL, PRIMARY KEY (game, seat)""",
}
"""The tables beside the database's facts about itself; each as in SQLite, except the columns for nodes."""
_OWN = {
    "facts": "name text PRIMARY KEY, value bytea NOT NULL",
    "nodes": f"""id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL, referee bytea NOT NULL,
        beat timestamptz NOT NULL DEFAULT clock_timestamp(), dead boolean NOT NULL DEFAULT false, {", ".join(_NODE)}""",
}
_BY_OWNER = f"games_by_owner ON games (owner) WHERE state = {State.OPEN}"
_INDEXES = (
    "games_by_state ON games (state, number)",
    "games_by_event ON games (event, number)",
    _BY_OWNER,
    "games_by_time ON games (opened_ms, number)",
    "players_by_principal ON players (principal, game)",
)


def make_tables(
    session: PostgresSession,
    url: str,
    before: Callable[[], None],
    on_upgrade: Callable[[int], None] = lambda _: None,
) -> None:
    """Make the tables unless they are there.

    ``before`` is called if no referee has games in them; if it raises, there are none. ``on_upgrade`` is called with
    the version that is brought up to date; if it raises, that version stays. Raise their errors, ``StoreFailed`` if the
    tables are of a later version, or of an earlier one that is in use; ``psycopg.Error``.
    """
    session.execute("BEGIN")
    session.execute("SELECT pg_advisory_xact_lock(7, 0)")
    (is_there,) = session.execute("SELECT to_regclass('facts') IS NOT NULL").fetchone()
    if not is_there or fact(session, "marks") is None:  # a first start writes them last, and so does a migration
        before()
    if not is_there:
        for name, columns in (*_OWN.items(), *TABLES.items()):
            session.execute(f"CREATE TABLE {name} ({columns})")
        for index in _INDEXES:
            session.execute(f"CREATE INDEX {index}")
        keep_fact(session, "version", b"%d" % VERSION)
        keep_fact(session, "id", secrets.token_bytes(16))
    version = int(fact(session, "version") or 0)
    if version in _EARLIER:
        _check_unused(session, url)
        on_upgrade(version)
        _upgrade(session, version)
        version = VERSION
        keep_fact(session, "version", b"%d" % version)
    session.execute("COMMIT")
    session.heed()
    check_version(session, url)


def check_version(session: PostgresSession, url: str) -> None:
    """Raise ``StoreFailed`` if the tables are of another version."""
    version = int(fact(session, "version") or 0)
    if version in _EARLIER:
        what = f"an earlier program wrote it (store version {version}; this program has {VERSION})"
        raise StoreFailed(f"{url}: {what}; expected that program, or referee serve, which upgrades it")
    if version != VERSION:
        what = f"another program wrote it (store version {version}; this program has {VERSION})"
        raise StoreFailed(f"{url}: {what}, and nothing was changed; expected that program")


def _check_unused(session: PostgresSession, url: str) -> None:
    """Raise ``StoreFailed`` if a referee runs: it could not work with tables that change."""
    running = f"SELECT name FROM nodes WHERE NOT dead AND EXISTS ({ALIVE_LOCK})"  # noqa: S608 - of our own
    if (row := session.execute(running).fetchone()) is not None:
        what = f"a referee of an earlier program ({row[0]}) is running on this database"
        raise StoreFailed(f"{url}: {what}, and nothing was changed; stop all that run on it first")


def _upgrade(session: PostgresSession, version: int) -> None:
    if version == 1:
        session.execute(f"CREATE TABLE heads ({TABLES['heads']})")
        statements.keep_heads_of_all(session, "game, seq")
    for table, columns in (("games", _OF_NODES), ("nodes", _NODE)):
        for column in columns:
            session.execute(f"ALTER TABLE {table} ADD COLUMN IF NOT EXISTS {column}")
    session.execute(f"CREATE INDEX IF NOT EXISTS {_BY_OWNER}")
    session.execute(f"CREATE TABLE names ({TABLES['names']})")


# --- the server ----------------------------------------------------------------------------------------------------

MOST_OFF_MS = 250
_AGAIN_S, _MOST_AGAIN_S = 0.001, 0.016
"""The time until a standby is asked about first, and at most: every time twice as long."""
_AT_STANDBY = """WITH here AS MATERIALIZED (SELECT coalesce(?::text::pg_lsn, pg_current_wal_flush_lsn()) AS lsn)
    SELECT lsn::text, (SELECT max(flush_lsn) >= lsn FROM pg_stat_get_wal_senders()
    WHERE sync_state IN ('sync', 'quorum') AND replay_lsn IS NOT NULL) FROM here"""
"""Asks whether a standby that commits wait for has all up to a place in the log, by default the server's; NULL:
there is none. The function is the one behind ``pg_stat_replication``, at a third of its cost. A follower that
replays nothing is no server but a copier, such as ``pg_basebackup``, for which commits wait as well if its name
fits."""
_WAIVED: Final = "standby waived"
"""Fact that referees run without a standby, and on what server and timeline: a server that is promoted later
requires one again, and so does one that has a copy."""
_HERE: Final = """SELECT concat_ws(' ', (SELECT system_identifier FROM pg_control_system()),
    (SELECT oid FROM pg_database WHERE datname = current_database()),
    substr(pg_walfile_name(pg_current_wal_flush_lsn()), 1, 8))"""
_STREAMS: Final = """EXISTS (SELECT FROM pg_stat_get_wal_senders()
    WHERE state = 'streaming' AND sync_state IN ('sync', 'quorum') AND replay_lsn IS NOT NULL
    AND (flush_lsn >= pg_current_wal_flush_lsn() OR reply_time > clock_timestamp() - interval '5 s'))"""
"""A standby that lost its power is listed for a minute: it says nothing any more, and lacks what was written since."""
MAY_SEE: Final = "SELECT pg_has_role('pg_read_all_stats', 'USAGE')"
"""Asks whether this role sees the progress of standbys."""
_LACKING: Final = """SELECT mark.game FROM unnest(?::bytea[], ?::integer[]) AS mark (game, size) WHERE NOT EXISTS (
    SELECT 1 FROM games JOIN entries ON entries.game = number WHERE id = mark.game AND seq = mark.size - 1)"""
_ASK_S: Final = 2
"""The longest wait for a server's answer to the question what is wrong."""
WAY_OUT: Final = "expected a standby; to play on without one see referee cluster waive-standby"

_STANDBYS = """SELECT current_setting('synchronous_standby_names') <> '', pg_has_role('pg_read_all_stats', 'USAGE'),
    count(*) FILTER (WHERE waited), count(*) FILTER (WHERE NOT waited), (pg_current_wal_flush_lsn()
    - coalesce(max(flush_lsn) FILTER (WHERE waited), max(flush_lsn)))::bigint
    FROM (SELECT flush_lsn, sync_state IN ('sync', 'quorum') AS waited FROM pg_stat_get_wal_senders()
    WHERE state = 'streaming' AND replay_lsn IS NOT NULL) AS following"""


def check_clock(session: Session, url: str) -> None:
    """Raise ``StoreFailed`` if this machine's clock is off the database's: clocks of games can move to another node."""
    before_ms = time() * 1000
    (there_ms,) = session.execute("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8").fetchone()
    off_ms = max(before_ms - there_ms, there_ms - time() * 1000)  # not counting the way there and back
    if off_ms > MOST_OFF_MS:
        what = f"this machine's clock is {off_ms / 1000:.1f} s off the database's"
        raise StoreFailed(f"{url}: {what}; expected at most {MOST_OFF_MS / 1000} s: set both by NTP")


def lost_since(session: Session, mark: ClusterMark) -> str:
    """Return in what way the database is not, or not any more, what the mark remembers; empty: it has all of that."""
    if mark.database != fact(session, "id"):
        return "this is another database than the one that this referee knows"
    beats = beats_of(session, mark.referee)
    if beats is not None and beats >= mark.beats:
        return ""
    lost = "all" if beats is None else f"the last {mark.beats - beats}"
    return f"the database went back: it lacks {lost} of {mark.beats} signs of life of this referee"


def lacking(session: Session, marks: Mapping[bytes, Mark]) -> list[bytes]:
    """Return the games of which the database lacks the last entry that a mark knows."""
    games, sizes = Byteas.of([*marks]), Integers.of([mark.size for mark in marks.values()])
    return [game_id for (game_id,) in session.execute(_LACKING, (games, sizes)).fetchall()]


def check_standby(session: Session, url: str) -> None:
    """Raise ``StoreFailed`` if commits wait for no standby, or this role cannot see what it has."""
    if not standby_names(session) and not is_waived(session):
        what = "synchronous_standby_names is empty, so what is acknowledged can be lost with the primary"
        raise StoreFailed(f"{url}: {what}; {WAY_OUT}")
    if session.execute(MAY_SEE).fetchone() != (True,):
        what = "this role may not see what a standby has"
        raise StoreFailed(f"{url}: {what}; expected GRANT pg_monitor TO it, or no --require-standby")


def await_standby(session: Session, url: str) -> None:
    """Return when a standby has whatever is committed by now. Raise ``StoreFailed`` if commits wait for none.

    Where that is waived it returns at once if commits wait for none.

    A commit's return does not show it. The server may have been told not to wait, a moment ago or ever since. Or it may
    have been told to wait a moment ago, which it does as soon as its checkpointer has read that.
    """
    here: str | None = None
    pause_s = _AGAIN_S
    while True:
        here, is_there = session.execute(_AT_STANDBY, (here,)).fetchone()
        if is_there is None:
            if is_waived(session):
                return
            what = "commits wait for no standby, so what is acknowledged can be lost with the primary"
            raise StoreFailed(f"{url}: {what}; {WAY_OUT}")
        if is_there:
            return
        sleep(pause_s)
        pause_s = min(2 * pause_s, _MOST_AGAIN_S)


def standbys(session: Session) -> Standbys:
    """Return what servers follow this one."""
    named, may_see, waited_for, others, lag = session.execute(_STANDBYS).fetchone()
    waived = is_waived(session)
    if not may_see:
        return Standbys(named, None, None, None, waived)
    return Standbys(named, waited_for, others, lag if lag is None else max(0, lag), waived)


def standby_names(session: Session) -> str:
    """Return the standbys that commits wait for, as the server is set; empty: none."""
    names: str = session.execute("SELECT current_setting('synchronous_standby_names')").fetchone()[0]
    return names


def cause_now(url: str, *, require_standby: bool) -> Cause:
    """Return why nothing can be written, found out on a connection of its own. May take as long as connecting does."""
    patient = make_conninfo(url, connect_timeout=_ASK_S)
    try:
        session = PostgresSession(patient, _ASK_S)
    except (psycopg.Error, StoreFailed):
        return Cause.NO_PRIMARY if _answers(patient) else Cause.DATABASE
    with closing(session), suppress(psycopg.Error):
        waits = standby_names(session) or (require_standby and not is_waived(session))
        if waits and session.execute(MAY_SEE).fetchone() == (True,) and not streams(session):
            return Cause.STANDBY
    return Cause.UNKNOWN


def _answers(url: str) -> bool:
    try:
        psycopg.connect(make_conninfo(url, target_session_attrs="any")).close()
    except psycopg.Error:
        return False
    return True


def streams(session: Session) -> bool:
    """Return whether a standby that commits wait for takes what is written as it is written."""
    found: bool = session.execute(f"SELECT {_STREAMS}").fetchone()[0]
    return found


def waive_standby(session: Session) -> None:
    """Let every referee run without a standby on this server, until one streams or another server is promoted.

    The fact is in this database and nowhere else: a primary that was lost, and comes back, does not have it.
    """
    # Nothing is there that this commit could wait for.
    session.execute("SELECT set_config('synchronous_commit', 'local', false)")
    keep_fact(session, _WAIVED, _here(session))


def is_waived(session: Session) -> bool:
    """Return whether ``waive_standby`` holds here and now."""
    waived = fact(session, _WAIVED)
    return waived is not None and waived == _here(session)


def require_again(session: Session) -> bool:
    """End what ``waive_standby`` began, if a standby streams by now. Return whether it did."""
    ended = f"DELETE FROM facts WHERE name = ? AND {_STREAMS}"  # noqa: S608 - of our own
    return session.execute(ended, (_WAIVED,)).rowcount > 0


def end_waiver(session: Session) -> None:
    """Require a standby again."""
    session.execute("DELETE FROM facts WHERE name = ?", (_WAIVED,))


def _here(session: Session) -> bytes:
    here: str = session.execute(_HERE).fetchone()[0]
    return here.encode()
