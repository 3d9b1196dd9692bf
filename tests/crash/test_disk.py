"""A full disk: a clear error, no false acknowledgement, and play continues when there is space again."""

from __future__ import annotations

import errno
import os
import resource
import shutil
from io import BytesIO
from pathlib import Path

import pytest

from referee.log.file import entries
from referee.server.service.files import STORE_FILE
from referee.server.store.sql import MARKS_FILE
from tests.crash.club import SOME, Club, club, goes_on
from tests.crash.journal import broken
from tests.crash.process import Referee
from tests.crash.rig import log_of, nothing_is_lost
from tests.crash.shim import Shim
from tests.sizes import campaign, sample_of
from tests.small_disk import small_disk
from tests.waiting import until

# --- writes and syncs that fail --------------------------------------------------------------------------------

FAULTS = {
    "full": ({"writes": errno.ENOSPC}, "full"),
    "read-only": ({"writes": errno.EROFS}, "I/O error"),
    "failing": ({"writes": errno.EIO}, "I/O error"),
    "failing at syncs": ({"syncs": errno.EIO}, "I/O error"),
}


async def nothing_is_acknowledged(here: Club, said: str) -> None:
    """Check that players are asked to send it again, the operator learns why, and readers can read."""
    await here.some_failures(len(here.games))
    before = here.receipts
    await here.some_failures()
    assert here.receipts == before, "an act was acknowledged"
    assert set(here.load.failures[-SOME:]) == {"STORE_FAILED"}
    assert "store failed" in here.referee.logged()
    assert said in here.referee.logged()
    for told in here.told:
        assert broken(told, list(entries(BytesIO(await log_of(here.load, told.game_id))))) == []


@pytest.mark.parametrize("fault", sample_of(FAULTS, 1))
async def test_a_disk_that_does_not_take_it(fault: str, tmp_path: Path) -> None:
    how, said = FAULTS[fault]
    shim = Shim(tmp_path)
    async with club(Referee(tmp_path, env=shim.env)) as here:
        shim.fail(**how)
        await nothing_is_acknowledged(here, said)
        shim.fail()
        await goes_on(here)


@pytest.mark.long
async def test_no_file_may_grow(tmp_path: Path) -> None:
    """The kernel's own refusal, without a library in between: a limit on the size of files, set and lifted."""
    async with club(Referee(tmp_path)) as here:
        before = resource.prlimit(here.referee.pid, resource.RLIMIT_FSIZE)
        # Less than a commit takes: the write-ahead log has its size already, and is not written beyond this either.
        resource.prlimit(here.referee.pid, resource.RLIMIT_FSIZE, (4096, before[1]))
        await nothing_is_acknowledged(here, "store failed")
        resource.prlimit(here.referee.pid, resource.RLIMIT_FSIZE, before)
        await goes_on(here)


@pytest.mark.long
@pytest.mark.parametrize("freed", [1 << 20, *map(campaign, (0, 5 << 19, 1_200_000, 4 << 20))])
async def test_a_start_on_little_space_leaves_it_to_the_games(freed: int, tmp_path: Path) -> None:
    """After a kill on a full disk, with some space given back; with all of it there is a reserve again."""
    with small_disk(tmp_path / "disk", 24 << 20) as disk:
        referee = Referee(tmp_path)
        referee.data = disk.path / "data"
        async with club(referee) as here:
            disk.fill()
            await here.some_acts()
            await here.load.pause()
            await until(lambda: '"disk full"' in referee.logged(), "that the operator is told")
            here.load.may_act.set()
            await here.some_acts()
            await here.load.pause()
            await referee.kill()
            disk.fill(leave=freed)
            before, said = disk.free_bytes, len(referee.logged())
            await referee.start()
            assert disk.free_bytes > min(before, 1 << 20) - (1 << 17)
            assert ('"no reserve"' in referee.logged()[said:]) is (freed <= 1 << 20)
            here.load.may_act.set()
            await here.some_acts()
            await here.load.pause()
            await referee.kill()
            disk.empty()
            said = len(referee.logged())
            await referee.start()
            assert '"no reserve"' not in referee.logged()[said:]
            here.load.may_act.set()
            await here.some_acts()
            await here.load.pause()
            await nothing_is_lost(here.load, here.told)


@pytest.mark.long
async def test_the_reserve_is_used_up(tmp_path: Path) -> None:
    """Acknowledged acts are there; a start names its needs, or succeeds, and with space everything works."""
    with small_disk(tmp_path / "disk", 24 << 20) as disk:
        referee = Referee(tmp_path)
        referee.data = disk.path / "data"
        async with club(referee) as here:
            for _ in range(24):  # to last longer than the reserve
                await here.open()
            disk.fill()
            await here.until(lambda: len(here.load.failures) >= SOME, "that nothing more fits")
            await here.load.pause()
            await referee.kill()
            for freed in range(0, 6 << 20, 1_000_000):
                disk.fill(leave=freed)
                try:
                    await referee.start()
                except AssertionError:
                    said = referee.logged().splitlines()[-1]
                    assert "referee.db" in said or "marks.db" in said, said
                    assert "bytes free on its disk" in said, said
                else:
                    await referee.kill()
            disk.empty()
            await referee.start()
            await nothing_is_lost(here.load, here.told)
            here.load.may_act.set()
            await goes_on(here)


# --- at the start ----------------------------------------------------------------------------------------------


def unprivileged() -> tuple[str, ...]:
    """Return words that make the permissions of files hold for the command after them, for root as well."""
    if os.geteuid() != 0:
        return ()
    if shutil.which("setpriv") is None:
        pytest.skip("no setpriv: root may write to what is read-only")
    return ("setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-dac_override,-dac_read_search")


@pytest.mark.long
@pytest.mark.parametrize("name", [STORE_FILE, campaign(MARKS_FILE), campaign(".")])
async def test_no_start_on_what_is_read_only(name: str, tmp_path: Path) -> None:
    """One line that names the file, and nothing has changed: with its permissions back it starts."""
    referee = Referee(tmp_path, wrapper=unprivileged())
    try:
        await referee.start()
        await referee.stop()
        path = referee.data / name
        mode = path.stat().st_mode
        path.chmod(mode & ~0o222)
        said = await referee.refuses_to_start()
        path.chmod(mode)
        assert str(referee.data) in said, said
        assert len(said.splitlines()) == 1, said
        await referee.start()
        await referee.stop()
    finally:
        await referee.put_down()


@pytest.mark.parametrize("locked", sample_of(["club/data", "club"], 1))
async def test_no_start_without_rights(locked: str, tmp_path: Path) -> None:
    """The rights are missing on the directory, or on the one above, which hides whether the directory exists."""
    referee = Referee(tmp_path, wrapper=unprivileged())
    referee.data = tmp_path / "club/data"
    referee.data.mkdir(parents=True)
    path = tmp_path / locked
    referee.log.touch()
    path.chmod(0)
    try:
        said = await referee.refuses_to_start()
    finally:
        path.chmod(0o700)
        await referee.put_down()
    assert str(referee.data) in said, said
    assert "Permission denied" in said, said
    assert len(said.splitlines()) == 1, said


@pytest.mark.long
@pytest.mark.parametrize("name", [STORE_FILE, MARKS_FILE])
async def test_no_start_on_what_is_no_database(name: str, tmp_path: Path) -> None:
    referee = Referee(tmp_path)
    try:
        await referee.start()
        await referee.stop()
        with (referee.data / name).open("r+b") as file:
            file.write(bytes(4096))
        said = await referee.refuses_to_start()
        assert name in said
        assert len(said.splitlines()) == 1, said
    finally:
        await referee.put_down()
