"""``referee log watch --ask-witnesses``: a log that shows each witness another list, as a weak quorum lets it do."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from referee.log import merkle
from referee.log.merkle import leaf_hash
from referee.log.note import TreeHead
from referee.log.public.checkpoint import origin_hash
from referee.log.public.sources import CHECKPOINT
from referee.log.public.tiles import Edge
from referee.log.public.witness import Request, Witness, WitnessFile
from tests.cli.inside import referee
from tests.cli.log import served
from tests.log.consistency import consistency_proof
from tests.log.games import key
from tests.log.public.logs import LOG, leaves, policy, policy_text, publish

NAMES = ("w1", "w2")
OURS, OTHERS = leaves(400), [*leaves(100), *leaves(300, 5000)]


class Club:
    """A log, its two witnesses, what they show, and a watcher."""

    def __init__(self, folder: Path, address: str) -> None:
        self.folder, self.log = folder, folder / "log"
        text = policy_text("any", NAMES)
        for name in NAMES:
            text = re.sub(f"(witness {name} .*)\n", rf"\1 {address}/{name}\n", text)
        (folder / "policy").write_text(text)
        self.kept = {name: WitnessFile.make(folder / f"{name}.db", f"{name}.example", key(name)) for name in NAMES}
        self.witnesses = {name: Witness(file, key(name), policy()) for name, file in self.kept.items()}
        self.signed = dict.fromkeys(NAMES, 0)

    def show(self, name: str, some: Sequence[bytes]) -> None:
        """Have a witness sign this list, and show it."""
        hashes, old = [leaf_hash(leaf) for leaf in some], self.signed[name]
        note = LOG.sign_head(TreeHead(LOG.verifier.name, len(some), merkle.root(hashes)))
        proof = tuple(consistency_proof(hashes, old)) if old else ()
        assert self.witnesses[name].add(Request(old, proof, note).encode(), 1_795_000_000).status == 200
        self.signed[name] = len(some)
        hashed = origin_hash(LOG.verifier.name)
        (self.folder / name / hashed).mkdir(parents=True, exist_ok=True)
        (self.folder / name / hashed / CHECKPOINT).write_bytes(self.witnesses[name].latest(hashed) or b"")

    def write_tiles(self, some: Sequence[bytes]) -> None:
        """Write more of the log than its checkpoint covers."""
        for path, data in Edge().append(some):
            (self.log / path).parent.mkdir(parents=True, exist_ok=True)
            (self.log / path).write_bytes(data)

    def watch(self, *more: str) -> tuple[int, str]:
        words = ["--policy", self.folder / "policy", "--state", self.folder / "seen", "--max-age", "0", *more]
        done = referee("log", "watch", self.log, *words)
        return done.returncode, done.stdout + done.stderr


@pytest.fixture
def club(tmp_path: Path) -> Iterator[Club]:
    with served(tmp_path) as address:
        club = Club(tmp_path, address)
        yield club
        for file in club.kept.values():
            file.close()


def test_witnesses_that_saw_one_list_are_told_with_what_they_signed(club: Club) -> None:
    publish(club.log, [OURS[:300]], "w1")
    club.show("w1", OURS[:300])
    club.show("w2", OURS[:120])
    code, text = club.watch("--ask-witnesses")
    assert (code, text.splitlines()[0]) == (0, "HOLDS")
    assert "witness w1 has signed 300 leaves\nwitness w2 has signed 120 leaves\n" in text
    assert json.loads(club.watch("--ask-witnesses", "--json")[1])["asked"] == {"w1": 300, "w2": 120}


@pytest.mark.parametrize("size", [250, 300, 400])
def test_another_list_for_another_witness_is_a_fork_however_long(club: Club, size: int) -> None:
    publish(club.log, [OURS[:300]], "w1")
    club.show("w1", OURS[:300])
    club.show("w2", OTHERS[:size])
    club.write_tiles(OURS)
    code, text = club.watch()
    assert (code, "comment: two lists can both have the quorum all-of-them" in text) == (0, True), "nobody asked"
    code, text = club.watch("--ask-witnesses")
    assert (code, text.splitlines()[0]) == (7, "FORK")
    assert f"w2 has signed another list of {size} leaves than the log shows here" in text
    kept = club.folder / "seen.fork.checkpoint"
    assert kept.read_bytes() == club.witnesses["w2"].latest(origin_hash(LOG.verifier.name))


def test_one_that_is_ahead_has_seen_what_the_log_has_written(club: Club) -> None:
    """It is asked before the checkpoint is published, and the tiles are there by then."""
    publish(club.log, [OURS[:300]], "w1")
    club.show("w1", OURS[:300])
    club.show("w2", OURS)
    code, text = club.watch("--ask-witnesses")
    assert (code, text.splitlines()[0]) == (6, "STALE")
    assert "w2 has signed 400 leaves, and the log does not show them" in text
    club.write_tiles(OURS)
    assert club.watch("--ask-witnesses")[0] == 0


def test_one_that_shows_nothing_that_counts_is_named(club: Club) -> None:
    publish(club.log, [OURS[:300]], "w1")
    club.show("w1", OURS[:300])
    code, text = club.watch("--ask-witnesses")
    assert (code, "witness w2 was not compared: it has not signed for this log" in text) == (0, True)
    hashed = origin_hash(LOG.verifier.name)
    (club.folder / "w2" / hashed).mkdir(parents=True)
    shown = club.folder / "w2" / hashed / CHECKPOINT
    for data, expected in (
        (b"garbage", "NOTE"),
        ((club.folder / "w1" / hashed / CHECKPOINT).read_bytes(), "without its signature, or of another log"),
        (b"x" * 300_000, "more than 262144 bytes"),
    ):
        shown.write_bytes(data)
        code, text = club.watch("--ask-witnesses")
        assert (code, expected in text) == (0, True), text


def test_a_policy_without_addresses_has_nobody_to_ask(club: Club) -> None:
    publish(club.log, [OURS[:3]], "w1")
    (club.folder / "policy").write_text(policy_text("any", NAMES))
    code, text = club.watch("--ask-witnesses")
    assert (code, "no witness of the policy has an address" in text) == (2, True)
