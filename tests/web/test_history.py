"""From entries to positions: nothing but what was signed."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from referee.log import file
from referee.log.entry import decode_entry
from referee.log.errors import Code, LogError
from referee.log.file import FrameType
from referee.log.note import VerifierKey
from referee.log.replay import Record
from referee.log.v1 import log_pb2
from referee_clients.sdk.errors import Distrust
from referee_clients.web.history import History
from tests.frozen.report import HERE
from tests.web.replay import Replay, positions, positions_of_file

LOGS = sorted(HERE.glob("*.gamelog"))


def entries_of(log: Path) -> list[bytes]:
    with log.open("rb") as stream:
        return list(file.entries(stream))


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.stem)
def test_every_position_of_a_frozen_log_hashes_to_what_was_signed(log: Path) -> None:
    digests = [decode_entry(entry).state_digest for entry in entries_of(log)]
    with log.open("rb") as stream:
        found = list(positions_of_file(stream))
    assert len(digests) > 1
    assert [sha256(position).digest() for position in found] == digests


def test_an_entry_with_another_digest_is_refused() -> None:
    entries = entries_of(HERE / "kingdomino-1-dealt-4.gamelog")
    altered = log_pb2.Entry.FromString(entries[5])
    altered.state_digest = bytes(32)
    replay = Replay()
    for entry in entries[:5]:
        replay.read(entry)
    with pytest.raises(LogError) as refused:
        replay.read(altered.SerializeToString())
    assert refused.value.code is Code.DIGEST


def test_a_log_with_a_gap_is_refused() -> None:
    entries = entries_of(HERE / "kingdomino-1-dealt-4.gamelog")
    with pytest.raises(LogError):
        list(positions(entries[:4] + entries[5:]))


def test_a_history_takes_a_commit_whole_or_not_at_all() -> None:
    log = HERE / "kingdomino-1-dealt-4.gamelog"
    entries = entries_of(log)
    with log.open("rb") as stream:
        (note,) = [frame.payload for frame in file.read(stream) if frame.type == FrameType.CHECKPOINT]
    verifier = VerifierKey.parse((HERE / "referee.vkey").read_text().strip())
    history = History(Record(decode_entry(entries[0]).open).game_id.hex(), verifier)
    for bad in (entries[:-1], [*entries[:-1], entries[-2]], entries[::-1]):
        with pytest.raises(Distrust):
            history.add(bad, note)
        assert (history.size, history.positions) == (0, [])
    history.add(entries, note)
    history.close()
    assert history.entries == entries
    assert history.positions == list(positions(entries))
