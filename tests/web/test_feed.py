"""The browser's own check of a live game, against a gateway that lies: each lie is caught, by its name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pytest

from referee.log import intent, merkle
from referee.log.entry import decode_entry
from referee.log.file import MAGIC, FrameType, encode_frame
from referee.log.intent import Place
from referee.log.v1 import log_pb2
from tests.log import evil
from tests.log.games import SIGNER, key
from tests.log.verify_js import NAMES, why_not
from tests.web.feed import LIES, OTHER, Commit, _forked, b64, gateway, lies_in_a_log, opening, other, place, signed
from tests.web.static import run

# Each job is the life of one feed. It prints its state after every step; one that was refused must not have changed it.
_FEEDS = """
import { readFileSync } from "node:fs";
import assert from "node:assert/strict";
const { Feed, Lie } = await import(`${STATIC}/feed.mjs`);
const bytes = (digits) => new Uint8Array(Buffer.from(digits, "base64"));
const all = (several) => several && several.map(bytes);
const read = ({ entries, checkpoint }, positions) => {
  return { entries: all(entries), checkpoint: checkpoint && bytes(checkpoint), positions: all(positions) };
};
const state = (feed) => {
  const { head } = feed;
  const positions = feed.entries.map((_, n) => feed.positionAt(n));
  if (head) for (const name of ["leaf", "checkpoint"]) head[name] = Buffer.from(head[name]).toString("base64");
  return { head, positions, events: feed.entries.map(({ event }) => event) };
};
const life = async ({ key, game, receipts, steps }) => {
  const feed = new Feed({ verifierKey: key, gameId: game, receipts: all(receipts) });
  const found = [];
  for (const { open, commit, again, positions } of steps) {
    const before = state(feed);
    try {
      if (again !== undefined) await feed.again(bytes(again));
      else if (open !== undefined) await feed.open(bytes(open), all(positions));
      else await feed.commit(read(commit, positions));
      assert.equal(feed.lie, null);
      found.push(state(feed));
    } catch (error) {
      assert.deepEqual(state(feed), before);
      if (error instanceof TypeError && commit && !commit.checkpoint) {
        found.push({ thrown: error.name });
        continue;
      }
      if (!(error instanceof Lie)) throw error;
      assert.equal(feed.lie, error);
      assert.ok(error.evidence.log ?? error.evidence.checkpoint);
      found.push({ reason: error.reason, entry: error.entry, message: error.message, size: before.head?.size ?? 0 });
    }
  }
  return found;
};
const found = [];
for (const job of JSON.parse(readFileSync(0))) found.push(await life(job));
console.log(JSON.stringify(found));
"""


@pytest.fixture(autouse=True)
def _node() -> None:
    if why := why_not():
        pytest.skip(why)


@dataclass
class Job:
    steps: list[dict[str, Any]]
    receipts: list[bytes] = field(default_factory=list)
    game: str | None = None

    def asked(self) -> dict[str, Any]:
        asked = {"key": str(SIGNER.verifier), "receipts": list(map(b64, self.receipts)), "steps": self.steps}
        return asked | {"game": self.game}


def lived(*jobs: Job) -> list[list[dict[str, Any]]]:
    """Return the messages of each feed after each of its steps."""
    return list(run(_FEEDS, [job.asked() for job in jobs]))


# --- the truth -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules_id", NAMES)
@pytest.mark.parametrize(
    "name",
    [
        "dealt",
        *(pytest.param(name, marks=pytest.mark.long) for name in ("contested", "corrected", "changed", "undealt")),
    ],
)
def test_honest_game(rules_id: str, name: str) -> None:
    """Watched from its first entry, from its middle, replayed; opened again after a break, with receipts."""
    honest = gateway(rules_id, name)
    size, middle = honest.size, honest.size // 2
    at = [*range(1, size, 3), size]
    watched = [honest.opening(1), *(honest.commit(*each).step() for each in pairwise(at))]
    whole = opening(honest.played.file(), honest.positions)
    broken = [honest.opening(1), honest.opening(middle), honest.commit(middle, size).step(), whole]
    receipts = [honest.notes[0], honest.notes[middle], honest.notes[-1]]
    for told in lived(Job(watched), Job([whole], receipts), Job(broken)):
        assert "reason" not in told[-1], told[-1]
        assert told[-1]["positions"] == honest.told
        assert told[-1]["events"] == [decode_entry(entry).WhichOneof("event") for entry in honest.entries]
        assert told[-1]["head"] == {
            "gameId": honest.played.record.game_id.hex(),
            "size": size,
            "leaf": b64(merkle.leaf_hash(honest.entries[-1])),
            "checkpoint": b64(honest.notes[-1]),
        }


def test_without_positions_there_are_none() -> None:
    """A log can be opened first: then what its commits bring is there, and what they do not bring is not."""
    honest, n = gateway("kingdomino"), gateway("kingdomino").size // 2
    ((opened, committed),) = lived(Job([opening(honest.running(n)), honest.commit(n, n + 1).step()]))
    assert opened["positions"] == [None] * n
    assert committed["positions"][n] == honest.told[n]
    assert None in committed["positions"][:n]


def test_positions_are_kept_when_the_log_is_opened_again() -> None:
    honest, n = gateway("kingdomino"), 20
    ((_, again),) = lived(Job([honest.opening(n), opening(honest.running(n + 1))]))
    assert again["positions"][:n] == honest.told[:n]


def test_a_callers_mistake_changes_nothing() -> None:
    """Half a commit, in which a stranger takes a seat: it is no lie yet, and the game continues without it."""
    honest = gateway("alhambra")
    entry = decode_entry(honest.entries[1])
    here = Place(honest.played.record.game_id, 1, merkle.leaf_hash(honest.entries[0]))
    seat = log_pb2.Intent.FromString(entry.signed.intent).seat
    joined = intent.join(here, seat, key("a stranger"), bytes(32))
    entry.signed.intent, entry.signed.signature, entry.signed.key_id = joined.intent, joined.signature, joined.key_id
    half = Commit([entry.SerializeToString(deterministic=True)], b"", honest.positions[1:2]).step()
    del half["commit"]["checkpoint"]
    steps = [honest.opening(1), half, *(honest.commit(at, at + 1).step() for at in range(1, honest.size))]
    ((_, mistake, *_, last),) = lived(Job(steps))
    assert mistake == {"thrown": "TypeError"}
    assert last["head"]["size"] == honest.size


def test_steps_at_once_are_taken_one_by_one() -> None:
    honest, n = gateway("rollwrite"), 8
    script = _FEEDS.partition("const life")[0] + (
        "const [{ open }, ...commits] = JSON.parse(readFileSync(0)).steps;\n"
        "const feed = new Feed({ verifierKey: KEY });\n"
        "const opened = feed.open(bytes(open));\n"
        "const steps = commits.map(({ commit, positions }) => feed.commit(read(commit, positions)));\n"
        "await Promise.all([opened, ...steps]);\n"
        "console.log(JSON.stringify(feed.head.size));\n"
    )
    commits = [honest.commit(at, at + 1).step() for at in range(n, n + 4)]
    steps = {"steps": [opening(honest.running(n)), *commits]}
    assert run(f"const KEY = {str(SIGNER.verifier)!r};\n{script}", steps) == n + 4


# --- lies in a commit ----------------------------------------------------------------------------------------------


def test_lies_in_a_commit() -> None:
    honest, n = gateway("alhambra"), place()
    jobs = []
    for lie, _, _ in LIES.values():
        commit = honest.commit(n, n + 3)
        lie(honest, n, commit)
        assert commit != honest.commit(n, n + 3)
        jobs.append(Job([honest.opening(n), commit.step(), honest.commit(n, n + 3).step()]))
    jobs.append(Job([honest.opening(n), honest.commit(n, n + 3).step()]))
    *found, truth = lived(*jobs)
    assert truth[-1]["head"]["size"] == n + 3
    caught = {name: told[1].get("reason") for name, told in zip(LIES, found, strict=True)}
    assert caught == {name: reason for name, (_, reason, _) in LIES.items()}
    at = {name: told[1]["entry"] for name, told in zip(LIES, found, strict=True)}
    expected = {name: None if which is None else n + which for name, (_, _, which) in LIES.items()}
    assert at == expected
    for told in found:
        assert told[1]["size"] == n
        assert told[2] == told[1], "a feed that was lied to goes on"


def test_lies_about_what_players_signed() -> None:
    """With the referee's key, and not the players': a Join, a Reveal and a move that their seats did not sign."""
    honest = gateway("rollwrite")

    def forged(n: int, change: Callable[[log_pb2.Intent], None], *, players: bool) -> Job:
        entries = [decode_entry(entry) for entry in honest.entries[: n + 1]]
        act = log_pb2.Intent.FromString(entries[n].signed.intent)
        change(act)
        entries[n].signed.intent = act.SerializeToString(deterministic=True)
        leaves = evil.relinked(entries, players=players)
        commit = Commit(leaves[n:], signed(leaves), honest.positions[n : n + 1])
        return Job([honest.opening(n), commit.step()])

    def reveals(act: log_pb2.Intent) -> None:
        act.reveal.seed = bytes(32)

    def moves(act: log_pb2.Intent) -> None:
        act.move = log_pb2.Intent.FromString(decode_entry(honest.entries[later]).signed.intent).move

    def exchanged(act: log_pb2.Intent) -> None:
        act.seat = 1 - act.seat

    def stranger(act: log_pb2.Intent) -> None:
        act.scribe = 3

    acts = [log_pb2.Intent.FromString(decode_entry(entry).signed.intent).WhichOneof("act") for entry in honest.entries]
    reveal = acts.index("reveal")
    move, later = [at for at, act in enumerate(acts) if act == "move"][:2]
    jobs = {
        ("AUTHOR_SIGNATURE", move): forged(move, moves, players=False),
        ("AUTHOR_SIGNATURE", reveal): forged(reveal, exchanged, players=False),
        ("DECK", reveal): forged(reveal, reveals, players=True),
        ("AUTHOR", move): forged(move, stranger, players=True),
    }
    assert [(told["reason"], told["entry"]) for _, told in lived(*jobs.values())] == list(jobs)


# --- lies in a log -------------------------------------------------------------------------------------------------


def test_lies_in_a_log() -> None:
    honest, n = gateway("alhambra"), 20
    lies = lies_in_a_log(n)
    found = lived(*(Job([step, honest.opening(n)]) for step, _, _ in lies.values()))
    caught = {name: (told[0].get("reason"), told[0].get("entry")) for name, told in zip(lies, found, strict=True)}
    assert caught == {name: (reason, at) for name, (_, reason, at) in lies.items()}
    assert all(told[1] == told[0] and told[0]["size"] == 0 for told in found)


def test_lies_about_what_was_seen_before() -> None:
    """Opened again after a break, or with receipts of an earlier visit; each log is whole in itself and signed."""
    honest, n = gateway("alhambra"), 20
    frames = evil.frames(honest.running(n))
    leaves = _forked(honest, n + 5)
    forked = [encode_frame(FrameType.ENTRY, entry) for entry in leaves]
    fork = MAGIC + b"".join([frames[0], *forked, encode_frame(FrameType.OLD_CHECKPOINT, signed(leaves))])
    logs = {"STALE": (honest.running(n - 1), None), "FORK": (fork, n - 1), "WRONG_GAME": (other().running(n), None)}
    jobs, expected = [], []
    for reason, (log, at) in logs.items():
        jobs.append(Job([honest.opening(n), opening(log)]))
        jobs.append(Job([honest.opening(n - 3), honest.commit(n - 3, n).step(), opening(log)]))
        jobs.append(Job([opening(log)], [honest.notes[n - 1]]))
        # A reader who has seen nothing cannot tell.
        jobs.append(Job([opening(log)]))
        expected += [(reason, at)] * 3 + [(None, None)]
    jobs.append(Job([opening(honest.running(n))], [signed(honest.entries[:n], OTHER)]))
    expected.append(("UNTRUSTED_KEY", None))
    assert [(told[-1].get("reason"), told[-1].get("entry")) for told in lived(*jobs)] == expected


def test_what_comes_again_is_of_what_is_known() -> None:
    """Entries come again after a break. The rest of the message is not looked at, and not shown."""
    honest, n = gateway("alhambra"), 20
    known = honest.opening(n)
    lies = {
        ("FORK", 9): signed(_forked(honest, 10)),
        ("FORK", n - 1): signed(_forked(honest, n)),
        ("WRONG_GAME", None): other().notes[3],
        ("UNTRUSTED_KEY", None): signed(honest.entries[:n], OTHER),
        ("STALE", None): honest.notes[n],
    }
    truth, *told = lived(*(Job([known, {"again": b64(note)}]) for note in [honest.notes[5], *lies.values()]))
    assert truth[1] == truth[0]
    assert [(each[1]["reason"], each[1]["entry"]) for each in told] == list(lies)


def test_a_file_has_to_be_of_the_game_that_was_asked_for() -> None:
    honest = gateway("alhambra")
    game = honest.played.record.game_id.hex()
    for wanted, reason in ((game, None), ("0" * 32, "WRONG_GAME")):
        ((told,),) = lived(Job([honest.opening(5)], game=wanted))
        assert told.get("reason") == reason
