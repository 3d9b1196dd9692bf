"""A game's standing, as pages get it from signed entries: after every entry of every frozen log, as the log has it."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest
from playwright.async_api import Page

from referee.games.game import Decision, Forced
from referee.log import file
from referee.log.entry import decode_entry
from referee.log.game import LoggedGame, Phase
from referee.log.replay import Record
from tests.contested.campaign import games
from tests.web.replay import positions
from tests.web.verify_page import FROZEN, KEY
from tests.web.words import wordy

READ = """async ([log, positions, key]) => {
  const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const [{ Feed }, { standing, standingWords, ENDINGS }, { GAMES }, { decodeBody }] = await Promise.all(
    ["feed", "standing", "verify/schema", "verify/wire"].map((name) => import(`/static/${name}.mjs`)));
  const feed = new Feed({ verifierKey: key });
  await feed.open(bytes(log), positions.map(bytes));
  const { rules_id: id, rules_version: version, tables } = feed.gameOpen;
  const module = await import(`/static/games/${id}.mjs`);
  const components = await (await fetch("/static/components.json")).json();
  const game = module[id](decodeBody(GAMES[id][version].tables, tables), components[id]);
  return feed.entries.map((_, n) => {
    const stands = standing(feed.entries.slice(0, n + 1), feed.gameOpen, feed.positionAt(n), game.awaits);
    const { is, end, out, disputes, seats, seat, ruling, standIn } = stands;
    const told = { is, out: [...out], disputes };
    if (end) Object.assign(told, { ending: ENDINGS[end.ending], scores: end.scores, places: end.places });
    if (is === "joining" || is === "revealing") told.seats = seats;
    if (is === "result") told.ruling = ruling;
    if (is === "decision") Object.assign(told, { seat, standIn });
    return [told, standingWords(stands)];
  });
}"""


def told(game: LoggedGame) -> dict[str, Any]:
    """Return the standing from the referee's own replay."""
    arbitration = game.arbitration
    found: dict[str, Any] = {
        "out": [[seat, ending.name.lower()] for seat, ending in arbitration.out.items()],
        "disputes": sum(dispute.ruled is None for dispute in arbitration.disputes.values()),
    }
    if game.end is not None:
        end = game.end
        return found | {
            "is": "over",
            "ending": end.ending.name.lower(),
            "scores": list(end.scores),
            "places": list(end.places),
        }
    if game.reached() is not None:
        return found | {"is": "result", "ruling": arbitration.is_disputed}
    if arbitration.suspended is not None:
        return found | {"is": {"paused": "pause", "adjourned": "adjourn"}[arbitration.suspended.value]}
    if game.phase in (Phase.JOINING, Phase.REVEALING):
        return found | {"is": game.phase.value, "seats": list(game.missing())}
    (awaited,) = game.position.pending()
    if not isinstance(awaited, Decision | Forced):
        return found | {"is": "draw"}
    return found | {"is": "decision", "seat": awaited.seat, "standIn": awaited.seat in arbitration.out}


RULES = ["kingdomino", *(pytest.param(name, marks=pytest.mark.long) for name in ("alhambra", "rollwrite"))]


async def compared(page: Page, data: bytes, entries: list[bytes], key: str, name: str) -> set[str]:
    """After every entry the page says what the log says. Return in what ways the game stood."""
    drawn = [b64encode(each).decode() for each in positions(entries)]
    found = await page.evaluate(READ, [b64encode(data).decode(), drawn, key])
    record, kinds = Record(decode_entry(entries[0]).open), set[str]()
    for number, (entry, (stands, words)) in enumerate(zip(entries, found, strict=True)):
        record.read(entry)
        expected = told(record.game)
        assert stands == expected, (name, number)
        assert words
        kinds.add(expected["is"])
    return kinds


@pytest.mark.parametrize("rules", RULES)
async def test_pages_say_how_a_game_stands_as_the_log_does(rules: str, page: Page, gateway: str) -> None:
    await wordy(page, gateway)
    kinds = set[str]()
    for path in sorted(FROZEN.glob(f"{rules}-*.gamelog")):
        with path.open("rb") as stream:
            entries = list(file.entries(stream))
        kinds |= await compared(page, path.read_bytes(), entries, KEY, path.name)
    assert {"over", "joining", "revealing", "draw", "decision", "result"} <= kinds


@pytest.mark.parametrize("rules", RULES)
async def test_they_do_when_everything_happens_beside_the_moves(rules: str, page: Page, gateway: str) -> None:
    """Rulings of every kind, take-backs, forfeits, disputes, stand-ins, accepted moves, games that only began."""
    await wordy(page, gateway)
    for made in games(rules, 17):
        await compared(page, made.data, made.entries, str(made.verifier), str(made))
