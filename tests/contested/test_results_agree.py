"""Every ending of the closed list and every tool that speaks of results: all say what is true, in every way it came.

A row is a game, made for its ending, that is entered or held, as it waits for protests or a ruling. A column is a tool.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from referee.cli.operators.status import Asked, plain
from referee.cli.players.bot import _summary
from referee.games.game import Ending
from referee.games.results import Result
from referee.log.replay import Record
from referee.log.v1 import log_pb2
from referee.v1 import game_pb2
from referee_clients.bots.loading import RandomBot
from referee_clients.join import Join
from referee_clients.sdk.arbiter import arbiter
from referee_clients.sdk.organiser import organiser
from referee_clients.sdk.player import Player
from referee_clients.status import docket_lines
from referee_clients.terminal.desk import boards
from referee_clients.terminal.desk.line import Desk
from tests.cli.inside import referee
from tests.contested.campaign import IN_THIRDS
from tests.contested.games import ENDINGS, Contested, kept
from tests.contested.said import Said, in_header, in_json, in_page, in_text, of_places
from tests.contested.served import keep
from tests.endings import CONSEQUENCES
from tests.log.games import seat_key
from tests.server.service.conftest import running
from tests.sizes import Part

RULES_ID = "kingdomino"
"""Its games are short; how a game ends is the same for all."""
AT_ONCE = (Ending.ABORTED, Ending.REFEREE_FAULT)
MOST = 4 * len(ENDINGS)
"""Games that are looked through."""


@dataclass(frozen=True)
class Row:
    name: str
    made: Contested
    is_held: bool

    @property
    def result(self) -> Result:
        result = self.made.truth[-1].result
        assert result is not None
        return result


@dataclass(frozen=True)
class Wanted:
    """A way in which a game can end."""

    ending: Ending
    is_held: bool
    is_disputed: bool = False
    """And then it is held by a protest."""
    is_plain: bool = True
    """If by the rules, with the places that the points alone give."""

    def __str__(self) -> str:
        how = "held by a protest" if self.is_disputed else "held" if self.is_held else "entered"
        return f"{self.ending.words}, {'' if self.is_plain else 'other places, '}{how}"

    def is_planned(self, number: int) -> bool:
        """Return True if the game with this number is made for it."""
        round_, index = divmod(number, len(ENDINGS))
        is_held = round_ % 4 == 3 if self.is_disputed else round_ % 2 == self.is_held
        return ENDINGS[index] == self.ending.value and is_held

    def is_met(self, made: Contested) -> bool:
        last = made.truth[-1]
        if last.result is None or last.result.ending is not self.ending or last.is_ended == self.is_held:
            return False
        if self.is_disputed and not made.plan.is_disputed:
            return False
        if self.ending is not Ending.RULES:
            return True
        (over,) = made.position(len(made.entries) - 1).pending()
        return bool(over.places == last.result.places) == self.is_plain


def wanted() -> Iterator[Wanted]:
    """Yield each ending, entered and held, and more by the rules where the places are not those of the points."""
    for is_held in (False, True):
        for ending in map(Ending, CONSEQUENCES):
            if not (is_held and ending in AT_ONCE):
                yield Wanted(ending, is_held)
        yield Wanted(Ending.RULES, is_held, is_plain=False)
    for ending in (Ending.RULES, Ending.RESIGNED, Ending.ADJUDICATED, Ending.VOIDED):
        yield Wanted(ending, is_held=True, is_disputed=True)


@cache
def rows(part: Part) -> tuple[Row, ...]:
    """Return a game for each that is wanted, the first one that is made for it and came to it."""
    return tuple(row(each) for each in part.of(sorted(wanted(), key=str)))


def row(each: Wanted) -> Row:
    for number in filter(each.is_planned, range(MOST)):
        if each.is_met(made := kept(RULES_ID, number)):
            return Row(str(each), made, each.is_held)
    raise AssertionError(f"no game for {each}")


# --- tools of a file -----------------------------------------------------------------------------------------


def audited(made: Contested, path: Path, *words: str) -> CompletedProcess[str]:
    return referee("audit", path, "--key", made.verifier, *words)


def read_back(path: Path) -> Said:
    """Return the result that a game as text has, when it is shown again."""
    text = path.with_suffix(".txt")
    text.write_text(referee("show", "--notation", path).stdout, encoding="utf-8")
    done = referee("show", text)
    return in_text(done.stdout.partition("\n\n")[0]) if not done.stderr else Said(None, done.stderr)


def desk_status(made: Contested, _: Path) -> Said:
    """Return the line above the boards, as a desk has it that has read the game."""
    record = Record.replay(made.entries)
    desk = Desk(made.rules_id, made.position(len(made.entries) - 1))
    return in_text(boards.awaited(record, desk, [""] * len(made.opened.seats)))


def bots_last_line(made: Contested, _: Path) -> Said:
    """Return the result that ``referee bot`` prints when the game is over."""
    seat, last = 0, made.truth[-1].result
    player = Player(Join("127.0.0.1:1", made.played.record.game_id.hex(), seat, "t"), RandomBot(), key=seat_key(seat))
    player.ledger.add(made.entries, made.played.notes[-1])
    line = _summary(player._result())
    came = re.search(r"finished (?:joint )?number (\d+)", line)
    assert last is not None
    assert (came and int(came[1])) == (last.places[seat] if last.places else None)
    return in_text(line)


TOOLS: dict[str, Callable[[Contested, Path], Said]] = {
    "score": lambda _, path: in_text(referee("score", path).stdout),
    "show": lambda _, path: in_text(referee("show", path).stdout.partition("\n\n")[0]),
    "show --notation": lambda _, path: in_header(referee("show", "--notation", path).stdout),
    "notation read back": lambda _, path: read_back(path),
    "audit": lambda made, path: in_text(audited(made, path).stdout),
    "audit --json": lambda made, path: in_json(audited(made, path, "--json").stdout),
    "report": lambda made, path: in_text(referee("report", path, "--key", made.verifier).stdout),
    "report --html": lambda made, path: in_page(referee("report", "--html", path, "--key", made.verifier).stdout),
    "docket": lambda _, path: in_text(referee("docket", path).stdout),
    "desk": desk_status,
    "bot": bots_last_line,
}
ENDED_ONLY = ("bot",)
"""It speaks when the end is entered."""


def compared(said: Callable[[Row], Said], names: tuple[Row, ...]) -> Iterator[str]:
    for row in names:
        if wrong := said(row).wrong(row.result, is_held=row.is_held):
            yield f"{row.name} ({row.made}, {row.result}): {wrong}"


@IN_THIRDS
@pytest.mark.parametrize("tool", TOOLS)
def test_tools_of_files_agree(tmp_path: Path, tool: str, part: Part) -> None:
    path = tmp_path / "game.gamelog"

    def said(row: Row) -> Said:
        path.write_bytes(row.made.data)
        return TOOLS[tool](row.made, path)

    shown = tuple(row for row in rows(part) if not (row.is_held and tool in ENDED_ONLY))
    wrong = list(compared(said, shown))
    assert not wrong, f"{tool}: {len(wrong)} of {len(shown)} wrong\n" + "\n".join(wrong)


@IN_THIRDS
def test_a_text_is_scored_and_adjudicated_as_its_log_is(tmp_path: Path, part: Part) -> None:
    """Word for word on the sheet; an adjudication says of the same end that it waits, or does not."""
    path, text = tmp_path / "game.gamelog", tmp_path / "game.txt"
    for row in [row for row in rows(part) if row.is_held][:2]:
        path.write_bytes(row.made.data)
        text.write_text(referee("show", "--notation", path).stdout, encoding="utf-8")
        assert referee("score", text).stdout == referee("score", path).stdout, row.name
        assert not in_text(referee("adjudicate", text).stdout).wrong(row.result, is_held=row.is_held), row.name


# --- tools of a server ------------------------------------------------------------------------------------------


@IN_THIRDS
async def test_tools_of_a_server_agree(tmp_path: Path, part: Part) -> None:
    """GetGame, the docket and the status: a server finds the games, and enters those ends that need not wait."""
    await keep(tmp_path / "data", [row.made for row in rows(part)])
    wrong = []
    async with running(tmp_path / "data") as (server, client), organiser(server.address, client.organiser) as calls:
        status = await Asked(client.channel, client.organiser, server.address).all()
        listed = {game["id"]: game for game in plain(status)["games"]}
        for row in rows(part):
            game_id = row.made.played.record.game_id.hex()
            game = await calls.game(game_id)
            async with arbiter(server.address, game_id) as there:
                docket = in_text("\n".join(docket_lines(await there.docket())))
            is_over = game.state == game_pb2.GAME_STATE_OVER
            said = {"docket of a game": docket}
            if is_over:
                name = log_pb2.Ending.Name(game.result.ending)
                said["GetGame"] = of_places(game.result.places, name)
                if game_id in listed:
                    wrong.append(f"status: {row.name}: lists a game that is over")
            elif game.state != game_pb2.GAME_STATE_RESULT_OPEN or not row.is_held:
                wrong.append(f"GetGame: {row.name}: {game_pb2.GameState.Name(game.state)}")
            elif game_id not in listed:
                wrong.append(f"status: {row.name}: does not list a game that waits for a ruling")
            elif listed[game_id]["state"] != "GAME_STATE_RESULT_OPEN":
                wrong.append(f"status: {row.name}: {listed[game_id]['state']}")
            for tool, each in said.items():
                if why := each.wrong(row.result, is_held=not is_over):
                    wrong.append(f"{tool}: {row.name} ({row.made}, {row.result}): {why}")
    assert not wrong, f"{len(wrong)} wrong\n" + "\n".join(wrong)


def test_the_extractors() -> None:
    """They read the wording that is used, and see what is wrong."""
    result = Result(Ending.RESIGNED, places=(1, 2))
    assert in_text("player 1 wins: player 2 resigned").wrong(result, is_held=False) == ""
    assert "not entered" in in_text("player 1 wins: player 2 resigned").wrong(result, is_held=True)
    assert "did" in in_text("player 2 wins: player 1 resigned").wrong(result, is_held=False)
    assert "how it ended" in in_text("player 1 wins").wrong(result, is_held=False)
    shared = Result(Ending.RULES, (3, 1, 3), (1, 3, 1))
    assert in_text("player 1 and player 3 share the win").wrong(shared, is_held=False) == ""
    assert in_text("no result: an arbiter voided the game").wrong(Result(Ending.VOIDED), is_held=False) == ""
    assert in_text("ending: rules, scores [3, 1, 3], places [1, 3, 1]").wrong(shared, is_held=False) == ""
    assert in_text("Player 1: 3 points, place 1\nPlayer 2: 1 point, place 2").winners == (0,)
    assert in_text("the board").wrong(result, is_held=False) == "says nothing of the result"
