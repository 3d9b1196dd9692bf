"""The promises of every store, tested on databases and on one that was written from the protocols alone."""

from __future__ import annotations

import asyncio
import inspect
import re
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from referee.server.store.marks import Mark
from referee.server.store.sqlite import SqliteStore
from referee.server.store.store import (
    Certificate,
    Change,
    Contradiction,
    Grant,
    Listing,
    LogState,
    NewCertificates,
    Player,
    Row,
    SeatName,
    Store,
    StoreFailed,
)
from tests.server.store.changes import committed, identity, opening, row
from tests.server.store.postgres import Postgres, on_postgres

A, B = bytes(32), b"\x01" * 32


# --- the protocols -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("module", ["marks", "nodes", "session", "store", "writer"])
def test_the_protocols_take_no_database_with_them(module: str) -> None:
    program = f"import sys, referee.server.store.{module}; sys.exit(bool({{'psycopg', 'sqlite3'}} & {{*sys.modules}}))"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_live_games_take_no_database_with_them() -> None:
    """All that plays, judges and recovers games: only the data directory knows where they are kept."""
    program = "import sys, referee.server.live.live_games, referee.server.live.prover, referee.server.live.recovery; "
    subprocess.run(
        [sys.executable, "-c", f"{program}sys.exit(bool({{'psycopg', 'sqlite3'}} & {{*sys.modules}}))"], check=True
    )


# --- games and entries ---------------------------------------------------------------------------------------


async def test_what_goes_in_comes_out(store: Store) -> None:
    await committed(store, Change(identity(1), [row(0, note=b"n0")], opening(1)))
    await committed(store, Change(identity(1), [row(1), row(2, note=b"n2")], answer=b"answer"))
    assert await store.entries(identity(1), 0, 100) == [row(0, note=b"n0"), row(1), row(2, note=b"n2")]
    assert await store.entries(identity(1), 1, 1) == [row(1)]
    assert await store.entries(identity(1), 3, 1) == []
    assert await store.header(identity(1)) == b"header"
    assert await store.secret(identity(1)) == b"r" * 32
    assert await store.answer(identity(1), 1) == b"answer"
    assert await store.answer(identity(1), 2) is None
    (grant,) = opening(1).grants
    assert await store.grant(grant.digest) == grant
    game = await store.game(identity(1))
    assert game is not None
    assert (game.game_id, game.closed) == (identity(1), None)


async def test_what_is_not_there(store: Store) -> None:
    assert await store.game(identity(1)) is None
    assert await store.entries(identity(1), 0, 10) == []
    assert await store.secret(identity(1)) is None
    assert await store.header(identity(1)) == b""
    assert await store.grant(bytes(32)) is None
    assert await store.games(None, 10) == []
    with pytest.raises(StoreFailed, match="no game"):
        await committed(store, Change(identity(1), [row(0)]))


async def test_games_by_what_they_were_opened_with(store: Store) -> None:
    """Games of an event, of a player, with ids, since a time: newest first, page by page, without those given up."""
    events = [None, 5, 5, (1 << 64) - 1, 5]
    for number, event_id in enumerate(events):
        # The clock goes back before the last one.
        listing = Listing(event_id, number, None, opened_ms=10 * number if number < 4 else 5)
        game = replace(opening(number), listing=listing, principals=["ani", "" if number % 2 else "bo"])
        await committed(store, Change(identity(number), [row(0)], game))
    await committed(store, Change(identity(2), [row(1)], closed=b"over"))
    ids = [identity(number) for number in range(5)]
    every = [game.game_id for game in await store.games(None, 9)]
    assert every == ids[::-1]
    assert [game.listing for game in await store.games(None, 2)] == [
        Listing(5, 4, None, 30),
        Listing(events[3], 3, None, 30),
    ]
    newest, *_ = await store.games_of_event(5, None, 1)
    assert (newest.game_id, newest.listing.round) == (ids[4], 4)
    assert [game.game_id for game in await store.games_of_event(5, newest.number, 9)] == [ids[2], ids[1]]
    assert [game.closed for game in await store.games_of_event(5, newest.number, 1)] == [b"over"]
    assert [game.game_id for game in await store.games_of_event((1 << 64) - 1, None, 9)] == [ids[3]]
    assert [game.game_id for game in await store.games_of_player("bo", None, 2)] == [ids[4], ids[2]]
    assert [game.game_id for game in await store.games_of_player("ani", newest.number, 2)] == [ids[3], ids[2]]
    assert await store.games_of_player("", None, 9) == []
    low, high = sorted(ids[:2])
    between = [game.game_id for game in await store.games_between(low, high, None, 9)]
    assert between == [each for each in every if low <= each <= high]
    numbers = {game.game_id: game.number for game in await store.games(None, 9)}
    since = {ms: await store.first_since(ms) for ms in (0, 1, 10, 11, 30, 31)}
    assert since == {0: 1, 1: numbers[ids[1]], 10: numbers[ids[1]], 11: numbers[ids[2]], 30: numbers[ids[3]], 31: None}
    store.give_up(ids[4])
    assert [game.game_id for game in await store.games_of_event(5, None, 9)] == [ids[2], ids[1]]
    assert ids[4] not in [game.game_id for game in await store.games_of_player("ani", None, 9)]
    assert await store.games_between(ids[4], ids[4], None, 9) == []


async def test_games_newest_first(store: Store) -> None:
    for game in range(5):
        await committed(store, Change(identity(game), [row(0)], opening(game)))
    await committed(store, Change(identity(1), [row(1)], closed=b"over"))
    everything = await store.games(None, 10)
    assert [game.game_id for game in everything] == [identity(game) for game in (4, 3, 2, 1, 0)]
    assert await store.games(everything[1].number, 2) == everything[2:4]
    assert await store.games(None, 10, closed=True) == [everything[3]]
    assert await store.games(None, 10, closed=False) == everything[:3] + everything[4:]
    assert everything[3].closed == b"over"


async def test_an_entry_is_never_replaced(store: Store) -> None:
    await committed(store, Change(identity(1), [row(0)], opening(1)))
    with pytest.raises(StoreFailed):
        await committed(store, Change(identity(1), [Row(0, b"another")]))
    assert await store.entries(identity(1), 0, 10) == [row(0)]


async def test_very_many_rows_in_one_change(store: Store) -> None:
    rows = [row(seq) for seq in range(10_000)]
    await committed(store, Change(identity(1), rows, opening(1)))
    assert await store.entries(identity(1), 0, 20_000) == rows


async def test_the_secret_goes_when_the_game_is_closed(store: Store) -> None:
    for game in (1, 2):
        await committed(store, Change(identity(game), [row(0)], opening(game)))
    kept = await store.secret(identity(2))
    assert kept
    await committed(store, Change(identity(1), [row(1)], closed=b"over"))
    assert await store.secret(identity(1)) is None
    assert await store.secret(identity(2)) == kept


async def test_one_organiser(store: Store) -> None:
    store.set_organiser(b"1" * 32)
    store.set_organiser(b"1" * 32)
    assert await store.grant(b"1" * 32) == Grant(b"1" * 32, "organiser", frozenset({"admin", "audit", "organise"}))
    store.set_organiser(b"2" * 32)
    assert await store.grant(b"1" * 32) is None, "the old token is void"
    assert await store.grant(b"2" * 32) == Grant(b"2" * 32, "organiser", frozenset({"admin", "audit", "organise"}))


async def test_certificates_stand_beside_the_entries(store: Store) -> None:
    for game in (1, 2, 3):
        await committed(store, Change(identity(game), [row(0)], replace(opening(game), wants_certificates=game != 3)))
    assert await store.awaiting_certificates() == [(identity(1), 0), (identity(2), 0)]
    made = [Certificate(4, 0, b"4a"), Certificate(4, 1, b"4b"), Certificate(7, 0, b"7")]
    await committed(store, Change(identity(1), (), certificates=NewCertificates(made[2:], 8)))
    new = NewCertificates([*made[:2], Certificate(7, 0, b"another")], 9)
    await committed(store, Change(identity(1), (), certificates=new))
    assert await store.certificates(identity(1), 0, 10) == made, "in order, and what is there stays"
    assert await store.certificates(identity(1), 5, 7) == []
    assert await store.certificates(identity(2), 0, 10) == []
    assert await store.awaiting_certificates() == [(identity(1), 9), (identity(2), 0)]
    await committed(store, Change(identity(1), (), certificates=NewCertificates((), None)))
    assert await store.awaiting_certificates() == [(identity(2), 0)]
    store.give_up(identity(2))
    assert await store.awaiting_certificates() == [], "for whoever asks there is no such game"
    assert await store.entries(identity(1), 0, 10) == [row(0)]


async def test_a_game_is_opened_once(store: Store) -> None:
    await committed(store, Change(identity(1), [row(0)], opening(1)))
    with pytest.raises(StoreFailed):
        await committed(store, Change(identity(1), [row(1)], opening(1)))
    assert await store.entries(identity(1), 0, 10) == [row(0)]


async def test_done_is_called_once_and_when_it_is_so(store: Store) -> None:
    calls: list[object] = []
    store.commit(Change(identity(1), [row(0)], opening(1), root=A), calls.append)
    assert calls == [], "not before the caller goes on"
    await store.close()
    assert calls == [None], "closing waits for it"
    with pytest.raises(StoreFailed, match="closed"):
        store.commit(Change(identity(1), [row(1)]), calls.append)
    await asyncio.sleep(0.01)
    assert calls == [None]


async def test_gathering_ends(store: Store) -> None:
    done: asyncio.Future[object] = asyncio.get_running_loop().create_future()
    store.commit(Change(identity(1), [row(0)], opening(1), root=A), done.set_result)
    while store.is_gathering:
        assert not done.done(), "what is durable gathers nothing"
        await asyncio.sleep(0)
    assert await done is None
    assert not store.is_gathering


async def test_an_observer_is_called_for_every_batch(store: Store) -> None:
    seen: list[tuple[int, int, bool]] = []
    store.observe(lambda seconds, changes, rows, failure: seen.append((changes, rows, failure is None and seconds > 0)))
    assert store.waiting == 0
    await committed(store, Change(identity(1), [row(0), row(1)], opening(1)))
    with suppress(StoreFailed):
        await committed(store, Change(identity(2), [row(0)]))
    await store.close()
    assert seen == [(1, 2, True), (1, 1, False)]


async def test_the_last_note_of_each_game(store: Store) -> None:
    for game in (1, 2, 3):
        await committed(store, Change(identity(game), [row(0), row(1, note=b"%d" % game)], opening(game)))
    await committed(store, Change(identity(1), [row(2, note=b"new")]))
    page = await store.games(None, 3)
    assert await store.last_notes(page) == {identity(1): b"new", identity(2): b"2", identity(3): b"3"}
    assert (await store.last_notes(page[:1]))[identity(3)] == b"3"
    assert await store.last_notes([]) == {}


async def test_a_game_that_is_given_up_is_in_no_list(store: Store) -> None:
    for game in (1, 2):
        await committed(store, Change(identity(game), [row(0)], replace(opening(game), principals=["alice", ""])))
    store.give_up(identity(1))
    assert await store.game(identity(1)) is None
    assert [game.game_id for game in await store.games(None, 9)] == [identity(2)]
    assert [game.game_id for game in await store.games(None, 9, closed=False)] == [identity(2)]
    assert await store.players() == [Player(identity(2), 0, "alice")]
    assert await store.entries(identity(1), 0, 9) == [row(0)], "it is kept"


async def test_what_is_mended_takes_the_place_of_what_was_there(store: Store) -> None:
    """Only this game is replaced, in the order of its entries, whatever was missing."""
    for number in (1, 2):
        await committed(store, Change(identity(number), [row(0, note=b"n0"), row(1), row(2)], opening(number)))
    good = [row(0, note=b"n0"), replace(row(1), data=b"good", note=b"n1"), row(2), row(3, note=b"n3")]
    store.mend(identity(1), b"header", good, None)
    assert await store.entries(identity(1), 0, 100) == good
    assert await store.entries(identity(2), 0, 100) == [row(0, note=b"n0"), row(1), row(2)]
    assert [game.closed for game in await store.games(None, 10, closed=False)] == [None, None]
    store.mend(identity(1), b"header", [], b"over")
    assert [(game.game_id, game.closed) for game in await store.games(None, 10, closed=True)] == [
        (identity(1), b"over")
    ]
    store.mend(identity(1), b"mended", [], b"over after all")
    assert [game.closed for game in await store.games(None, 10, closed=True)] == [b"over after all"]
    assert await store.header(identity(1)) == b"mended"
    assert await store.entries(identity(1), 0, 100) == good


async def test_players_of_games_that_are_open(store: Store) -> None:
    for game, principals in ((1, ["alice", "bob"]), (2, ["", "alice"]), (3, [])):
        await committed(store, Change(identity(game), [row(0)], replace(opening(game), principals=principals)))
    await committed(store, Change(identity(1), [row(1)], closed=b"over"))
    assert await store.players() == [Player(identity(2), 1, "alice")]
    assert await store.players(identity(1)) == [Player(identity(1), 0, "alice"), Player(identity(1), 1, "bob")]
    assert await store.players(identity(3)) == []


# --- grants --------------------------------------------------------------------------------------------------


async def test_grants_newest_first(store: Store) -> None:
    given = [
        Grant(b"1" * 32, "alice", frozenset({"play", "watch"}), issued_ms=1),
        Grant(b"2" * 32, "", frozenset({"play"})),
        Grant(b"3" * 32, "alice", frozenset({"play"}), certificate=True, expires_ms=100),
        Grant(b"4" * 32, "bob", frozenset(), expires_ms=101),
    ]
    for grant in given:
        assert await store.add_grant(grant)
    assert not await store.add_grant(replace(given[0], principal="eve"))
    assert await store.grant(b"1" * 32) == given[0]
    newest = await store.grants(None, 9)
    assert [grant for _, grant in newest] == given[::-1]
    assert await store.grants(newest[1][0], 1) == newest[2:3]
    assert [grant for _, grant in await store.grants(None, 9, principal="alice")] == [given[2], given[0]]
    assert [grant for _, grant in await store.grants(None, 9, valid_ms=100)] == [given[3], given[0]]


async def test_grants_are_revoked_once(store: Store) -> None:
    grant = Grant(b"12" * 16, "alice", frozenset({"play"}))
    await store.add_grant(grant)
    assert await store.revoke_grant(b"13", 5) is None
    for now_ms in (5, 6):
        assert await store.revoke_grant(b"12", now_ms) == replace(grant, revoked_ms=5)
    assert await store.grant(grant.digest) == replace(grant, revoked_ms=5)
    assert await store.grants(None, 9, valid_ms=1) == []


async def test_a_grant_is_for_a_game_that_is_there(store: Store) -> None:
    grant = Grant(b"g" * 32, "alice", frozenset({"play"}), identity(1), 0)
    with pytest.raises(StoreFailed):
        await store.add_grant(grant)
    await committed(store, Change(identity(1), [row(0)], opening(1)))
    assert await store.add_grant(grant)
    assert await store.grant(grant.digest) == grant


# --- texts ---------------------------------------------------------------------------------------------------


async def test_texts_are_kept_with_the_first_entry_and_erased(store: Store) -> None:
    await committed(store, Change(identity(1), [row(0)], opening(1)))
    await committed(store, Change(identity(1), [row(1), row(2)], remark=b"the first words"))
    await committed(store, Change(identity(1), [row(3)], remark=b"more words"))
    assert [*(await store.remarks(identity(1), 0, 9)).items()] == [(1, b"the first words"), (3, b"more words")]
    assert await store.remarks(identity(1), 2, 3) == {}
    assert await store.erase_remark(identity(1), 1)
    assert not await store.erase_remark(identity(1), 1)
    assert not await store.erase_remark(identity(2), 3)
    assert await store.remarks(identity(1), 0, 9) == {3: b"more words"}


# --- names of players ----------------------------------------------------------------------------------------

ANNA, BELA = SeatName(0, "Anna", b"s" * 16, 1, 5), SeatName(1, "Béla", b"", 3, 6)


async def test_names_come_with_the_opening_and_later_and_are_erased(store: Store) -> None:
    await committed(store, Change(identity(1), [row(0)], replace(opening(1), names=[ANNA])))
    await committed(store, Change(identity(2), [row(0)], opening(2)))
    games = [identity(2), identity(1), identity(3)]
    assert await store.names(games) == {identity(1): [ANNA]}
    await store.keep_name(identity(1), BELA)
    await store.keep_name(identity(2), BELA._replace(seat=0))
    assert await store.names(games) == {identity(1): [ANNA, BELA], identity(2): [BELA._replace(seat=0)]}
    await store.keep_name(identity(1), BELA._replace(name="Cecil"))
    assert (await store.names([identity(1)]))[identity(1)] == [ANNA, BELA._replace(name="Cecil")]
    assert await store.erase_name(identity(1), 0)
    assert not await store.erase_name(identity(1), 0)
    assert not await store.erase_name(identity(3), 1)
    assert (await store.names([identity(1)]))[identity(1)] == [BELA._replace(name="Cecil")]
    with pytest.raises(StoreFailed):
        await store.keep_name(identity(3), ANNA)
    assert await store.names([]) == {}


# --- marks ---------------------------------------------------------------------------------------------------


async def test_the_head_of_a_change_is_its_mark_when_it_is_done(store: Store) -> None:
    seen: list[object] = []
    store.commit(Change(identity(1), [row(0), row(1)], opening(1), root=A), lambda _: seen.append(store.marks.all()))
    await committed(store, Change(identity(2), [row(0)], opening(2)))
    assert seen == [{identity(1): Mark(2, A)}]
    assert store.marks.all() == {identity(1): Mark(2, A)}, "a change without a root raises none"


async def test_a_head_that_cannot_follow_is_not_signed_and_not_let_out(store: Store) -> None:
    marks = store.marks
    marks.raise_to([(identity(1), 4, B)])
    marks.raise_to([(identity(1), 4, B)])
    for size, root in ((3, A), (4, A), (2, B)):
        with pytest.raises(Contradiction, match="signed before"):
            marks.check(identity(1), size, root)
        with pytest.raises(Contradiction, match="signed before"):
            marks.raise_to([(identity(1), size, root)])
    marks.check(identity(1), 4, B)
    marks.check(identity(1), 5, A)
    marks.check(identity(2), 1, A)
    assert marks.of(identity(1)) == marks.kept(identity(1)) == Mark(4, B)
    assert marks.kept(identity(2)) is None


async def test_a_mark_is_contradicted_with_permission_and_once(store: Store) -> None:
    marks = store.marks
    marks.raise_to([(identity(1), 9, A)])
    assert not marks.is_permitted(identity(1))
    marks.permit(identity(1))
    assert marks.is_permitted(identity(1))
    assert (marks.of(identity(1)), marks.kept(identity(1))) == (None, Mark(9, A))
    marks.check(identity(1), 5, B)
    marks.raise_to([(identity(1), 5, B)])
    assert not marks.is_permitted(identity(1))
    assert marks.kept(identity(1)) == Mark(5, B)
    with pytest.raises(Contradiction):
        marks.check(identity(1), 5, A)


async def test_marks_in_memory_are_those_of_games_that_go_on(store: Store) -> None:
    marks = store.marks
    marks.raise_to([(identity(1), 9, A)])
    marks.let_go(identity(1))
    marks.check(identity(1), 1, B)
    marks.hold(identity(1), Mark(9, A))
    with pytest.raises(Contradiction):
        marks.check(identity(1), 1, B)
    marks.forget(identity(1))
    marks.check(identity(1), 1, B)
    assert marks.all() == {}


# --- errors --------------------------------------------------------------------------------------------------

_ASKED: dict[str, Callable[[Store], Awaitable[object]]] = {
    "game": lambda store: store.game(identity(1)),
    "games": lambda store: store.games(None, 9),
    "games_of_event": lambda store: store.games_of_event(1, None, 9),
    "games_of_player": lambda store: store.games_of_player("ani", None, 9),
    "games_between": lambda store: store.games_between(identity(1), identity(1), None, 9),
    "first_since": lambda store: store.first_since(1),
    "entries": lambda store: store.entries(identity(1), 0, 9),
    "last_notes": lambda store: store.last_notes([]),
    "header": lambda store: store.header(identity(1)),
    "secret": lambda store: store.secret(identity(1)),
    "answer": lambda store: store.answer(identity(1), 0),
    "certificates": lambda store: store.certificates(identity(1), 0, 9),
    "awaiting_certificates": lambda store: store.awaiting_certificates(),
    "remarks": lambda store: store.remarks(identity(1), 0, 9),
    "erase_remark": lambda store: store.erase_remark(identity(1), 0),
    "names": lambda store: store.names([identity(1)]),
    "keep_name": lambda store: store.keep_name(identity(1), ANNA),
    "erase_name": lambda store: store.erase_name(identity(1), 0),
    "grant": lambda store: store.grant(A),
    "grants": lambda store: store.grants(None, 9),
    "add_grant": lambda store: store.add_grant(Grant(A, "alice", frozenset())),
    "revoke_grant": lambda store: store.revoke_grant(A[:8], 1),
    "players": lambda store: store.players(),
    "number_heads": lambda store: store.number_heads(9),
    "leaves": lambda store: store.leaves(0, 9),
    "heads_of": lambda store: store.heads_of(identity(1)),
    "log_state": lambda store: store.log_state(),
    "keep_log_state": lambda store: store.keep_log_state(LogState(1, A)),
    "probe": lambda store: store.probe(),
}


def test_every_method_that_asks_the_database_is_listed() -> None:
    asks = {name for name, _ in inspect.getmembers(Store, inspect.iscoroutinefunction)}
    of_several_referees = {"doubt_of", "find_cause"}
    assert asks == {*_ASKED, "close", *of_several_referees}


@pytest.mark.parametrize("name", _ASKED)
async def test_what_goes_wrong_is_told_as_the_stores(name: str, tmp_path: Path) -> None:
    """It is not SQLite's: callers know of no database."""
    path = tmp_path / "referee.db"
    store = SqliteStore(path)
    for side in (store._read_side, store._write_side):
        side.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        side.close()
    path.write_bytes(b"not a database, but long enough to look like one" * 1000)
    with pytest.raises(StoreFailed, match=r"referee\.db: "):
        await _ASKED[name](store)
    for change in (store.set_organiser, store.give_up):
        with pytest.raises(StoreFailed, match=r"referee\.db: "):
            change(A)
    await store.close()


async def test_what_goes_wrong_in_postgresql_is_told_as_the_stores(postgres: Postgres, tmp_path: Path) -> None:
    url = postgres.new()
    store = on_postgres(url, tmp_path)
    postgres.ask("postgres", f"DROP DATABASE {postgres.name_in(url)} WITH (FORCE)")
    for asked in _ASKED.values():
        with pytest.raises(StoreFailed, match=re.escape(url)):
            await asked(store)
    for change in (store.set_organiser, store.give_up):
        with pytest.raises(StoreFailed, match=re.escape(url)):
            change(A)
    with pytest.raises(StoreFailed, match=re.escape(url)):
        await committed(store, Change(identity(1), [row(0)], opening(1)))
    await store.close()
