"""The browser's own check of a live game, against a gateway that lies: each lie is caught, by its name."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from itertools import pairwise
from typing import Any

import pytest

from referee.log import intent, merkle
from referee.log.entry import decode_entry
from referee.log.frames import MAGIC, FrameType, encode_frame
from referee.log.intent import Place
from referee.log.note import CheckpointSigner
from referee.log.replay import Record
from referee.log.v1 import log_pb2
from tests.log import evil, seated
from tests.log.games import ORIGIN, SIGNER, Played, key
from tests.log.verify_js import NAMES, dealt, flipped, why_not
from tests.web.described import described
from tests.web.static import run

# Each job is the life of one feed. It tells its state after every step; one that was refused must not have changed it.
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
OTHER = CheckpointSigner(ORIGIN, key("another referee"))
STRANGER = CheckpointSigner("elsewhere.example", key("referee"))


@pytest.fixture(autouse=True)
def _node() -> None:
    if why := why_not():
        pytest.skip(why)


def b64(data: bytes) -> str:
    return b64encode(data).decode()


@dataclass
class Commit:
    """What a gateway hands on of one commit; a liar changes it."""

    entries: list[bytes]
    checkpoint: bytes
    positions: list[bytes]

    def step(self) -> dict[str, Any]:
        commit = {"entries": list(map(b64, self.entries)), "checkpoint": b64(self.checkpoint)}
        return {"commit": commit, "positions": list(map(b64, self.positions))}


@dataclass
class Job:
    steps: list[dict[str, Any]]
    receipts: list[bytes] = field(default_factory=list)
    game: str | None = None

    def asked(self) -> dict[str, Any]:
        asked = {"key": str(SIGNER.verifier), "receipts": list(map(b64, self.receipts)), "steps": self.steps}
        return asked | {"game": self.game}


def lived(*jobs: Job) -> list[list[dict[str, Any]]]:
    """What each feed tells after each of its steps."""
    return list(run(_FEEDS, [job.asked() for job in jobs]))


def opening(log: bytes, positions: list[bytes] | None = None) -> dict[str, Any]:
    return {"open": b64(log), "positions": None if positions is None else list(map(b64, positions))}


class Gateway:
    """An honest one, with all that it has to hand on."""

    def __init__(self, played: Played) -> None:
        self.played, self.entries, self.notes = played, played.entries, played.notes
        self.size = len(self.entries)
        self.positions: list[bytes] = []
        self.told: list[Any] = []
        record = Record(decode_entry(self.entries[0]).open)
        for entry in self.entries:
            record.reread(entry)
            state: Any = record.game.position.state
            self.positions.append(state.encode())
            self.told.append(described(record.opened.rules_id, state))

    def running(self, size: int, note: bytes | None = None) -> bytes:
        """The file of the game while it had so many entries, as the referee hands it out."""
        frames = evil.frames(self.played.file())[: 1 + size]
        return MAGIC + b"".join(frames) + encode_frame(FrameType.OLD_CHECKPOINT, note or self.notes[size - 1])

    def opening(self, size: int) -> dict[str, Any]:
        return opening(self.running(size), self.positions[:size])

    def commit(self, first: int, last: int) -> Commit:
        return Commit(self.entries[first:last], self.notes[last - 1], self.positions[first:last])


@cache
def gateway(rules_id: str, name: str = "dealt") -> Gateway:
    return Gateway(dealt(rules_id) if name == "dealt" else seated.of(rules_id, name))


def root(entries: list[bytes]) -> bytes:
    return merkle.root([merkle.leaf_hash(entry) for entry in entries])


def signed(entries: list[bytes], signer: CheckpointSigner = SIGNER) -> bytes:
    """A checkpoint over these entries."""
    return signer.sign(sha256(decode_entry(entries[0]).open).digest()[:16], len(entries), root(entries))


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
    """Half a commit, in which a stranger takes a seat: it is no lie yet, and the game goes on without it."""
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


@cache
def other() -> Gateway:
    """Of another game by the same rules."""
    return gateway("alhambra", "contested")


# --- lies in a commit ----------------------------------------------------------------------------------------------

LieOf = Callable[[Gateway, int, Commit], object]


def _replaced(position: Callable[[Gateway, int], bytes]) -> LieOf:
    def lie(honest: Gateway, n: int, commit: Commit) -> None:
        commit.positions[0] = position(honest, n)

    return lie


def _edited(at: int, edit: Callable[[log_pb2.Entry], object]) -> LieOf:
    """One entry is altered, and those after it are linked to what it now is."""

    def lie(honest: Gateway, n: int, commit: Commit) -> None:
        entries = [decode_entry(entry) for entry in [*honest.entries[:n], *commit.entries]]
        edit(entries[n + at])
        commit.entries[:] = evil.relinked(entries)[n:]

    return lie


def _noted(note: Callable[[Gateway, int, Commit], bytes]) -> LieOf:
    def lie(honest: Gateway, n: int, commit: Commit) -> None:
        commit.checkpoint = note(honest, n, commit)

    return lie


def _forked(honest: Gateway, size: int) -> list[bytes]:
    """Another history, in which the clock ran otherwise from entry 1 on, and everybody signed."""
    entries = [decode_entry(entry) for entry in honest.entries[:size]]
    for entry in entries[1:]:
        entry.referee_ms += 1
    return evil.relinked(entries, players=True)


def _dishonest(at: int, edit: Callable[[log_pb2.Entry], object], position: bytes | None = None) -> LieOf:
    """With the referee's key and everybody's: only what the rules need no rules for can still be wrong."""

    def lie(honest: Gateway, n: int, commit: Commit) -> None:
        entries = [decode_entry(entry) for entry in [*honest.entries[:n], *commit.entries]]
        edit(entries[n + at])
        leaves = evil.relinked(entries, players=True)
        commit.entries[:], commit.checkpoint = leaves[n:], signed(leaves)
        if position is not None:
            commit.positions[at] = position

    return lie


def _fork_goes_on(honest: Gateway, n: int, commit: Commit) -> None:
    leaves = _forked(honest, n + len(commit.entries))
    commit.entries[:], commit.checkpoint = leaves[n:], signed(leaves)


def _added(honest: Gateway, n: int, commit: Commit) -> None:
    last = commit.entries[-1]
    entry = decode_entry(last)
    ended = log_pb2.Entry(
        game_id=entry.game_id,
        seq=entry.seq + 1,
        prev=merkle.leaf_hash(last),
        referee_ms=entry.referee_ms,
        state_digest=entry.state_digest,
        end=log_pb2.GameEnd(ending=log_pb2.ENDING_ABORTED),
    )
    commit.entries.append(ended.SerializeToString(deterministic=True))
    commit.positions.append(commit.positions[-1])


def _cut(at: int) -> LieOf:
    def lie(honest: Gateway, n: int, commit: Commit) -> None:
        del commit.entries[at], commit.positions[at]

    return lie


def _swapped(items: list[bytes]) -> None:
    items[:2] = items[1::-1]


def _emptied(honest: Gateway, n: int, commit: Commit) -> None:
    commit.entries, commit.positions = [], []


def _seats_exchanged(honest: Gateway, n: int, commit: Commit) -> None:
    """What the first two seats have changes hands; both have no tiles yet."""
    data, head, each = commit.positions[2], 156, 36 + 2 + 8 + 8 + 1
    first, second, rest = data[head : head + each], data[head + each : head + 2 * each], data[head + 2 * each :]
    assert first != second
    assert first[-1] == second[-1] == 0
    commit.positions[2] = data[:head] + second + first + rest


_GARBAGE = b"ALH\x01 but no position"
# What is done, on top of an honest feed of n entries, to the commit of the next three, what it is called, and at which
# of the three (None: at none; below 0: before them). The three are moves and draws of a dealt game.
LIES: dict[str, tuple[LieOf, str, int | None]] = {
    "the position before": (_replaced(lambda g, n: g.positions[n - 1]), "DIGEST", 0),
    "the position after": (_replaced(lambda g, n: g.positions[n + 1]), "DIGEST", 0),
    "the first position": (_replaced(lambda g, n: g.positions[0]), "DIGEST", 0),
    "another seat on turn": (_replaced(lambda g, n: flipped(g.positions[n], 6 * 8)), "DIGEST", 0),
    "seats exchanged": (_seats_exchanged, "DIGEST", 2),
    "one bit of a position": (
        _replaced(lambda g, n: flipped(g.positions[n], len(g.positions[n]) * 8 - 1)),
        "DIGEST",
        0,
    ),
    "a position cut": (_replaced(lambda g, n: g.positions[n][:-1]), "DIGEST", 0),
    "no bytes": (_replaced(lambda g, n: b""), "DIGEST", 0),
    "positions swapped": (lambda g, n, c: _swapped(c.positions), "DIGEST", 0),
    "the last position altered": (lambda g, n, c: c.positions.__setitem__(2, c.positions[1]), "DIGEST", 2),
    "a position left out": (lambda g, n, c: c.positions.pop(), "DIGEST", None),
    "a position too many": (lambda g, n, c: c.positions.append(c.positions[-1]), "DIGEST", None),
    "the first entry left out": (_cut(0), "STALE_HEAD", 0),
    "an entry left out between": (_cut(1), "STALE_HEAD", 1),
    "the last entry left out": (_cut(2), "CHECKPOINT", None),
    "no entries": (_emptied, "CHECKPOINT", None),
    "entries swapped": (lambda g, n, c: _swapped(c.entries), "STALE_HEAD", 0),
    "an entry twice": (lambda g, n, c: c.entries.insert(1, c.entries[0]), "STALE_HEAD", 1),
    "an entry of before": (lambda g, n, c: c.entries.insert(0, g.entries[n - 1]), "STALE_HEAD", 0),
    "an entry added": (_added, "CHECKPOINT", None),
    "the time altered, in the last": (
        _edited(2, lambda e: setattr(e, "referee_ms", e.referee_ms + 1)),
        "CHECKPOINT",
        None,
    ),
    "the digest altered": (_edited(2, lambda e: setattr(e, "state_digest", bytes(32))), "CHECKPOINT", None),
    "the time altered, and linked again": (
        _edited(0, lambda e: setattr(e, "referee_ms", e.referee_ms + 1)),
        "CHECKPOINT",
        None,
    ),
    "bytes after an entry": (lambda g, n, c: c.entries.__setitem__(2, c.entries[2] + b"\xfa\x01\x01x"), "MALFORMED", 2),
    "an entry cut": (lambda g, n, c: c.entries.__setitem__(1, c.entries[1][:-1]), "MALFORMED", 1),
    "an entry too long": (lambda g, n, c: c.entries.__setitem__(0, bytes(32 * 1024 + 1)), "LIMIT", 0),
    "an entry of another game": (lambda g, n, c: c.entries.__setitem__(0, other().entries[n]), "WRONG_GAME", 0),
    "a checkpoint of another key": (_noted(lambda g, n, c: signed(g.entries[: n + 3], OTHER)), "UNTRUSTED_KEY", None),
    "a checkpoint of another name": (
        _noted(lambda g, n, c: signed(g.entries[: n + 3], STRANGER)),
        "UNTRUSTED_KEY",
        None,
    ),
    "a checkpoint with a wrong signature": (
        _noted(lambda g, n, c: c.checkpoint.rpartition(b" ")[0] + b" " + g.notes[n].rpartition(b" ")[2]),
        "NOTE_SIGNATURE",
        None,
    ),
    "a text for a checkpoint": (_noted(lambda g, n, c: b"everything is well\n"), "NOTE", None),
    "an old checkpoint": (_noted(lambda g, n, c: g.notes[n - 1]), "CHECKPOINT", None),
    "the first checkpoint": (_noted(lambda g, n, c: g.notes[0]), "CHECKPOINT", None),
    "a later checkpoint": (_noted(lambda g, n, c: g.notes[n + 3]), "CHECKPOINT", None),
    "a checkpoint of another game": (_noted(lambda g, n, c: other().notes[n + 2]), "WRONG_GAME", None),
    "another history goes on": (_fork_goes_on, "STALE_HEAD", 0),
    "a checkpoint of another history": (_noted(lambda g, n, c: signed(_forked(g, n + 3))), "CHECKPOINT", None),
    "a checkpoint that counts otherwise": (
        _noted(lambda g, n, c: SIGNER.sign(g.played.record.game_id, n + 4, root(g.entries[: n + 3]))),
        "CHECKPOINT",
        None,
    ),
    "an old checkpoint of another history": (_noted(lambda g, n, c: signed(_forked(g, 5))), "FORK", -2),
    "a checkpoint of another history, as long as what is known": (
        _noted(lambda g, n, c: signed(_forked(g, n))),
        "FORK",
        -1,
    ),
    "a signed position that is none": (
        _dishonest(0, lambda e: setattr(e, "state_digest", sha256(_GARBAGE).digest()), _GARBAGE),
        "MALFORMED",
        0,
    ),
    "an event that is not offered": (
        _dishonest(2, lambda e: e.timeout.CopyFrom(log_pb2.Timeout(seat=0))),
        "UNSUPPORTED",
        2,
    ),
}
"""By name."""


@cache
def place() -> int:
    """Where three draws stand, which show new positions. Only the referee signs them, so a liar can link them again."""
    honest = gateway("alhambra")
    events = [decode_entry(entry).WhichOneof("event") for entry in honest.entries]
    return next(
        n
        for n in range(6, honest.size - 4)
        if events[n : n + 3] == ["chance"] * 3 and len(set(honest.positions[n - 1 : n + 3])) == 4
    )


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
    """With the referee's key, and not the players': a Join, a Reveal and a move of somebody who did not sign them."""
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


def lies_in_a_log(n: int) -> dict[str, tuple[dict[str, Any], str, int | None]]:
    """What is delivered of a game of n entries, what it is called, and at which entry it is wrong."""
    honest = gateway("alhambra")
    log, frames = honest.running(n), evil.frames(honest.running(n))
    fork = _forked(honest, n)
    of_fork = MAGIC + b"".join([frames[0], *(encode_frame(FrameType.ENTRY, entry) for entry in fork)])
    old = encode_frame(FrameType.OLD_CHECKPOINT, honest.notes[n - 2])
    positions = honest.positions[:n]
    whole = honest.played.file()
    return {
        "cut in its checkpoint": (opening(log[:-1]), "TORN", None),
        "cut before its checkpoint": (opening(MAGIC + b"".join(frames[:-1])), "CHECKPOINT", 0),
        "cut in an entry": (opening(log[: len(log) // 2]), "TORN", None),
        "an entry left out": (opening(MAGIC + b"".join([*frames[:9], *frames[10:]])), "STALE_HEAD", 8),
        "the last entry left out": (opening(MAGIC + b"".join([*frames[:-2], frames[-1]])), "STALE", None),
        "entries swapped": (
            opening(MAGIC + b"".join([*frames[:9], frames[10], frames[9], *frames[11:]])),
            "STALE_HEAD",
            8,
        ),
        "an old checkpoint": (opening(MAGIC + b"".join(frames[:-1]) + old), "CHECKPOINT", None),
        "a checkpoint of another key": (
            opening(honest.running(n, signed(honest.entries[:n], OTHER))),
            "UNTRUSTED_KEY",
            None,
        ),
        "a checkpoint of another game": (opening(honest.running(n, other().notes[n - 1])), "CHECKPOINT", None),
        "a checkpoint of another history": (opening(honest.running(n, signed(fork))), "CHECKPOINT", n - 1),
        "no checkpoint": (opening(honest.running(n, b"-")), "NOTE", None),
        "another history with the checkpoint of this": (opening(of_fork + frames[-1]), "CHECKPOINT", n - 1),
        "a bit": (opening(flipped(log, 8 * (len(MAGIC) + 40))), "FRAME", 0),
        "nothing": (opening(b""), "TORN", None),
        "no entries": (opening(MAGIC + frames[0]), "CHECKPOINT", None),
        "a position of before": (opening(log, [*positions[:9], positions[7], *positions[10:]]), "DIGEST", 9),
        "too few positions": (opening(log, positions[:-1]), "DIGEST", None),
        "a whole game of another key": (
            opening(honest.played.file(note=signed(honest.entries, OTHER))),
            "UNTRUSTED_KEY",
            None,
        ),
        "a whole game, cut": (opening(whole[:-3]), "TORN", None),
    }


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
        # Nobody who has seen nothing can tell.
        jobs.append(Job([opening(log)]))
        expected += [(reason, at)] * 3 + [(None, None)]
    jobs.append(Job([opening(honest.running(n))], [signed(honest.entries[:n], OTHER)]))
    expected.append(("UNTRUSTED_KEY", None))
    assert [(told[-1].get("reason"), told[-1].get("entry")) for told in lived(*jobs)] == expected


def test_what_comes_again_is_of_what_is_known() -> None:
    """As after a break. What else comes with it is not looked at, and not shown."""
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
