"""An organiser's day at one referee: a round from a table of pairings, the list of its games, files, short ids."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from referee.cli.shared.openings import Office
from referee.cli.shared.pairings import read_pairings
from referee.cli.shared.remote import Addresses, is_reached_from_elsewhere
from referee.log.v1 import log_pb2
from referee.server.service.files import STORE_FILE
from referee.v1 import game_pb2
from referee.v1 import game_service_pb2 as pb
from referee_clients.join import parse_join
from referee_clients.sdk.channel import Security
from referee_clients.sdk.opening import Wishes
from referee_clients.web.cards import Card
from tests.cli.inside import referee
from tests.cli.operators.day import Day
from tests.server.service.process import serve
from tests.waiting import waiting_for

PAIRINGS = """\
table;rules;seat 0;seat 1;seat 2;options;clock;principal 1
1;kingdomino;Ada;Bo;;{"harmony": true};;
2;kingdomino;Cleo;Dan;Eve;;5m;dan.bot

3;alhambra;Fay;;Gus;;;hal.bot
"""


ROUND = ("new", "--data", "data", "--from", "round.csv", "--event", 7, "--round", 2, "--clock", "3m")
OUT = ("--out", "joins")


async def test_a_round_is_shown_before_it_is_opened(day: Day) -> None:
    (day.folder / "round.csv").write_text(PAIRINGS, encoding="utf-8-sig")
    shown = await day.run(*ROUND, *OUT, "--dry-run")
    assert shown.stdout.splitlines() == [
        "table 1: to be opened, kingdomino; Ada, Bo",
        "table 2: to be opened, kingdomino; Cleo, Dan, Eve",
        "table 3: to be opened, alhambra; Fay, hal.bot, Gus",
    ]
    assert await day.games() == []
    assert not (day.folder / "joins").exists()


async def test_a_round_is_opened_from_a_table(day: Day) -> None:
    (day.folder / "round.csv").write_text(PAIRINGS, encoding="utf-8-sig")
    opened = await day.run(*ROUND, *OUT)
    games = await day.games("--event", 7)
    assert [(game["table"], game["rules"], game["principals"]) for game in games] == [
        ("3", "alhambra", "- hal.bot -"),
        ("2", "kingdomino", "- dan.bot -"),
        ("1", "kingdomino", ""),
    ]
    assert opened.stdout.splitlines()[0] == f"table 1: opened, game {games[2]['game']}; Ada, Bo"
    file = day.folder / "joins" / "event-7-round-2-table-2.txt"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    joins = [parse_join(line) for line in file.read_text().splitlines()]
    assert [(join.game_id, join.seat) for join in joins] == [(games[1]["game"], 0), (games[1]["game"], 2)]
    clocks = []
    for game in reversed(games):
        found = await day.client.games.GetGame(pb.GetGameRequest(game_id=game["game"]))
        clocks.append(log_pb2.GameOpen.FromString(found.game.open).terms.clock.increment.base_ms // 60_000)
    assert clocks == [3, 5, 3], "a cell goes before the option"


async def test_a_round_is_opened_once(day: Day) -> None:
    (day.folder / "round.csv").write_text(PAIRINGS, encoding="utf-8-sig")
    await day.run(*ROUND, *OUT)
    games = await day.games("--event", 7)
    again = await day.run(*ROUND, *OUT)
    assert [line.split(",")[0] for line in again.stdout.splitlines()] == [
        f"table {n}: there already" for n in (1, 2, 3)
    ]
    await day.abort(games[0]["game"])
    refused = await day.run(*ROUND, *OUT, code=2)
    assert "table-3.txt: there is such a file, but no game of that table; expected another --out" in refused.stderr
    once_more = json.loads((await day.run(*ROUND, "--json")).stdout)
    assert [table["is"] for table in once_more] == ["there already", "there already", "opened"]
    assert set(once_more[2]["joins"]) == {"0", "2"}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("", "no rows; expected a header row and a row for each table"),
        ("table\n", "no tables; expected a row for each below the header row"),
        ("tabel\n1\n", "row 1: no column 'tabel'; expected some of event, round, table, seats, rules, "),
        ("rules\nalhambra\n", "row 1: no column table; expected one"),
        ("table,table\n1,2\n", "row 1: column table twice"),
        ("table,rules\n1,chess\n", "row 2: --rules chess: no rules 'chess'"),
        ("table\n1\n\n1\n", "row 4, column table: 1 again, as in round.csv: row 2"),
        ("table,round\n1,x\n", "row 2, column round: 'x'; expected a number"),
        ("event,table\n2,1\n", "row 2, column event: 2; expected 1, as --event says, or no --event"),
        ("table,clock\n1,5x\n", "row 2: --clock '5x': '5x' is not a time; expected "),
        (
            "table,illegal\n1,record penalty:3s\n",
            "row 2: --illegal penalty: expected a clock that it is taken off",
        ),
        ("table,seats\n1,9\n", "row 2: --seats: expected 2 to 6, got 9"),
        (
            'table,rules,seats,options\n1,kingdomino,4,"{""wider_offer"": true}"\n',
            "row 2: --options wider_offer: a v",
        ),
        ("table,options\n1,{\n", "row 2: --options: not JSON"),
        ("table,take-backs\n1,maybe\n", "row 2, column take-backs: 'maybe'; expected yes or no"),
        ("table,seat 0,seat 2\n1,Ada,Bo\n", "row 2, column seat 1: empty; expected a player for every seat"),
        ("table,principal 0,principal 1\n1,ani,ANI\n", "row 2: --principal: expected 1 to 64 of a-z"),
        ("table,seats,seat 0,seat 2\n1,2,Ada,Bo\n", "row 2, column seat 1: empty"),
        ("table\n1,2\n", "row 2: '2' is beyond the last column, table"),
        ('table,rules\n1,"x\n', "row 2: not CSV"),
        ("table\n99999999999\n", "row 2: --table 99999999999: expected at most 4294967295"),
    ],
)
def test_what_is_wrong_is_named_by_row_and_column(tmp_path: Path, rows: str, said: str) -> None:
    """Before anybody is called: there is no referee."""
    (tmp_path / "round.csv").write_text(rows)
    words = ("new", "--server", "127.0.0.1:1", "--from", "round.csv", "--event", 1)
    done = referee(*words, *(() if "round" in rows.partition("\n")[0] else ("--round", 1)), cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"referee: round.csv: {said}")


class Early(Office):
    """An organiser who has looked before anyone opened a table."""

    async def _there(self, *_: object) -> dict[Any, str]:
        return {}


async def test_organisers_at_once_open_each_table_once(day: Day) -> None:
    (day.folder / "round.csv").write_text("".join(["table\n", *(f"{table}\n" for table in range(1, 6))]))
    tables = read_pairings(day.folder / "round.csv", Wishes(event=7, round=1))
    office = Early(day.address, day.address, "", day.client.organiser, Security())
    outs = [day.folder / name for name in ("one", "two", "three")]
    cards: list[list[Card]] = [[] for _ in outs]
    found = await asyncio.gather(
        *(office.open_round(tables, out, mine, dry_run=False) for out, mine in zip(outs, cards, strict=True))
    )
    games = await day.games("--event", 7)
    kept = {game["table"]: game["game"] for game in games if game["state"] != "over"}
    assert len(games) == len(outs) * len(tables), "each has opened each"
    assert sorted(kept) == ["1", "2", "3", "4", "5"]
    assert [game["state"] for game in games].count("over") == len(games) - len(tables)
    for told, out, mine in zip(found, outs, cards, strict=True):
        assert [table["game"] for table in told] == [kept[str(table["table"])] for table in told]
        opened = {table["game"] for table in told if table["is"] == "opened"}
        assert {parse_join(card.join).game_id for card in mine} == opened
        assert {parse_join(file.read_text().split()[0]).game_id for file in out.iterdir()} == opened


async def test_games_are_listed_and_fetched(day: Day) -> None:
    for table in range(3):
        play = await day.client.play(rules_id="kingdomino", event_id=7, round=1, table=table)
        if table:
            await day.abort(play.id)
    other = await day.client.play()
    listed = await day.games("--event", 7, "--state", "over")
    ended = [game["game"] for game in listed]
    assert [(game["table"], game["state"], game["result"]) for game in listed] == [
        (table, "over", "no result: the organiser aborted the game") for table in "21"
    ]
    assert all(game["opened"] <= game["ended"] and game["places"] == "" for game in listed)
    day_of = listed[0]["opened"][:10]
    assert len(await day.games("--from", day_of, "--to", day_of)) == 4
    assert await day.games("--to", "1999-12-31") == []
    assert [game["table"] for game in await day.games("--table", 2)] == ["2"]
    text = (await day.run("games")).stdout
    assert max(map(len, text.splitlines())) <= 80
    assert all(word in text for word in ("joining", other.id[:8], "organiser"))
    assert "principals" not in text
    assert json.loads((await day.run("games", "--json", "--event", 7)).stdout)[0]["event"] == 7
    assert (await day.run("games", "--event", 8)).stdout == "no such games\n"
    assert "--from '1999': expected a date" in (await day.run("games", "--from", "1999", code=2)).stderr

    fetched = await day.run("fetch", "--all", "--event", 7, "--out", "files")
    assert fetched.stdout.splitlines()[-1] == "2 fetched, 0 there already"
    assert {path.name for path in (day.folder / "files").iterdir()} == {f"{game}.gamelog" for game in ended}
    assert (await day.run("fetch", "--all", "--out", "files")).stdout == "0 fetched, 2 there already\n"
    changed = day.folder / "files" / f"{ended[0]}.gamelog"
    changed.write_bytes(changed.read_bytes()[:-1])
    differs = await day.run("fetch", "--all", "--out", "files", code=1)
    size = changed.stat().st_size
    assert f"{ended[0]}.gamelog DIFFERS: {size} bytes here, {size + 1} bytes at the referee" in differs.stdout
    assert "1 file left as it is; to replace one, fetch that game alone" in differs.stderr
    assert "expected a game, or --all" in (await day.run("fetch", code=2)).stderr
    assert "expected --all with them" in (await day.run("fetch", ended[0], "--round", 1, code=2)).stderr


async def test_a_game_that_cannot_be_read_is_not_left_out(day: Day) -> None:
    """It may be over, and at a table of the round: no list is short, and no second game is opened."""
    (day.folder / "round.csv").write_text("table\n1\n2\n")
    words = ("new", "--data", "data", "--from", "round.csv", "--event", 7, "--round", 1)
    await day.run(*words)
    sick, well = [game["game"] for game in await day.games()]
    for game in (sick, well):
        await day.abort(game)
    with closing(sqlite3.connect(day.folder / "data" / STORE_FILE)) as store, store:
        store.execute(
            "UPDATE closed SET data = x'ff' WHERE game = (SELECT number FROM games WHERE id = ?)",
            (bytes.fromhex(sick),),
        )
    (listed,) = await day.games("--state", "set aside")
    why = "the referee cannot continue this game; ask its operator why"
    assert (listed["game"], listed["table"], listed["state"], listed["result"]) == (sick, "2", "set aside", why)
    assert [game["state"] for game in await day.games("--state", "over")] == ["set aside", "over"]
    fetched = await day.run("fetch", "--all", "--out", "files", code=1)
    assert fetched.stdout.splitlines()[-2:] == [f"{sick} MISSING: {why}", "1 fetched, 0 there already, 1 missing"]
    assert fetched.stderr == "referee: 1 game cannot be fetched; fetch again when the referee can read\n"
    again = await day.run(*words)
    tables = [line.split(",")[0] for line in again.stdout.splitlines() if line.startswith("table")]
    assert tables == ["table 1: opened", "table 2: there already"]


async def test_an_id_may_be_shortened(day: Day) -> None:
    play = await day.client.play()
    short = play.id[:8]
    assert f"{play.id}.gamelog, " in (await day.run("fetch", short)).stdout
    assert f"game {play.id}, 1 entry" in (await day.run("docket", short)).stdout
    token = await day.run(
        "token", "issue", "ani", "--scope", "play", "--game", play.id[:9], "--seat", 0, "--data", "data"
    )
    assert f"game {play.id}, seat 0" in token.stderr
    assert f"game {play.id} is aborted" in (await day.run("abort", short, "--yes", "--data", "data")).stdout
    unknown = "0" * 8 if short != "0" * 8 else "1" * 8
    assert (await day.run("fetch", unknown, code=1)).stderr == (
        f"referee: game {unknown}: the referee has no game whose id begins so\n"
    )


async def test_an_id_that_is_not_one_games_alone_is_refused(day: Day) -> None:
    """Eight digits are never those of two games, so one in the database gets others."""
    first, second = [(await day.client.play()).id for _ in range(2)]
    for game in (first, second):
        await day.abort(game)
    other = first[:12] + "0" * 20
    with closing(sqlite3.connect(day.folder / "data" / "referee.db")) as store, store:
        number, data = store.execute(
            "SELECT number, data FROM games JOIN closed ON game = number WHERE id = ?", (bytes.fromhex(second),)
        ).fetchone()
        kept = game_pb2.Game.FromString(data)
        kept.id = other
        store.execute("UPDATE closed SET data = ? WHERE game = ?", (kept.SerializeToString(), number))
        store.execute("UPDATE games SET id = ? WHERE number = ?", (bytes.fromhex(other), number))
    refused = await day.run("fetch", first[:8], code=2)
    said = f"2 games begin so; expected more digits of one of {other}, {first}"
    assert refused.stderr == f"referee: game {first[:8]}: {said}\n"
    assert f"{first}.gamelog" in (await day.run("fetch", first[:13] if first[12] != "0" else first)).stdout


async def test_the_directory_remembers_where_its_referee_is(tmp_path: Path) -> None:
    """And what join strings carry; an address that others cannot use is never handed out without a warning."""
    serving = await serve(tmp_path / "club", tmp_path / "log", "--public", "grpcs://club.example:443")
    words = ("new", "--data", "club", "--seats", "2", "--principal", "ani", "--principal", "-")
    done = await asyncio.to_thread(referee, *words, cwd=tmp_path)
    assert "seat 1: grpcs://club.example:443/" in done.stdout
    assert done.stderr.startswith("seat 0: grpcs://club.example:443/")
    assert "warning" not in done.stderr
    given = await asyncio.to_thread(referee, *words, "--server", serving.address, cwd=tmp_path)
    assert f"seat 1: {serving.address}/" in given.stdout
    warning = f"warning: these join strings work on this machine only, as they carry the address {serving.address}."
    assert given.stderr.splitlines()[1].startswith(warning)
    for command in (("games",), ("status",), ("token", "list"), ("fetch", "--all")):
        assert (await asyncio.to_thread(referee, *command, "--data", "club", cwd=tmp_path)).returncode == 0
    nowhere = await asyncio.to_thread(
        referee, "games", "--data", "club", cwd=tmp_path, env={"REFEREE_SERVER": "127.0.0.1:1"}
    )
    assert nowhere.returncode == 1
    assert "127.0.0.1:1: nothing listens there" in nowhere.stderr
    serving.process.terminate()
    assert await serving.process.wait() == 0


@pytest.mark.parametrize(
    ("listening", "public", "here", "carried", "works"),
    [
        ("127.0.0.1:50051", "", "127.0.0.1:50051", "127.0.0.1:50051", False),
        ("0.0.0.0:7", "", "127.0.0.1:7", "0.0.0.0:7", False),
        ("grpcs://[::]:7", "", "grpcs://127.0.0.1:7", "grpcs://[::]:7", False),
        ("localhost:7", "", "localhost:7", "localhost:7", False),
        ("192.0.2.1:7", "", "192.0.2.1:7", "192.0.2.1:7", True),
        ("0.0.0.0:7", "club.example:8", "127.0.0.1:7", "club.example:8", True),
        ("grpcs://0.0.0.0:7", "grpcs://club.example:8", "grpcs://club.example:8", "grpcs://club.example:8", True),
    ],
)
def test_where_a_referee_is_reached(listening: str, public: str, here: str, carried: str, works: bool) -> None:
    assert Addresses.of(listening, public) == Addresses(here, carried)
    assert is_reached_from_elsewhere(carried) == works


def test_a_directory_that_remembers_nonsense_remembers_nothing(tmp_path: Path) -> None:
    for text in ("", "[]", "{}", '{"here": 1, "public": 2}', '{"here": "x", "public": "y"}'):
        (tmp_path / "address").write_text(text)
        assert Addresses.remembered(tmp_path) is None


async def test_who_does_not_come_forfeits_and_the_organiser_was_told(day: Day) -> None:
    opened = await day.run("new", "--data", "data", "--rules", "kingdomino", "--seats", 2, "--absence", "200ms")
    assert "a seat that has not joined in 200ms forfeits (TBL-38)" in opened.stderr
    async with waiting_for("the end"):
        while not (found := await day.games("--state", "over")):
            pass
    assert [game["result"] for game in found] == [
        "no player wins: player 1 was away for too long, player 2 was away for too long"
    ]
    assert [game["places"] for game in found] == ["3 2"]
