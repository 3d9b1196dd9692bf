"""An event that a page follows: it grows commit by commit, and stops at an act that breaks a rule, though signed."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from referee.log.entry import decode_entry
from referee.log.file import MAGIC, FrameType, encode_frame
from referee.log.intent import game_id
from referee.log.merkle import leaf_hash, root
from referee.log.verdict import Policy
from referee.tournament.check import check_event
from tests.core import needs_source
from tests.log import evil
from tests.log.games import SIGNER
from tests.log.verify_js import why_not
from tests.tournament import faults
from tests.tournament.verify_js import written
from tests.web.static import run

# One feed: the file of a beginning, then commits. Says after each how many entries hold, and what stopped it.
_FEED = """
import { readFileSync } from "node:fs";
const { Feed, Lie } = await import(`${STATIC}/feed.mjs`);
const { EventAudit } = await import(`${STATIC}/verify/event_audit.mjs`);
const bytes = (digits) => new Uint8Array(Buffer.from(digits, "base64"));
const { key, log, commits } = JSON.parse(readFileSync(0));
const feed = new Feed({ verifierKey: key, audits: EventAudit });
const found = [];
const step = async (work) => {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Lie)) throw error;
  }
  const { phase = -1, rounds = [] } = feed.followed?.state ?? {};
  const lie = feed.lie && [feed.lie.reason, feed.lie.entry];
  found.push({ size: feed.head?.size ?? 0, phase, rounds: rounds.length, lie });
};
await step(() => feed.open(bytes(log)));
for (const { entries, checkpoint } of commits) {
  await step(() => feed.commit({ entries: entries.map(bytes), checkpoint: bytes(checkpoint), positions: [] }));
}
console.log(JSON.stringify(found));
"""


@pytest.fixture(autouse=True)
def _node() -> None:
    if why := why_not():
        pytest.skip(why)


def text(data: bytes) -> str:
    return b64encode(data).decode()


def head(entries: list[bytes]) -> bytes:
    identity = game_id(decode_entry(entries[0]).open)
    return SIGNER.sign(identity, len(entries), root([leaf_hash(entry) for entry in entries]))


def followed(path: Path, begins: int, each: int) -> list[dict[str, Any]]:
    """Return a feed's messages of an event that opens with ``begins`` entries and grows by ``each`` at a time."""
    frames = evil.frames(path.read_bytes())
    entries = [frame[5:-4] for frame in frames if frame[4] == FrameType.ENTRY]
    log = MAGIC + b"".join(frames[: 1 + begins]) + encode_frame(FrameType.OLD_CHECKPOINT, head(entries[:begins]))
    commits = [
        {"entries": [text(entry) for entry in entries[at : at + each]], "checkpoint": text(head(entries[: at + each]))}
        for at in range(begins, len(entries), each)
    ]
    asked = {"key": str(SIGNER.verifier), "log": text(log), "commits": commits}
    found: list[dict[str, Any]] = run(_FEED, asked)
    return found


def entry_of(path: Path, rule: str) -> int:
    """Where ``referee event check`` finds the rule broken."""
    found = check_event(path, Policy(SIGNER.verifier), None, Policy())
    assert f"({rule}: " in found.broken
    assert found.audit.decisive is not None
    assert found.audit.decisive.entry is not None
    return found.audit.decisive.entry


@needs_source
def test_it_goes_on_up_to_the_act_that_breaks_a_rule(tmp_path: Path) -> None:
    """Acts shown before stay, and none after it is taken."""
    planted = faults.PLANTED["a-wrong-vector"]
    path = planted.file(tmp_path)
    broken = entry_of(path, planted.rule)
    found = followed(path, begins=4, each=3)
    good = [step for step in found if step["lie"] is None]
    assert [step["size"] for step in good] == list(range(4, broken + 1, 3))
    assert good[-1]["rounds"] == 2
    stopped = found[len(good) :]
    assert stopped
    assert all(step == {**good[-1], "lie": ["PAIRING", broken]} for step in stopped)
    # Opened with the act in it, nothing is shown at all.
    nothing = {"size": 0, "phase": -1, "rounds": 0, "lie": ["PAIRING", broken]}
    assert followed(path, begins=broken + 1, each=500) == [nothing, nothing]


def test_a_whole_event_is_followed(tmp_path: Path) -> None:
    path = written(tmp_path, 2, 8, rounds=2)
    found = followed(path, begins=1, each=4)
    assert all(step["lie"] is None for step in found)
    assert (found[-1]["phase"], found[-1]["rounds"]) == (3, 2)
