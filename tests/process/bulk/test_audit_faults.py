"""``referee audit`` of many files, the real command: workers and client are killed, stopped, starved and cut off."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import REFEREE
from tests.log.public.logs import policy_text
from tests.process.bulk.conftest import KEY
from tests.small_disk import small_disk
from tests.waiting import MOST_S, is_there


class Audit:
    """The command at work on the games and a file without end among them, whose reader reads for ever."""

    def __init__(self, games: Path, *words: str) -> None:
        self.games = games
        self.endless = games / "k.gamelog"
        self.endless.touch()
        os.truncate(self.endless, 1 << 40)  # a hole: it takes no disk, and many minutes to read
        self.names = sorted(path.relative_to(games).as_posix() for path in games.rglob("*.gamelog"))
        (games / "list.txt").write_text("".join(f"{name}\n" for name in self.names))
        command = [str(REFEREE), "audit", "list.txt", "--key", str(KEY), *words]
        self.process = subprocess.Popen(
            command, cwd=games, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1
        )

    def workers(self) -> list[int]:
        tasks = Path(f"/proc/{self.process.pid}/task").glob("*/children")
        with suppress(OSError):
            return [int(pid) for task in tasks for pid in task.read_text().split()]
        return []

    def reader(self, other_than: int = 0) -> int:
        """Return, as soon as there is one, the process that reads that file."""
        found: list[int] = []

        def look() -> list[int]:
            found[:] = [pid for pid in self.workers() if pid != other_than and self._reads(pid)]
            return found

        wait(look)
        return found[0]

    def _reads(self, pid: int) -> bool:
        with suppress(OSError):
            return any(fd.readlink() == self.endless for fd in Path(f"/proc/{pid}/fd").iterdir())
        return False

    def end(self) -> tuple[int, list[str], str]:
        """Return exit code, lines and errors."""
        out, error = self.process.communicate(timeout=MOST_S)
        return self.process.returncode, out.splitlines(), error

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


@contextmanager
def auditing(games: Path, *words: str) -> Iterator[Audit]:
    audit = Audit(games, *words)
    try:
        yield audit
    finally:
        audit.close()


def audit(*words: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [str(REFEREE), "audit", *map(str, words), "--key", str(KEY)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


def wait(holds: Callable[[], object]) -> None:
    until = time.monotonic() + MOST_S
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.01)


def results(path: Path) -> list[str]:
    return [line["file"] for line in lines_of(path) if "file" in line]


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_process_that_ends_costs_one_file(games: Path) -> None:
    """Killed whenever it reads one file, as by a kernel that is out of memory."""
    with auditing(games, "--jobs", "2", "--resume", "out.jsonl") as at_work:
        first = at_work.reader()
        os.kill(first, signal.SIGKILL)
        os.kill(at_work.reader(other_than=first), signal.SIGKILL)
        code, lines, error = at_work.end()
    assert (code, error) == (1, "")
    assert "UNREADABLE    k.gamelog: not audited, tried twice: the worker was killed by SIGKILL" in lines
    assert [line.split()[1].rstrip(",:") for line in lines[:-1]] == at_work.names
    assert lines[-1] == "8 files: 5 COMPLETE, 1 UNREADABLE, 1 PREFIX, 1 CORRUPT"
    (lost,) = (line for line in lines_of(games / "out.jsonl") if "lost" in line)
    assert (lost["file"], lost["lost"]) == ("k.gamelog", "died")


@pytest.mark.long
def test_what_is_no_file_is_said_at_once(games: Path) -> None:
    """A pipe without a writer, a device without an end, a link to nowhere: in a directory, in a list, as a proof, and
    where a good file was."""
    (good,) = games.glob("kingdomino-1-table-*.gamelog")
    out, policy = games.parent / "out.jsonl", games.parent / "policy"
    policy.write_text(policy_text("none"))
    for more in ((), ("--send", "--resume", out), ("--resume", out, "--log-policy", policy)):
        out.unlink(missing_ok=True)
        assert audit(games, "--jobs", "1", *more).returncode == 4
        data = good.read_bytes()
        good.unlink()
        os.mkfifo(good)
        (games / "z.gamelog").symlink_to("/dev/zero")
        (games / "gone.gamelog").symlink_to("nowhere")
        os.mkfifo(games / "kingdomino-1-aborted.tlog-proof")
        done = audit(games, "--jobs", "1", *more)
        said = [line for line in done.stdout.splitlines() if line.startswith("UNREADABLE")]
        assert (done.returncode, done.stderr) == (1, "")
        assert said == [
            "UNREADABLE    gone.gamelog: No such file or directory",
            f"UNREADABLE    {good.name}: it is a pipe or a device; expected a file",
            "UNREADABLE    z.gamelog: it is a pipe or a device; expected a file",
        ]
        for path in (good, games / "z.gamelog", games / "gone.gamelog", games / "kingdomino-1-aborted.tlog-proof"):
            path.unlink()
        good.write_bytes(data)


@pytest.mark.long
def test_a_process_that_hangs_costs_one_file(games: Path) -> None:
    """Stopped by a signal, too; and nothing is left of it."""
    with auditing(games, "--jobs", "2", "--per-file", "10s") as at_work:
        stopped = at_work.reader()
        os.kill(stopped, signal.SIGSTOP)
        code, lines, error = at_work.end()
    assert (code, error, is_there(stopped)) == (1, "", False)
    assert "UNREADABLE    k.gamelog: not audited, tried twice: it took more than 10 s" in lines
    assert lines[-1] == "8 files: 5 COMPLETE, 1 UNREADABLE, 1 PREFIX, 1 CORRUPT"


@pytest.mark.long
def test_a_process_killed_by_chance_costs_nothing(games: Path) -> None:
    """Once; the second time the file can be read."""
    with auditing(games, "--jobs", "1") as at_work:
        reader = at_work.reader()
        whole = (games / at_work.names[0]).read_bytes()
        at_work.endless.unlink()
        at_work.endless.write_bytes(whole)
        os.kill(reader, signal.SIGKILL)
        code, lines, _ = at_work.end()
    assert code == 4
    assert lines[-1] == "8 files: 6 COMPLETE, 1 PREFIX, 1 CORRUPT"


@pytest.mark.long
def test_too_little_memory_for_any_file_is_the_machines_fault(games: Path) -> None:
    for number in range(20):
        (games / f"more-{number}.gamelog").write_bytes(b"")
    words = (games, "--jobs", "2", "--memory", "24MiB")
    done = audit(*words)
    assert done.returncode == 1
    assert done.stderr.startswith("referee: stopped: 11 files could not be done, where at most 10 may be lost; ")
    assert done.stderr.endswith(". Look at the machine, not at the files\n")
    assert "Traceback" not in done.stderr


@pytest.mark.long
def test_a_client_that_is_killed_goes_on_and_leaves_no_process(games: Path) -> None:
    out = games / "out.jsonl"
    with auditing(games, "--jobs", "1", "--resume", "out.jsonl") as at_work:
        reader = at_work.reader()
        before = results(out)
        at_work.process.kill()
        wait(lambda: not is_there(reader))
        at_work.endless.unlink()
        at_work.endless.write_bytes(b"")
    assert before == at_work.names[: len(before)], "the lines of every part that was done"
    assert len(before) <= at_work.names.index("k.gamelog")
    words = ("list.txt", "--resume", out, "--jobs", "1")
    done = audit(*words, cwd=games)
    assert done.returncode == 4
    assert results(out) == [*before, *at_work.names[len(before) :]], "none was done again"


def test_ctrl_c_keeps_what_is_done(games: Path) -> None:
    with auditing(games, "--jobs", "1", "--resume", "out.jsonl", "--per-file", "1h") as at_work:
        reader = at_work.reader()
        at_work.process.send_signal(signal.SIGINT)
        code, _, error = at_work.end()
    assert (code, error, is_there(reader)) == (130, "", False)
    kept = results(games / "out.jsonl")
    assert kept == at_work.names[: len(kept)]
    assert len(kept) <= at_work.names.index("k.gamelog")


@pytest.mark.long
def test_two_runs_cannot_write_one_file(games: Path) -> None:
    with auditing(games, "--jobs", "1", "--resume", "out.jsonl") as at_work:
        at_work.reader()
        words = ("list.txt", "--resume", "out.jsonl")
        done = audit(*words, cwd=games)
    message = "referee: out.jsonl: another run is writing this file; expected a file of its own\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", message)


@pytest.mark.long
def test_a_full_disk_stops_the_run_at_once_and_costs_no_line(games: Path, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 1 << 20) as disk:
        out = disk.path / "out.jsonl"
        words = (games, "--jobs", "1", "--resume", out)
        disk.fill(leave=8192)
        done = audit(*words)
        assert (done.returncode, done.stderr) == (1, f"referee: {out}: No space left on device\n")
        written = out.read_bytes().splitlines()
        disk.empty()
        done = audit(*words)
        assert (done.returncode, done.stdout.splitlines()[-1]) == (4, "7 files: 5 COMPLETE, 1 PREFIX, 1 CORRUPT")
        assert len(written) >= 2, "for the test"
        assert out.read_bytes().splitlines()[: len(written) - 1] == written[:-1]
        assert sorted(results(out)) == sorted(path.relative_to(games).as_posix() for path in games.rglob("*.gamelog"))


def test_without_a_terminal_a_line_says_how_far_it_is(games: Path) -> None:
    """Every half minute, here every tenth of a second."""
    program = "from referee.process.bulk import progress; progress._LINE_S = 0.1; from referee.cli import main; main()"
    words = (str(REFEREE.parent / "python"), "-c", program, "audit", str(games), "--key", str(KEY), "--jobs", "1")
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 4
    told = done.stderr.splitlines()
    assert told
    assert all(line.split(",")[0].endswith(" of 7 files") for line in told)
