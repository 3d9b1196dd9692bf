"""The bot in JavaScript: written from the documents alone, and as good a player as the Python client."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import signal
from base64 import b64encode
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import pytest

from referee.alhambra.v1 import alhambra_pb2
from referee.games import registry
from referee.kingdomino.v1 import kingdomino_pb2
from referee.log.audit import audit
from referee.log.keys import PrivateKey
from referee.log.note import Checkpoint, CheckpointSigner, Note, VerifierKey
from referee.log.v1.log_pb2 import ClockTerms, Increment, Terms
from referee.log.vectors import DATA
from referee.log.verdict import Policy, Verdict
from referee.rollwrite.v1 import rollwrite_pb2
from referee.server.service.tls import Certificates, Tls
from referee.v1 import game_service_pb2 as pb
from referee.v1 import game_service_pb2_grpc
from referee_clients import Join, play_async
from referee_clients.bot_check.relay import Party, Relay, Way
from referee_clients.bots import load
from referee_clients.sdk.channel import Security
from referee_clients.sdk.ledger import Ledger
from referee_clients.sdk.organiser import Opened, organiser
from tests.clients.javascript import BOT_S, SOURCE, Node, check, ended
from tests.clients.kept import ENTRIES, GAME, declaring, note, note_of
from tests.clients.referee_process import Referee
from tests.log.games import SIGNER
from tests.rig.network import Network, cutting
from tests.server.service.certificates import Authority
from tests.server.service.conftest import running
from tests.server.service.player import bearer
from tests.sizes import sample_of

VECTORS = DATA / "log"


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Node:
    return Node(tmp_path_factory.mktemp("node"))


async def open_game(referee: Referee, seats: int = 3, game: str = "alhambra") -> Opened:
    async with organiser(referee.address, referee.token) as organising:
        return await organising.open_game(game, seats)


async def test_a_whole_game(referee: Referee, node: Node, tmp_path: Path) -> None:
    """Its key file is one of ours: the audit pins the seat with it."""
    opened = await open_game(referee)
    bot = await node.bot(opened.joins[0], "--seed", "1", "--verifier", opened.verifier, "--key", str(tmp_path / "key"))
    others = await asyncio.gather(*(play_async(join, load("greedy")) for join in opened.joins[1:]))
    key = PrivateKey.load(tmp_path / "key").public
    await check(referee, opened, bot, others, tmp_path, seat_keys={0: key.raw})


@pytest.mark.parametrize("game", ["kingdomino", "rollwrite"])
async def test_it_plays_what_it_has_never_heard_of(referee: Referee, node: Node, tmp_path: Path, game: str) -> None:
    """The legal moves come with every turn."""
    opened = await open_game(referee, game=game)
    bot = await node.bot(opened.joins[0], "--seed", "1", "--verifier", opened.verifier)
    others = await asyncio.gather(*(play_async(join, load("greedy", game)) for join in opened.joins[1:]))
    await check(referee, opened, bot, others, tmp_path)


async def test_it_says_how_long_it_thought_and_knows_its_clock(referee: Referee, node: Node, tmp_path: Path) -> None:
    """A way that takes a while is not charged."""
    terms = Terms(clock=ClockTerms(increment=Increment(base_ms=60_000, increment_ms=5_000), lag_ms=10_000))
    async with organiser(referee.address, referee.token) as organising:
        opened = await organising.open_game("kingdomino", 2, terms=terms)
    program = """
        import { readFileSync } from "node:fs";
        import { generateKeyPairSync } from "node:crypto";
        import { Seat } from "./seat.mjs";
        const join = JSON.parse(readFileSync(0));
        const left = [];
        const choose = (moves, { leftMs }) => { left.push(leftMs); return moves[0]; };
        await new Seat(join, generateKeyPairSync("ed25519").privateKey, choose).play();
        console.log(JSON.stringify(left));
    """
    relay = Relay(referee.address)
    party = Party("js", lambda *_: None)
    thought: list[int] = []

    async def listen(way: Way, data: bytes) -> tuple[tuple[bytes, ...], tuple[bytes, ...]]:
        asked = pb.PlayGameRequest.FromString(data) if way is Way.UP else pb.PlayGameRequest()
        if asked.HasField("act"):
            thought.append(asked.act.thought_ms if asked.act.HasField("thought_ms") else -1)
        return (data,), ()

    party.meddle = listen
    own = opened.joins[0]
    relay.parties[own.token] = party
    async with relay as address:
        given = json.dumps({"address": address, "gameId": own.game_id, "seat": own.seat, "token": own.token})
        ran = asyncio.to_thread(node.command, "--input-type=module", "--eval", program, stdin=given)
        told, _ = await asyncio.gather(ran, play_async(opened.joins[1], load("random", "kingdomino", 1)))
    left = json.loads(told)
    assert len(left) > 10
    assert all(isinstance(each, int) and 0 < each <= 240_000 for each in left)
    assert len(thought) >= len(left) + 2, "a join, a reveal, and the moves"
    assert min(thought) >= 0


async def test_a_network_that_cuts_every_connection(referee: Referee, node: Node, tmp_path: Path) -> None:
    opened = await open_game(referee)
    network = Network(referee.address, cutting(20_000))
    async with network as address:
        far = replace(opened.joins[0], address=address)
        bot = await node.bot(far, "--seed", "1", "--verifier", opened.verifier)
        others = await asyncio.gather(*(play_async(join, load("greedy")) for join in opened.joins[1:]))
        await bot.wait()
    assert len(network.suffered) > 3
    await check(referee, opened, bot, others, tmp_path)


@pytest.mark.long
async def test_a_referee_that_is_killed_and_a_bot_that_is_killed(node: Node, tmp_path: Path) -> None:
    referee = Referee(tmp_path / "referee")
    referee.start()
    opened = await open_game(referee)
    words = ("--seed", "1", "--verifier", opened.verifier, "--key", str(tmp_path / "key"))
    bot = await node.bot(opened.joins[0], *words)
    others = [asyncio.create_task(play_async(join, load("greedy"))) for join in opened.joins[1:]]
    try:
        for size in (3, 40, 90):
            await reached(referee, opened, size)
            referee.stop(signal.SIGTERM if size == 40 else signal.SIGKILL)
            referee.start()
        await reached(referee, opened, 120)
        bot.kill()
        await bot.communicate()
        bot = await node.bot(opened.joins[0], *words)
        await check(referee, opened, bot, await asyncio.gather(*others), tmp_path)
    finally:
        referee.stop()


async def test_a_referee_that_was_set_back_while_it_was_away(node: Node, tmp_path: Path) -> None:
    """It shows the checkpoint that it keeps beside its key."""
    data, key = tmp_path / "data", tmp_path / "key"
    async with running(data) as (_, client):
        created = await client.create(2, rules_id="kingdomino")
    shutil.copytree(data, tmp_path / "old")
    async with running(data) as (server, _):
        joins = [Join(server.address, created.game.id, seat, created.seat_tokens[seat]) for seat in (0, 1)]
        bot = await node.bot(joins[0], "--seed", "1", "--key", str(key))
        enough = asyncio.Event()

        def grown(ledger: Ledger) -> None:
            if ledger.size > 15:
                enough.set()

        other = asyncio.create_task(play_async(joins[1], load("random", "kingdomino", 1), on_commit=grown))
        await asyncio.wait_for(enough.wait(), BOT_S)
        bot.kill()
        await bot.communicate()
        other.cancel()
        await asyncio.gather(other, return_exceptions=True)
    kept = key.with_name("key.checkpoint")
    assert kept.stat().st_mode & 0o777 == 0o600
    assert Checkpoint.parse(Note.parse(kept.read_bytes()).text).size > 10
    shutil.rmtree(data)
    (tmp_path / "old").rename(data)
    async with running(data) as (server, _):
        bot = await node.bot(replace(joins[0], address=server.address), "--key", str(key))
        code, _, err = await ended(bot)
        assert (code, err.startswith("SET_ASIDE: ")) == (1, True), err
        assert list(server.live_games.aside) == [bytes.fromhex(created.game.id)]


def test_what_it_keeps_is_held_against_the_game(node: Node) -> None:
    """A damaged or foreign file counts as none. The referee may be one that compares nothing."""
    stranger = CheckpointSigner(SIGNER.verifier.name, PrivateKey.generate())
    root = Checkpoint.parse(Note.parse(note(9)).text).root
    cases = {
        "nothing": (b"", ENTRIES[:9]),
        "an older one": (note(4), ENTRIES[:9]),
        "the newest": (note(9), ENTRIES[:9]),
        "entries are lost": (note(9), ENTRIES[:5]),
        "another history": (note(4, root=bytes(32)), ENTRIES[:9]),
        "declared": (note(9), declaring(4, copied_ms=1, declared_ms=2)),
        "declared by name": (note(9), declaring(4, lost_size=9, lost_root=root)),
        "another loss": (note(9), declaring(4, lost_size=8, lost_root=bytes(32))),
        "no note": (b"nonsense", ENTRIES[:5]),
        "half a note": (note(9)[:60], ENTRIES[:5]),
        "of another game": (note(9, game="0" * 32), ENTRIES[:5]),
        "of somebody else": (note(9, stranger), ENTRIES[:5]),
    }
    program = """
        import { readFileSync } from "node:fs";
        import { Ledger, parseVerifier } from "./log.mjs";
        const { game, verifier, cases } = JSON.parse(readFileSync(0));
        const bytes = (text) => Buffer.from(text, "base64");
        const told = ({ before, entries, checkpoint }) => {
          try {
            const ledger = new Ledger(bytes(game), verifier && parseVerifier(verifier), bytes(before));
            ledger.take({ entries: entries.map(bytes), checkpoint: bytes(checkpoint) }, entries.length - 1);
            ledger.compare();
            return ledger.checkpoint.equals(bytes(checkpoint)) ? "" : "keeps an older one";
          } catch (error) {
            return error.message;
          }
        };
        console.log(JSON.stringify(cases.map(told)));
    """

    def text(data: bytes) -> str:
        return b64encode(data).decode()

    given = [
        {"before": text(before), "entries": [*map(text, entries)], "checkpoint": text(note_of(entries))}
        for before, entries in cases.values()
    ]
    question = {"game": text(bytes.fromhex(GAME)), "verifier": str(SIGNER.verifier), "cases": given}
    told = json.loads(node.command("--input-type=module", "--eval", program, stdin=json.dumps(question)))
    ending = "and the log does not declare a loss; ask the organiser"
    assert {name: words for name, words in zip(cases, told, strict=True) if words} == {
        "entries are lost": f"the referee has 5 entries, and had signed 9, {ending}",
        "another history": f"the referee signed another history of 4 entries before, {ending}",
        "another loss": f"the referee has 5 entries, and had signed 9, {ending}",
    }


async def test_over_tls(node: Node, tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    pair = authority.issue("referee")
    async with running(tmp_path / "data", certificates=Certificates(Tls(pair.certificate, pair.key))) as (server, _):
        # By name: Node warns of certificates that are for an IP address.
        address = f"grpcs://{server.address.replace('127.0.0.1', 'localhost')}"
        token = server.data.token_path.read_text().strip()
        async with organiser(address, token, Security(ca=authority.path)) as organising:
            opened = await organising.open_game("kingdomino", 2)
        stranger = await ended(await node.bot(opened.joins[0], "--patience", "0"))
        assert stranger[0] == 1, "nobody vouches for the referee"
        bots = [await node.bot(join, "--tls-ca", str(authority.path)) for join in opened.joins]
        (code, first, err), (_, second, _) = await asyncio.gather(*map(ended, bots))
        assert (code, err) == (0, "")
        assert json.loads(first)["scores"] == json.loads(second)["scores"]


async def test_who_has_asked_too_much_waits_as_long_as_it_is_told(node: Node, tmp_path: Path) -> None:
    async with running(tmp_path / "data", requests_per_s=0.5) as (server, client):
        created = await client.create(2, rules_id="kingdomino")
        joins = [Join(server.address, created.game.id, seat, token) for seat, token in enumerate(created.seat_tokens)]
        asked = [
            client.games.GetGame(pb.GetGameRequest(game_id=created.game.id), metadata=bearer(joins[0].token))
            for _ in range(20)
        ]
        answers = await asyncio.gather(*asked, return_exceptions=True)
        assert "limit reached: requests" in str(answers), "nothing is left for its stream"
        bot = await node.bot(joins[0], "--seed", "1")
        other = await play_async(joins[1], load("greedy", "kingdomino"))
        code, out, err = await ended(bot)
        assert (code, err) == (0, "")
        assert tuple(json.loads(out)["scores"]) == other.scores


async def reached(referee: Referee, opened: Opened, size: int) -> None:
    """Play until the game has ``size`` entries."""
    async with grpc.aio.insecure_channel(referee.address) as channel:
        stub: Any = game_service_pb2_grpc.GameServiceStub(channel)
        async for message in stub.WatchGame(
            pb.WatchGameRequest(game_id=opened.game_id, after_seq=-1), wait_for_ready=True
        ):
            assert not message.HasField("closing"), "the game was over before it was disturbed"
            if message.seq >= size - 1:
                return


async def test_the_example_of_the_readme(referee: Referee, node: Node) -> None:
    """A running game is listed, and its file is fetched as far as it has come."""
    (example,) = re.findall(r"```js\n(.*?)```", (SOURCE / "README.md").read_text(), re.DOTALL)
    (node.folder / "list.mjs").write_text(example)
    opened = await open_game(referee, 2)
    players = [asyncio.create_task(play_async(join, load("random"))) for join in opened.joins]
    await reached(referee, opened, 10)
    for player in players:
        player.cancel()
    await asyncio.gather(*players, return_exceptions=True)
    done = await asyncio.to_thread(node.command, "list.mjs", referee.address)
    first = done.splitlines()[0].split()
    assert (first[0], int(first[1]) >= 10) == (opened.game_id, True)
    with (node.folder / f"{opened.game_id}.gamelog").open("rb") as file:
        report = audit(file, Policy(VerifierKey.parse(opened.verifier)))
    assert report.verdict is Verdict.PREFIX, report.as_text()


FAILURES: dict[str, tuple[dict[str, Any], list[str], int, str]] = {
    "seat": ({"seat": 1}, [], 1, "PERMISSION_DENIED: the token is for seat 0"),
    "token": ({"token": "A" * 43}, [], 1, "UNAUTHENTICATED: unknown token"),
    "address": ({"address": "127.0.0.1:1"}, ["--patience", "0"], 1, "no answer from 127.0.0.1:1"),
    "game": ({"game_id": "?"}, [], 2, "not a join string"),
    "clear": (
        {"address": "192.0.2.1:1"},
        [],
        2,
        "must not be sent there without TLS; expected grpcs://192.0.2.1:1, or --insecure",
    ),
    "certificate": (
        {"address": "grpcs://localhost:1"},
        ["--tls-cert", "package.json"],
        2,
        "--tls-cert and --tls-key go together",
    ),
    "tls": ({"address": "grpcs://127.0.0.1:1"}, ["--patience", "0"], 1, "no answer from grpcs://127.0.0.1:1"),
    "verifier": ({}, ["--verifier", "referee+1+2"], 2, "--verifier: not a verifier key"),
    "key": ({}, ["--key", "package.json"], 2, "--key package.json: "),
    "seed": ({}, ["--seed", "x"], 2, "--seed x: expected a number"),
    "option": ({}, ["--strategy", "best"], 2, "'--strategy'"),
    "another key": (
        {},
        ["--verifier", str(CheckpointSigner("referee.local", PrivateKey.generate()).verifier)],
        4,
        "not signed by referee.local",
    ),
}


@pytest.mark.parametrize(
    ("change", "words", "code", "said"),
    sample_of([pytest.param(*case, id=name) for name, case in FAILURES.items()], 6),
)
async def test_how_it_fails(
    referee: Referee, node: Node, change: dict[str, Any], words: list[str], code: int, said: str
) -> None:
    opened = await open_game(referee, 2)
    bot = await node.bot(replace(opened.joins[0], **change), *words)
    found, out, err = await ended(bot)
    assert (found, out) == (code, "")
    assert said in err
    assert len(err.splitlines()) == 1
    assert opened.joins[0].token not in err


def test_what_it_signs_is_what_the_vectors_say(node: Node) -> None:
    vectors = json.loads((VECTORS / "intents.json").read_text())
    keys = json.loads((VECTORS / "keys.json").read_text())
    program = """
        import { createPrivateKey } from "node:crypto";
        import { readFileSync } from "node:fs";
        import { publicBytes, signedAct, signedBytes } from "./log.mjs";
        const { seed, join, move, gameId, seat } = JSON.parse(readFileSync(0));
        const hex = (text) => Buffer.from(text, "hex");
        const key = createPrivateKey({
          key: Buffer.concat([hex("302e020100300506032b657004220420"), hex(seed)]), format: "der", type: "pkcs8",
        });
        const place = { gameId: hex(gameId), size: 7, head: Buffer.alloc(32, 7) };
        const joined = signedAct(place, 0, key, { join: { key: publicBytes(key), commitment: hex(join) } });
        const moved = signedAct(place, seat, key, { move: hex(move) });
        console.log(JSON.stringify([joined.intent, joined.signature, moved.intent, signedBytes(moved.intent),
          moved.signature].map((bytes) => bytes.toString("hex"))));
    """
    join, move = bytes.fromhex(vectors["join_body"]), bytes.fromhex(vectors["move_body"])
    given = {
        "seed": keys["seat_seed"],
        "join": join[-32:].hex(),
        "move": move[-3:].hex(),
        "seat": 1,
        "gameId": join[2:18].hex(),
    }
    names = ("join_body", "join_signature", "move_body", "move_pae", "move_signature")
    assert json.loads(node.command("--input-type=module", "--eval", program, stdin=json.dumps(given))) == [
        vectors[name] for name in names
    ]


def test_it_reads_the_moves_of_every_game(node: Node) -> None:
    moves = {
        "alhambra": alhambra_pb2.Move(reserve_tile=alhambra_pb2.ReserveTile(tile="tower-9")),
        "kingdomino": kingdomino_pb2.Move(choose_domino=kingdomino_pb2.ChooseDomino(domino=48)),
        "rollwrite": rollwrite_pb2.Move(build=rollwrite_pb2.Build(blue=3, yellow=5)),
    }
    assert list(moves) == list(registry.names())
    program = """
        import { readFileSync } from "node:fs";
        import { decode } from "./protocol.mjs";
        const read = ([game, move]) => decode(`referee.${game}.v1.Move`, Buffer.from(move, "hex"));
        console.log(JSON.stringify(Object.entries(JSON.parse(readFileSync(0))).map(read)));
    """
    given = json.dumps({game: move.SerializeToString().hex() for game, move in moves.items()})
    assert json.loads(node.command("--input-type=module", "--eval", program, stdin=given)) == [
        {"reserve_tile": {"tile": "tower-9"}, "move": "reserve_tile"},
        {"choose_domino": {"domino": 48}, "move": "choose_domino"},
        {"build": {"blue": 3, "yellow": 5}, "move": "build"},
    ]


_TAKES = """
    import { readFileSync } from "node:fs";
    import { Distrust, Ledger, parseVerifier } from "./log.mjs";
    const hex = (text) => Buffer.from(text, "hex");
    const { cases, checkpoint, last } = JSON.parse(readFileSync(0));
    console.log(JSON.stringify(cases.map(([entries, key, gameId]) => {
      try {
        const sent = { entries: entries.map(hex), checkpoint: hex(checkpoint) };
        new Ledger(hex(gameId), parseVerifier(key)).take(sent, last);
        return "taken";
      } catch (error) {
        if (error instanceof Distrust) return error.message;
        throw error;
      }
    })));
"""


def test_what_its_ledger_takes_and_what_not(node: Node) -> None:
    """The entries of the vectors' file, whole; then with a bit flipped, one left out, another key or another game."""
    vector = json.loads((VECTORS / "file.json").read_text())
    entries, checkpoint = frames(bytes.fromhex(vector["file"]))
    other = str(CheckpointSigner("referee.example", PrivateKey.generate()).verifier)

    def flipped(at: int) -> list[bytes]:
        return [*entries[:at], bytes([*entries[at][:-1], entries[at][-1] ^ 1]), *entries[at + 1 :]]

    key, game_id, zeros, last = vector["verifier_key"], vector["game_id"], "00" * 16, len(entries) - 1
    unfit = f"the checkpoint of {last + 1} entries does not fit the {last + 1} that were sent"
    cases = [
        (entries, key, game_id, "taken"),
        (flipped(5), key, game_id, "entry 6 does not follow the one before"),
        (entries[:5] + entries[6:], key, game_id, "entry 5 does not follow the one before"),
        (entries[:-1], key, game_id, f"entry {last} is missing: the stream is at {last}"),
        (flipped(last), key, game_id, unfit),
        ([*entries[:last], b"?"], key, game_id, f"entry {last} is none"),
        (entries, other, game_id, "a checkpoint is not signed by referee.example"),
        (entries, key, zeros, "entry 0 does not follow the one before"),
    ]
    asked = [([entry.hex() for entry in taken], key, game) for taken, key, game, _ in cases]
    given = json.dumps({"cases": asked, "checkpoint": checkpoint.hex(), "last": last})
    told = json.loads(node.command("--input-type=module", "--eval", _TAKES, stdin=given))
    assert told == [said for *_, said in cases]


def frames(data: bytes) -> tuple[list[bytes], bytes]:
    """Return the entries and the last checkpoint of a file: docs/log-format.md, section 7."""
    at, found = 10, dict[int, list[bytes]]()
    while at < len(data):
        length, kind = int.from_bytes(data[at : at + 4], "big"), data[at + 4]
        found.setdefault(kind, []).append(data[at + 5 : at + 5 + length])
        at += 9 + length
    return found[2], found[3][0]
