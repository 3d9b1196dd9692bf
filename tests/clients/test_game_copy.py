"""A seat's copy of its game: whatever is in its place, no game stops, and no file of anybody else is touched."""

from __future__ import annotations

import os
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest

from referee.log import file
from referee.log.file import MAX_FILE_BYTES
from referee.log.note import CheckpointSigner
from referee_clients.sdk import game_copy
from referee_clients.sdk.errors import ClientError, Denied, Distrust, Unreachable
from referee_clients.sdk.game_copy import GameCopy
from referee_clients.sdk.ledger import Ledger
from tests.clients.kept import ENTRIES, GAME, NOTE, VERIFIER, declaring, grown, note
from tests.log.games import SIGNER, key


def growing(folder: Path) -> Path:
    return folder / f"{GAME}-1.gamelog"


def whole(folder: Path) -> Path:
    return folder / f"{GAME}.gamelog"


def copied(folder: Path, kept: bytes = b"", *, keeps_end: bool = True) -> GameCopy:
    if kept:
        growing(folder).write_bytes(kept)
    return GameCopy.beside(folder / "seat.pem", GAME, 1, keeps_end=keeps_end)


def ledger() -> Ledger:
    """The game to its end."""
    read = Ledger(GAME, VERIFIER)
    read.add(ENTRIES, NOTE)
    return read


def test_it_goes_on_from_where_it_stopped(tmp_path: Path) -> None:
    copy = copied(tmp_path, grown(4, 9))
    assert copy.note == note(9)
    copy.keep(ENTRIES[:12], note(12))
    assert growing(tmp_path).read_bytes() == grown(4, 9), "not before it is known that the game goes on from it"
    assert copy.compare(ENTRIES[:12]) == ""
    copy.keep(ENTRIES[:12], note(12))
    copy.keep(ENTRIES[:12], note(12))
    assert growing(tmp_path).read_bytes() == grown(4, 9, 12)
    assert copied(tmp_path).note == note(12)


@pytest.mark.parametrize("cut", [1, 40, 600])
def test_what_a_crash_left_half_written_is_cut_off(cut: int, tmp_path: Path) -> None:
    copy = copied(tmp_path, grown(4, 9)[:-cut])
    assert copy.note == note(4)
    assert copy.compare(ENTRIES[:11]) == ""
    copy.keep(ENTRIES[:11], note(11))
    assert growing(tmp_path).read_bytes() == grown(4, 11)


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


def a_folder(path: Path) -> None:
    path.mkdir()


def too_large(path: Path) -> None:
    with path.open("wb") as stream:
        stream.write(grown(4))
        stream.truncate(MAX_FILE_BYTES + 1)


def a_link_to_nowhere(path: Path) -> None:
    path.symlink_to(path.with_name("elsewhere"))


def nothing(_: Path) -> None:
    pass


def other_entries(path: Path) -> None:
    path.write_bytes(grown(4, by=lambda size: note(size, root=bytes(32))))


def another_game(path: Path) -> None:
    path.write_bytes(grown(4, by=lambda size: note(size, game="0" * 32)))


def nonsense(path: Path) -> None:
    path.write_bytes(b"nonsense" * 1000)


def a_note(path: Path) -> None:
    path.write_bytes(note(4))


@pytest.mark.parametrize(
    "put",
    [nothing, nonsense, a_note, too_large, a_pipe, a_folder, a_link_to_nowhere, other_entries, another_game],
    ids=lambda put: put.__name__,
)
def test_what_is_no_copy_counts_as_none(put: Callable[[Path], None], tmp_path: Path) -> None:
    put(growing(tmp_path))
    put(whole(tmp_path))
    copy = copied(tmp_path)
    assert copy.note == b""
    assert copy.compare(ENTRIES) == ""
    copy.keep(ENTRIES, NOTE)
    copy.tell(error := Distrust("the end"), ledger())
    assert copy.finish(ledger()) is None
    assert str(error) == "the end"


def test_a_disk_that_takes_nothing_stops_no_game(tmp_path: Path) -> None:
    copy = copied(tmp_path, grown(4))
    copy.compare(ENTRIES)
    growing(tmp_path).unlink()
    a_pipe(growing(tmp_path))
    copy.keep(ENTRIES, NOTE)
    assert copy.note == note(4)


def test_a_checkpoint_of_anybody_else_is_none_for_who_knows_the_key(tmp_path: Path) -> None:
    growing(tmp_path).write_bytes(grown(4))
    assert GameCopy(tmp_path, GAME, "1", CheckpointSigner("club.example", key("club")).verifier).note == b""
    stranger = CheckpointSigner(SIGNER.verifier.name, key("stranger"))
    growing(tmp_path).write_bytes(grown(4, 9, by=lambda size: note(size, SIGNER if size == 4 else stranger)))
    assert GameCopy(tmp_path, GAME, "1", SIGNER.verifier).note == note(4)


def test_the_whole_file_takes_its_place_at_the_end(tmp_path: Path) -> None:
    copy = copied(tmp_path, grown(4))
    copy.compare(ENTRIES)
    assert copy.finish(ledger()) == whole(tmp_path)
    assert list(file.entries(BytesIO(whole(tmp_path).read_bytes()))) == ENTRIES
    assert whole(tmp_path).stat().st_mode & 0o777 == 0o600
    assert not growing(tmp_path).exists()
    later = copied(tmp_path)
    assert later.note == NOTE, "a referee that is set back after the end is shown it as well"
    assert later.compare(ENTRIES[:9]) == (
        f"the referee has 9 entries, and had signed {len(ENTRIES)}, "
        "and the log does not declare a loss; ask the organiser"
    )


def test_nothing_stays_if_that_is_wanted(tmp_path: Path) -> None:
    copy = copied(tmp_path, grown(4), keeps_end=False)
    copy.compare(ENTRIES)
    assert copy.finish(ledger()) is None
    assert list(tmp_path.iterdir()) == []


def test_the_newest_stay_and_what_somebody_else_put_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(game_copy, "KEPT_FILES", 2)
    mine = tmp_path / f"{0:032x}.gamelog"
    precious = tmp_path / "precious.gamelog"
    for path in (mine, precious):
        path.write_bytes(b"mine")
    listed = [tmp_path / f"{number:032x}.gamelog" for number in (1, 2, 3)]
    for path in listed:
        path.write_bytes(b"a copy")
    names = [
        *(path.name for path in listed),
        f"../{tmp_path.name}/precious.gamelog",
        "precious.gamelog",
        listed[0].name,
    ]
    (tmp_path / ".game-copies").write_text("\n".join(names))
    copied(tmp_path, grown(4)).finish(ledger())
    copy = copied(tmp_path, grown(4))
    copy.compare(ENTRIES)
    copy.finish(ledger())
    assert {path.name for path in tmp_path.glob("*.gamelog")} == {
        mine.name,
        precious.name,
        listed[0].name,
        whole(tmp_path).name,
    }


def test_a_file_of_somebody_else_stays_as_it_is(tmp_path: Path) -> None:
    whole(tmp_path).write_bytes(b"fetched, with certificates")
    copy = copied(tmp_path, grown(4))
    copy.compare(ENTRIES[:4])
    copy.tell(error := Distrust("the referee lies"), Ledger(GAME))
    assert str(error).endswith(f"your copy of the game is {growing(tmp_path)}: give it to the organiser")
    copy.finish(ledger())
    assert whole(tmp_path).read_bytes() == b"fetched, with certificates"


def test_only_a_loss_leaves_a_file_before_the_end(tmp_path: Path) -> None:
    copy = copied(tmp_path, grown(4))
    for harmless in (Unreachable("away"), Denied("no longer valid"), ClientError("refused")):
        copy.tell(harmless, ledger())
        assert "your copy" not in str(harmless)
    assert not whole(tmp_path).exists()
    lost = Denied("no such game")
    lost.is_lost = True
    copy.tell(lost, Ledger(GAME))
    assert str(lost) == f"no such game; your copy of the game is {whole(tmp_path)}: give it to the organiser"
    assert whole(tmp_path).read_bytes() == grown(4)
    copy.compare(ENTRIES)
    copy.tell(Distrust("the referee lies"), ledger())
    assert list(file.entries(BytesIO(whole(tmp_path).read_bytes()))) == ENTRIES, "all that is known by now"
    other = GameCopy(tmp_path, GAME, "0")
    other.compare(ENTRIES[:9])
    other.tell(Distrust("the referee lies"), Ledger(GAME))
    assert list(file.entries(BytesIO(whole(tmp_path).read_bytes()))) == ENTRIES, "another seat knew more"


def test_what_is_declared_lost_is_put_aside(tmp_path: Path) -> None:
    copy = copied(tmp_path, grown(4, 9))
    assert "does not declare a loss" in copy.compare(declaring(4, lost_size=8, lost_root=bytes(32)))
    assert copy.compare(declaring(4, copied_ms=1, declared_ms=2)) == ""
    assert copy.note == b""
    copy.keep(ENTRIES[:5], note(5))
    assert growing(tmp_path).read_bytes() == grown(5)
    assert (tmp_path / f"{GAME}-1-before.gamelog").read_bytes() == grown(4, 9)
