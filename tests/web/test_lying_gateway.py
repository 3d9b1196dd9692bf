"""A gateway that lies, before a real browser: each lie stops the page, which says why and shows nothing of it."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from referee.log.frames import MAGIC, FrameType, encode_frame
from tests.log import evil
from tests.log.verify_js import why_not
from tests.waiting import until
from tests.web.liar import Liar, lying
from tests.web.test_feed import LIES, Commit, _forked, gateway, lies_in_a_log, other, place, signed

STOPPED = "Stopped: what the server sent is not what the referee signed."
SIZE = 20


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def gate() -> AsyncIterator[Liar]:
    if why := why_not():
        pytest.skip(why)
    async with lying(gateway("alhambra")) as liar:
        yield liar


@pytest.fixture
def liar(gate: Liar) -> Liar:
    gate.at(SIZE)
    return gate


async def watched(page: Page, liar: Liar) -> None:
    """The page follows the game, and believes what it was shown so far."""
    await page.goto(f"{liar.address}/g/{liar.id}")
    await expect(page.get_by_role("status").first).to_have_text("Live.")
    await expect(page.locator(".entries li")).to_have_count(liar.size)
    await until(lambda: liar.watchers, "the page's stream", every_s=0.01)


async def stopped(page: Page, reason: str, size: int) -> None:
    """The page has stopped for this reason, and shows boards and entries of the truth alone: so many."""
    await expect(page.get_by_role("status").first).to_have_text(STOPPED)
    await expect(page.get_by_role("alert").first).to_contain_text(reason)
    await expect(page.locator(".entries li")).to_have_count(size)
    if not size:
        await expect(page.get_by_role("grid")).to_have_count(0)


def forked_file(entries: list[bytes]) -> bytes:
    """The file of another history, whole and signed."""
    header = evil.frames(gateway("alhambra").running(1))[0]
    frames = [encode_frame(FrameType.ENTRY, entry) for entry in entries]
    return MAGIC + b"".join([header, *frames, encode_frame(FrameType.OLD_CHECKPOINT, signed(entries))])


def some(names: Any, sample: str) -> list[Any]:
    """All of them; only one of them in ``make test``."""
    return [name if name == sample else pytest.param(name, marks=pytest.mark.long) for name in names]


IN_COMMITS = (
    "the position before",
    "the position after",
    "positions swapped",
    "another seat on turn",
    "an entry left out between",
    "the last entry left out",
    "the time altered, in the last",
    "an entry twice",
    "an entry added",
    "an entry of another game",
    "a checkpoint of another key",
    "a checkpoint with a wrong signature",
    "an old checkpoint",
    "another history goes on",
    "an old checkpoint of another history",
)


@pytest.mark.parametrize("name", some(IN_COMMITS, "the position before"))
async def test_a_lie_about_what_happens(name: str, page: Page, liar: Liar) -> None:
    """The boards stay as they were, and the truth comes too late."""
    lie, reason, _ = LIES[name]
    honest, n = liar.honest, place()
    liar.at(n)
    await watched(page, liar)
    before = await page.locator("#app [role=grid]").evaluate_all("all => all.map((each) => each.innerHTML)")
    commit = honest.commit(n, n + 3)
    lie(honest, n, commit)
    liar.commit(commit, n + 2)
    await stopped(page, reason, n)
    liar.commit(honest.commit(n, n + 3), n + 2)
    await expect(page.locator(".entries li")).to_have_count(n)
    assert before == await page.locator("#app [role=grid]").evaluate_all("all => all.map((each) => each.innerHTML)")


IN_LOGS = (
    "cut in an entry",
    "cut before its checkpoint",
    "an entry left out",
    "the last entry left out",
    "entries swapped",
    "an old checkpoint",
    "a checkpoint of another key",
    "a checkpoint of another history",
    "a bit",
    "nothing",
    "a position of before",
    "too few positions",
    "a whole game of another key",
)


@pytest.mark.parametrize("name", some(IN_LOGS, "a checkpoint of another key"))
async def test_a_lie_about_what_has_happened(name: str, page: Page, liar: Liar) -> None:
    step, reason, _ = lies_in_a_log(SIZE)[name]
    liar.log = b64decode(step["open"])
    if step["positions"] is not None:
        liar.positions = list(map(b64decode, step["positions"]))
    await page.goto(f"{liar.address}/g/{liar.id}")
    await stopped(page, reason, 0)


@pytest.mark.long
async def test_the_file_of_another_game(page: Page, liar: Liar) -> None:
    """Whole, and signed by the same referee."""
    liar.log, liar.positions = other().running(SIZE), other().positions[:SIZE]
    await page.goto(f"{liar.address}/g/{liar.id}")
    await stopped(page, "WRONG_GAME", 0)


@pytest.mark.parametrize(
    ("what", "reason"), [("STALE", "STALE"), *(pytest.param(each, each, marks=pytest.mark.long) for each in ["FORK"])]
)
async def test_less_than_was_seen_before(what: str, reason: str, page: Page, liar: Liar) -> None:
    """At another visit: an older head, as if nothing had happened since; or another history. Both are signed."""
    await watched(page, liar)
    liar.at(SIZE - 5)
    if what == "FORK":
        fork = _forked(liar.honest, SIZE + 2)
        liar.log = forked_file(fork)
        liar.positions = liar.honest.positions[: SIZE + 2]
    await page.reload()
    await stopped(page, reason, 0)


@pytest.mark.long
async def test_a_game_that_has_become_shorter_while_it_was_watched(page: Page, liar: Liar) -> None:
    await watched(page, liar)
    liar.at(SIZE - 5)
    liar.cut()
    await stopped(page, "STALE", SIZE)


@pytest.mark.long
async def test_a_commit_that_comes_again_is_not_shown_again(page: Page, liar: Liar) -> None:
    honest = liar.honest
    await watched(page, liar)
    liar.commit(honest.commit(SIZE - 1, SIZE), SIZE - 1)
    liar.commit(honest.commit(SIZE, SIZE + 1), SIZE)
    await expect(page.locator(".entries li")).to_have_count(SIZE + 1)
    # And another one in its place is a lie.
    fork = _forked(honest, SIZE)
    liar.commit(Commit(fork[-1:], signed(fork), honest.positions[SIZE - 1 : SIZE]), SIZE - 1)
    await stopped(page, "FORK", SIZE + 1)


@pytest.mark.long
async def test_an_end_that_nobody_signed(page: Page, liar: Liar) -> None:
    """And a seq that is not that of the entries: what the gateway says beside what is signed counts for nothing."""
    await watched(page, liar)
    liar.send("closing", {"seq": SIZE - 1, "reason": "GAME_OVER"})
    liar.cut()
    await expect(page.get_by_role("status").first).not_to_contain_text("over")
    await until(lambda: liar.watchers, "the page's stream", every_s=0.01)
    liar.commit(liar.honest.commit(SIZE, SIZE + 1), SIZE + 7)
    await expect(page.locator(".entries li")).to_have_count(SIZE + 1)


@pytest.mark.long
async def test_the_end_is_hidden_from_nobody_who_saw_it(page: Page, liar: Liar) -> None:
    """Afterwards the game is shown as if it went on."""
    honest = liar.honest
    liar.log, liar.positions, liar.size = honest.played.file(), honest.positions, honest.size
    await page.goto(f"{liar.address}/g/{liar.id}")
    await expect(page.locator(".entries li")).to_have_count(honest.size)
    liar.at(honest.size - 2)
    await page.reload()
    await stopped(page, "STALE", 0)
