"""The key of a seat that is played by hand: its file brings the seat back, no other one does, and it can be changed."""

from __future__ import annotations

import re
from base64 import b64decode
from hashlib import sha512
from io import BytesIO
from pathlib import Path
from secrets import token_bytes

import pytest
from nacl.bindings import (
    crypto_core_ed25519_scalar_add,
    crypto_core_ed25519_scalar_mul,
    crypto_core_ed25519_scalar_reduce,
    crypto_scalarmult_ed25519_base_noclamp,
)
from playwright.async_api import Browser, Page, expect

from referee.log import file
from referee.log.events import Author, Role
from referee.log.keys import PrivateKey
from referee.log.replay import Record
from referee.log.v1 import log_pb2
from referee.v1 import game_service_pb2 as pb
from referee_clients.sdk.arbiter import Arbiter
from tests.server.service.arbiter import ARBITERS
from tests.sizes import campaign
from tests.web.club import Club
from tests.web.hand import ENTER, TAKE, Hand, audited, bots
from tests.web.way import Way, elsewhere, opened

pytestmark = pytest.mark.cut_off  # browsers complain of refusals on their own

MISFIT = "This is the key of another player, or one that no longer counts."
PROVE = "Open the file that you saved"


def seed_in(key: str) -> bytes:
    """Return the private key in the text of a key file."""
    return b64decode(key.splitlines()[1])[-32:]


def new_key(path: Path) -> str:
    """Return the text of a key file of somebody else."""
    PrivateKey.generate().save(path)
    return path.read_text(encoding="ascii")


async def name_key(club: Club, made: pb.CreateGameResponse, key: bytes) -> None:
    """An arbiter names a key for player 1."""
    calls = Arbiter(club.client.channel, made.game.id, made.arbiter_token)
    place = Record.replay(file.entries(BytesIO(await calls.log()))).place
    change = log_pb2.ChangeKey(seat=0, key=key)
    await calls.act(place, Author(Role.ARBITER, 0), ARBITERS[0], change, tries=9)


async def test_the_key_file_brings_the_seat_back(page: Page, browser: Browser, club: Club, tmp_path: Path) -> None:
    """Before the deck is made, as the seat's share follows from the key; and on turn."""
    made, hand = await opened(club, page)
    await hand.sit()
    await page.goto("about:blank")
    async with elsewhere(browser) as second:
        hand.page = second
        await hand.open()
        await expect(second.get_by_role("heading", name="Someone plays as player 1 already")).to_be_visible()
        await hand.show_key(new_key(tmp_path / "other.pem"))
        await expect(second.get_by_role("alert")).to_have_text(MISFIT)
        await hand.show_key()
        await expect(second.locator(".stands")).to_have_text("Not begun yet. Still to join: player 2.")
        async with bots(club.referee, made, 1):
            await hand.play(2)
            await second.goto("about:blank")
            async with elsewhere(browser) as third:
                hand.page = third
                await hand.open()
                await hand.show_key()
                await hand.play(1)
                await hand.resign()
    await audited(club.client, made)


@pytest.mark.long
async def test_a_lost_key_is_changed_by_an_arbiter(page: Page, browser: Browser, club: Club) -> None:
    made, hand = await opened(club, page, arbiter_keys=[ARBITERS[0].public.raw])
    async with bots(club.referee, made, 1), elsewhere(browser) as other:
        await hand.sit()
        await hand.play(1)
        await hand.on_turn()
        anew = Hand.of(other, club.address, made)
        await anew.open()
        await other.get_by_text("The key file is lost").click()
        await anew.save_key("Make and save a new key")
        named = other.locator("output")
        await expect(named).to_have_text(re.compile("^[0-9a-f]{64}$"))
        await anew.show_key()
        await expect(other.get_by_role("alert")).to_have_text(MISFIT)
        public = bytes.fromhex(await named.inner_text())
        await name_key(club, made, public)
        # The holder of the old key can sign nothing more.
        await expect(page.get_by_role("heading", name="Someone plays as player 1 already")).to_be_visible()
        await expect(hand.turn).to_have_count(0)
        await anew.show_key()
        await anew.play(2)
        await other.reload()
        await anew.play(1)
        await anew.resign()
    await audited(club.client, made)


@pytest.mark.long
async def test_a_seat_changes_its_key(page: Page, browser: Browser, club: Club) -> None:
    """The new one counts from the first act that it signs; the old file does not open the seat then."""
    made, hand = await opened(club, page)
    async with bots(club.referee, made, 1), elsewhere(browser) as other:
        await hand.sit()
        await hand.play(1)
        await hand.on_turn()
        old = hand.key
        await hand.beside("Change the key")
        await hand.save_key("Save the new key file")
        await hand.button("Change to the new key").click()
        await expect(page.get_by_text("The new key is named.")).to_be_visible()
        await page.reload()
        await hand.play(2)
        await page.reload()
        await hand.play(1)
        await page.goto("about:blank")
        hand.page = other
        await hand.open()
        await hand.show_key(old)
        await expect(other.get_by_role("alert")).to_have_text(MISFIT)
        await hand.show_key()
        await hand.play(1)
        await hand.resign()
    await audited(club.client, made)


@pytest.mark.long
async def test_where_days_may_pass_the_file_is_opened_again_before_the_seat_is_taken(
    page: Page, club: Club, tmp_path: Path
) -> None:
    clock = log_pb2.ClockTerms(correspondence=log_pb2.Correspondence(days=3))
    made, hand = await opened(club, page, terms=log_pb2.Terms(clock=clock))
    await hand.open()
    await expect(hand.button(TAKE)).to_be_disabled()
    await hand.save_key()
    await expect(hand.button(TAKE)).to_be_disabled()
    await hand.show_key(new_key(tmp_path / "other.pem"), PROVE)
    await expect(page.get_by_role("alert")).to_have_text("This is another file. Open the one that you have just saved.")
    await expect(hand.button(TAKE)).to_be_disabled()
    await hand.show_key("no key", PROVE)
    await expect(page.get_by_role("alert")).to_contain_text("This is no key file")
    await hand.show_key(field=PROVE)
    await expect(page.get_by_role("status").filter(has_text="That is the file.")).to_be_visible()
    async with bots(club.referee, made, 1):
        await hand.take()
        await hand.play(1)
        await hand.resign()
    await expect(hand.result).to_be_visible()


# --- browsers that never sign twice alike --------------------------------------------------------------------------

NOISY = """
  if (!globalThis.SubtleCrypto) return;  // where there are no keys, as on a blank page
  const sign = SubtleCrypto.prototype.sign;
  SubtleCrypto.prototype.sign = async function (algorithm, key, data) {
    if ((algorithm.name ?? algorithm) !== "Ed25519") return sign.call(this, algorithm, key, data);
    return Uint8Array.from(await noisily([...new Uint8Array(data)])).buffer;
  };
"""


def noisy_signature(seed: bytes, message: bytes) -> bytes:
    """Sign by RFC 8032, but with another r each time: every verifier takes it. ``seed``: the private key."""
    expanded = sha512(seed).digest()
    scalar = bytes([expanded[0] & 248, *expanded[1:31], expanded[31] & 63 | 64])
    public = crypto_scalarmult_ed25519_base_noclamp(scalar)
    r = crypto_core_ed25519_scalar_reduce(token_bytes(64))
    point = crypto_scalarmult_ed25519_base_noclamp(r)
    k = crypto_core_ed25519_scalar_reduce(sha512(point + public + message).digest())
    return point + crypto_core_ed25519_scalar_add(r, crypto_core_ed25519_scalar_mul(k, scalar))


@pytest.mark.parametrize("moves", [2, campaign(None)])
async def test_a_browser_that_signs_with_noise(moves: int | None, page: Page, club: Club) -> None:
    """Safari does: the share of the deck is the same after all, and the first signature is sent again."""
    made, hand = await opened(club, page)
    signed: dict[bytes, set[bytes]] = {}

    def noisily(_source: object, message: list[int]) -> list[int]:
        signature = noisy_signature(seed_in(hand.key), bytes(message))
        signed.setdefault(bytes(message), set()).add(signature)
        return list(signature)

    await page.expose_binding("noisily", noisily)
    await page.add_init_script(f"(() => {{{NOISY}}})()")
    way = await Way.of(page)
    await hand.sit()
    await page.reload()
    async with bots(club.referee, made, 1):
        await hand.on_turn()
        async with way.silent():
            await hand.on_turn()
            way.sent.clear()
            way.loses = "answer"
            await hand.choose()
            await hand.button(ENTER).click()
            await way.tried(1)
            await page.reload()
            way.loses = ""
        await hand.play(moves)
        if moves:
            await hand.resign()
        await expect(hand.result).to_be_visible()
    assert all(len(signatures) == 1 for signatures in signed.values()), "nothing is signed twice"
    assert len(signed) >= 4
    await audited(club.client, made)
