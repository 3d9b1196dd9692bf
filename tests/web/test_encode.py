"""The bytes that the seat's page signs: the strict encoding, in JavaScript, against bytes that are in the logs."""

from __future__ import annotations

import random
from base64 import b64decode, b64encode
from pathlib import Path

from playwright.async_api import Page

from referee.log import deck, file, intent
from referee.log.entry import decode_entry
from referee.log.events import Author, Role
from referee.log.intent import Place, intent_encoding
from referee.log.keys import PrivateKey
from referee.log.replay import signed_part
from referee.log.v1 import log_pb2
from referee.v1 import arbiter_service_pb2
from referee.v1 import game_service_pb2 as pb
from tests.web.verify_page import FROZEN
from tests.web.words import wordy

AGAIN = """async ([file, name, encoded]) => {
  const [{ decode }, { encode }, schemas, { base64, fromBase64 }] = await Promise.all([
    import("/static/verify/wire.mjs"), import("/static/seat/encode.mjs"), import(`/static/${file}`),
    import("/static/verify/bytes.mjs")]);
  const schema = name.split(".").reduce((found, part) => found[part], schemas);
  return encoded.map((each) => base64(encode(schema, decode(schema, fromBase64(each)))));
}"""


async def encoded_again(page: Page, schema: str, data: list[bytes], source: str = "verify/schema.mjs") -> None:
    written = [b64encode(each).decode() for each in data]
    assert await page.evaluate(AGAIN, [source, schema, written]) == written


async def test_what_was_signed_is_written_alike(page: Page, gateway: str) -> None:
    """Every intent, move, options and components of every frozen log."""
    await wordy(page, gateway)
    intents = list[bytes]()
    of_games: dict[str, set[bytes]] = {}
    for path in sorted(FROZEN.glob("*.gamelog")):
        with path.open("rb") as stream:
            entries = [decode_entry(each) for each in file.entries(stream)]
        opened = log_pb2.GameOpen.FromString(entries[0].open) if entries else None
        for entry in entries:
            signed = signed_part(entry)
            if signed is None or opened is None:
                continue
            intents.append(signed.intent)
            act = intent.decode_intent(signed.intent)
            if act.HasField("move"):
                of_games.setdefault(f"GAMES.{opened.rules_id}.{opened.rules_version}.move", set()).add(act.move)
        if opened is not None and not opened.rules_id.startswith("toy"):
            of_games.setdefault(f"GAMES.{opened.rules_id}.{opened.rules_version}.options", set()).add(opened.options)
            of_games.setdefault(f"GAMES.{opened.rules_id}.{opened.rules_version}.tables", set()).add(opened.tables)
    assert len(intents) > 1000
    await encoded_again(page, "Intent", intents)
    assert len(of_games) >= 9
    for schema, data in of_games.items():
        await encoded_again(page, schema, sorted(data))


async def test_every_act_of_the_table_is_written_alike(page: Page, gateway: str) -> None:
    """With numbers of every length, and without what is absent."""
    await wordy(page, gateway)
    rng, key = random.Random(4), PrivateKey(bytes(range(32)))

    def number() -> int:
        return rng.choice([0, 1, 127, 128, 16_383, 16_384, 2**32 - 1])

    acts: list[intent.TableAct] = []
    for _ in range(20):
        n, m = number(), number()
        acts += [
            log_pb2.Resign(),
            log_pb2.Resign(seat=0),
            log_pb2.Consent(to_seq=n),
            log_pb2.Protest(against_seq=n, rule_id="KDO-14", remark=rng.randbytes(32)),
            log_pb2.Appeal(against_seq=n, rule_id="TBL-1", seat=m),
            log_pb2.TakeBack(to_seq=n),
            log_pb2.Correct(to_seq=m),
            log_pb2.ChangeKey(key=rng.randbytes(32), seat=n),
            log_pb2.Rule(rule_id="TBL-9", decides=n, penalty=log_pb2.Penalty(seat=0, points=m, strikes=n)),
            log_pb2.Rule(adjudicate=log_pb2.Adjudicate(scores=[-n % 2**31, 0, m % 2**31, -1], places=[1, n])),
            log_pb2.Rule(void=log_pb2.Void(), remark=rng.randbytes(32)),
            log_pb2.Rule(forfeit=log_pb2.Forfeit(seat=3, ending=log_pb2.ENDING_FLAG)),
            log_pb2.Rule(accept=log_pb2.Accept(seat=1, move=rng.randbytes(300), rule_ids=["KDO-14", "TBL-1"])),
            log_pb2.Rule(set_clock=log_pb2.SetClock(seat=0, left_ms=n)),
        ]
    data = list[bytes]()
    for act in acts:
        place = Place(rng.randbytes(16), number(), rng.randbytes(32))
        data.append(intent.act(place, Author(rng.choice(list(Role)), 0), key, act).intent)
    await encoded_again(page, "Intent", data)


async def test_requests_are_those_of_the_api(page: Page, gateway: str) -> None:
    await wordy(page, gateway)
    source = "seat/encode.mjs"
    acts = [
        pb.SubmitIntentRequest(game_id="ab" * 16, intent=b"\x01" * 200, signature=bytes(64), thought_ms=ms)
        for ms in (0, 1, 300_000)
    ]
    acts.append(pb.SubmitIntentRequest(game_id="ab" * 16, intent=b"\x01", signature=bytes(64)))
    await encoded_again(page, "SubmitIntentRequest", [each.SerializeToString() for each in acts], source)
    words = arbiter_service_pb2.Words(salt=bytes(16), text="é\n" * 1000)
    tables = [
        arbiter_service_pb2.SubmitActRequest(game_id="ab" * 16, intent=b"\x01", signature=bytes(64), words=words),
        arbiter_service_pb2.SubmitActRequest(game_id="ab" * 16, intent=b"\x01", signature=bytes(64)),
    ]
    await encoded_again(page, "SubmitActRequest", [each.SerializeToString() for each in tables], source)


MADE = """async (game) => {
  const [keys, { base64, fromHex }] = await Promise.all([
    import("/static/seat/keys.mjs"), import("/static/verify/bytes.mjs")]);
  const pkcs8 = await keys.made();
  const locked = await keys.locked(keys.readPem(keys.pemOf(pkcs8)));
  const message = new Uint8Array(100).fill(7);
  let read = null;
  try { await crypto.subtle.exportKey("pkcs8", locked.key); } catch (error) { read = error.name; }
  return [keys.pemOf(pkcs8), base64(locked.publicKey), base64(await keys.shareOf(pkcs8, fromHex(game))),
    base64(await keys.sign(locked, message)), read];
}"""


async def test_a_key_of_the_browser_is_one_of_the_commands(page: Page, gateway: str, tmp_path: Path) -> None:
    """Its file, its public half, its share of the deck and its signatures."""
    await wordy(page, gateway)
    game = random.Random(3).randbytes(16)
    pem, public, share, signature, read = await page.evaluate(MADE, game.hex())
    path = tmp_path / "seat.pem"
    path.touch(0o600)
    path.write_text(pem)
    key = PrivateKey.load(path)
    assert b64decode(public) == key.public.raw
    assert b64decode(share) == deck.own_seed(key, game)
    assert key.public.is_signed(intent_encoding(b"\x07" * 100), b64decode(signature))
    assert read == "InvalidAccessError"
