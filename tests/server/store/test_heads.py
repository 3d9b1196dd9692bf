"""The heads that a public log is made of: kept with a game's opening and its end, numbered once and for good."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from referee.server.store.sqlite import SqliteStore
from referee.server.store.store import Change, Head, LogState, Row, Store, StoreFailed, TakenOver
from tests.server.store.changes import UNLISTED, committed, identity, note, opening, row
from tests.server.store.postgres import Postgres, on_postgres

A, B, C = (bytes([number]) * 32 for number in (1, 2, 3))


async def _played(store: Store, game: int, *, ended: bool = True) -> list[Head]:
    """Play it; returns the heads that are to be logged: of its first commit, which has two entries, and its last."""
    rows = [row(0), row(1, note=note(game, 2, A))]
    await committed(store, Change(identity(game), rows, opening(game), root=A))
    await committed(store, Change(identity(game), [row(2, note=note(game, 3, B))], root=B))
    heads = [Head(identity(game), 2, A)]
    if ended:
        end = Change(identity(game), [row(3, note=note(game, 4, C))], closed=b"over", root=C)
        await committed(store, end)
        heads.append(Head(identity(game), 4, C))
    return heads


async def test_a_game_leaves_the_heads_of_its_opening_and_of_its_end(store: Store) -> None:
    first, last = await _played(store, 1)
    assert await store.heads_of(identity(1)) == [(first, None), (last, None)]
    assert await store.heads_of(identity(2)) == []
    assert await store.leaves(0, 9) == []


async def test_heads_are_numbered_in_their_order_and_stay_so(store: Store) -> None:
    one, two = await _played(store, 1, ended=False), await _played(store, 2)
    assert await store.number_heads(2) == 2
    assert await store.number_heads(0) == 2
    assert await store.leaves(0, 9) == [one[0], two[0]]
    await committed(store, Change(identity(1), [row(3)], closed=b"over", root=C))
    assert await store.number_heads(9) == 4
    expected = [one[0], two[0], two[1], Head(identity(1), 4, C)]
    assert await store.leaves(0, 9) == expected
    assert await store.leaves(1, 2) == expected[1:3]
    assert await store.heads_of(identity(1)) == [(expected[0], 0), (expected[3], 3)]


async def test_a_head_belongs_to_its_commit(store: Store) -> None:
    """A change that fails as a whole leaves no head."""
    await committed(store, Change(identity(1), [row(0)], opening(1), root=A))
    with pytest.raises(StoreFailed):
        await committed(store, Change(identity(1), [row(0)], closed=b"over", root=B))
    assert await store.number_heads(9) == 1


async def test_how_far_the_log_was_signed_is_kept(store: Store) -> None:
    assert await store.log_state() is None
    for state in (LogState(3, A), LogState(1 << 40, B)):
        assert await store.keep_log_state(state)
        assert await store.log_state() == state


async def test_the_end_of_a_game_that_was_mended_is_logged(store: Store) -> None:
    await _played(store, 1, ended=False)
    store.mend(identity(1), b"header", [row(3, note=note(1, 4, C))], b"over")
    assert [head for head, _ in await store.heads_of(identity(1))] == [Head(identity(1), 2, A), Head(identity(1), 4, C)]
    store.mend(identity(1), b"header", [], b"over")
    assert await store.number_heads(9) == 2, "once"


async def test_leaves_that_were_lost_are_put_back(store: Store) -> None:
    """Leaves of lost games come back as well; leaves numbered since then come after them."""
    one, other = await _played(store, 1), await _played(store, 2, ended=False)
    assert await store.number_heads(2) == 2
    lost = [Head(identity(7), 1, C), other[0]]
    store.put_back_leaves(1, lost, LogState(3, B))
    assert await store.leaves(0, 9) == [one[0], *lost]
    assert await store.log_state() == LogState(3, B)
    assert await store.heads_of(identity(1)) == [(one[0], 0), (one[1], None)]
    assert await store.number_heads(9) == 4
    assert await store.leaves(3, 9) == [one[1]]


async def test_leaves_that_cannot_follow_are_not_put_back(store: Store) -> None:
    one = await _played(store, 1)
    assert await store.number_heads(9) == 2
    for first, heads in ((3, [Head(identity(7), 1, C)]), (1, [one[0]])):
        with pytest.raises(StoreFailed):
            store.put_back_leaves(first, heads, LogState(9, B))
    assert await store.leaves(0, 9) == one
    assert await store.log_state() is None


# --- databases of earlier versions -----------------------------------------------------------------------------


async def test_the_games_of_an_earlier_version_have_their_heads(tmp_path: Path) -> None:
    """In the order in which they were opened and ended; one with a damaged note has one less."""
    path = tmp_path / "referee.db"
    store = SqliteStore(path)
    first, second = await _played(store, 1, ended=False), await _played(store, 2)
    await committed(store, Change(identity(1), [row(3, note=note(1, 4, C))], closed=b"over", root=C))
    await committed(store, Change(identity(3), [Row(0, b"entry", b"damaged")], opening(3)))
    await store.close()
    with closing(sqlite3.connect(path)) as other:
        other.executescript(UNLISTED)
    store = SqliteStore(path)
    assert await store.number_heads(9) == 4
    assert await store.leaves(0, 9) == [*first, *second, Head(identity(1), 4, C)]
    await store.close()


async def test_games_in_postgresql_of_an_earlier_version_have_their_heads(postgres: Postgres, tmp_path: Path) -> None:
    url = postgres.new()
    store = on_postgres(url, tmp_path)
    first, second = await _played(store, 1, ended=False), await _played(store, 2)
    await store.close()
    postgres.ask(url, "DROP TABLE heads")
    postgres.ask(url, "DROP TABLE names")
    postgres.ask(url, "UPDATE facts SET value = '1' WHERE name = 'version'")
    store = on_postgres(url, tmp_path)
    assert await store.number_heads(9) == 3
    assert await store.leaves(0, 9) == [*first, *second]
    await store.close()


# --- the referee that numbers them -----------------------------------------------------------------------------


async def test_a_store_that_was_overtaken_numbers_nothing(tmp_path: Path) -> None:
    path = tmp_path / "referee.db"
    first = SqliteStore(path)
    await _played(first, 1)
    second = SqliteStore(path)
    with pytest.raises(TakenOver):
        await first.number_heads(9)
    with pytest.raises(TakenOver):
        await first.keep_log_state(LogState(1, A))
    assert await second.number_heads(9) == 2
    await first.close()
    await second.close()


async def test_of_two_referees_on_one_database_one_writes_the_log(postgres: Postgres, tmp_path: Path) -> None:
    """The first one writes it as long as it lives."""
    url = postgres.emptied()
    store = on_postgres(url, tmp_path)
    await _played(store, 1)
    assert await store.number_heads(1) == 1
    postgres.ask(url, "INSERT INTO nodes (name, referee) VALUES ('another', '')")
    postgres.ask(url, "UPDATE facts SET value = (SELECT max(id)::text::bytea FROM nodes) WHERE name = 'log writer'")
    assert await store.number_heads(9) is None
    assert not await store.keep_log_state(LogState(1, A))
    assert await store.leaves(0, 9) == [Head(identity(1), 2, A)]
    postgres.ask(url, "UPDATE nodes SET dead = true WHERE name = 'another'")
    assert await store.number_heads(9) == 2
    assert await store.keep_log_state(LogState(2, A))
    await store.close()
