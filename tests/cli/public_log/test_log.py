"""``referee log``: a log followed from outside, over HTTP and in a folder, honest and not."""

from __future__ import annotations

import json
import os
import random
import shutil
from pathlib import Path
from time import time

import pytest

from referee.games.alhambra import Options
from referee.log import merkle
from referee.log.merkle import leaf_hash
from referee.log.note import Checkpoint, CheckpointSigner
from referee.log.public.checkpoint import leaf_of
from referee.text.notation.times import moment_utc
from tests.cli.inside import referee
from tests.cli.log import served
from tests.log.alhambra import CODEC, alhambra, at_random
from tests.log.games import ORIGIN, SIGNER, Played, key, play
from tests.log.public.logs import NOW_S, head, leaves, policy_text, publish

QUORUM = ("w1", "w2")


class Watcher:
    """A watcher that looks at a log again and again."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.log = folder, folder / "log"
        (folder / "policy").write_text(policy_text("2"))

    def look(self, *more: str | Path, where: str | Path = "", age: str = "0") -> tuple[int, dict[str, object]]:
        words = ["--policy", self.folder / "policy", "--state", self.folder / "seen", "--max-age", age, "--json", *more]
        done = referee("log", "watch", where or self.log, *words)
        return done.returncode, json.loads(done.stdout) if done.stdout else {"error": done.stderr}

    def text(self, *more: str | Path) -> str:
        words = ["--policy", self.folder / "policy", "--state", self.folder / "seen", "--max-age", "0", *more]
        return referee("log", "watch", self.log, *words).stdout

    def check(self, where: str | Path = "") -> tuple[int, str]:
        done = referee("log", "check", where or self.log, "--policy", self.folder / "policy")
        return done.returncode, done.stdout + done.stderr


@pytest.fixture
def watcher(tmp_path: Path) -> Watcher:
    return Watcher(tmp_path)


def test_a_log_that_grows_holds_and_lists_what_was_not_ended(watcher: Watcher) -> None:
    opened = [leaf_of(head(number)) for number in range(300)]
    ended = [leaf_of(head(number, 40)) for number in range(298)]
    began_s = int(time()) - 61  # more than a minute ago, and less than two for a while
    publish(watcher.log, [opened], *QUORUM, time_s=began_s - 60)
    code, found = watcher.look()
    assert (code, found["verdict"], found["size"], found["before"]) == (0, "HOLDS", 300, 0)
    publish(watcher.log, [ended], *QUORUM, time_s=NOW_S + 500)
    code, found = watcher.look()
    assert (code, found["size"], found["before"]) == (0, 598, 300)
    assert found["unended"] == [
        {"game": head(number).head.origin, "entries": 1, "seen_s": began_s} for number in (298, 299)
    ]
    assert f"  {head(298).head.origin}: 1 entry, first seen at {moment_utc(1000 * began_s)}, 1m ago\n" in watcher.text()
    assert watcher.text().splitlines()[:2] == [
        "HOLDS",
        f"{ORIGIN}/log: 598 leaves, 0 new, cosigned by w1 at 2026-11-18 11:15:00 UTC, w2 at 2026-11-18 11:16:00 UTC",
    ]
    assert watcher.check() == (0, f"HOLDS\n{ORIGIN}/log: 598 leaves and 7 tiles compared, cosigned by w1, w2\n")


def test_games_that_were_begun_long_ago_and_never_ended_are_told_by_the_exit_code(watcher: Watcher) -> None:
    now_s = int(time())
    publish(watcher.log, [[leaf_of(head(number)) for number in range(2)]], *QUORUM, time_s=now_s - 5 * 86_400)
    assert watcher.look("--max-open", "7d")[0] == 0
    publish(watcher.log, [[leaf_of(head(2)), leaf_of(head(0, 40))]], *QUORUM, time_s=now_s - 300)
    for words in ((), ("--max-open", "7d")):
        code, found = watcher.look(*words)
        assert (code, found["verdict"], found["overdue"]) == (0, "HOLDS", 0), words
    code, found = watcher.look("--max-open", "2d")
    assert (code, found["verdict"], found["overdue"]) == (3, "PREFIX", 1), (
        "the third game is young, the first has ended"
    )
    assert [each["code"] for each in found["problems"]] == ["INCOMPLETE"]  # type: ignore[attr-defined]
    lines = watcher.text("--max-open", "2d").splitlines()
    assert lines[:2] == [
        "PREFIX",
        "  INCOMPLETE: 1 game opened more than 2d ago; expected the head with which each ended",
    ]
    assert lines[3] == "2 games opened and not ended, 1 of them too long ago"
    assert lines[4].startswith(f"  {head(1).head.origin}: 1 entry, first seen at ")
    assert lines[4].endswith(" UTC, 4d23h59m ago")
    publish(watcher.log, [[leaf_of(head(1, 40))]], *QUORUM, time_s=now_s)
    assert watcher.look("--max-open", "2d")[0] == 0


def test_a_witness_that_is_ahead_or_absent_keeps_no_game_young(watcher: Watcher) -> None:
    publish(watcher.log, [[leaf_of(head(0))]], *QUORUM, time_s=int(time()) + 10 * 365 * 86_400)
    watcher.look()
    publish(watcher.log, [[leaf_of(head(1))]], "w1")
    _, found = watcher.look()
    seen = [each["seen_s"] for each in found["unended"]]  # type: ignore[attr-defined]
    assert [abs(seen_s - time()) < 600 for seen_s in seen] == [True, True]


def test_a_web_server_with_the_files_is_a_log(watcher: Watcher) -> None:
    publish(watcher.log, [leaves(700)], *QUORUM)
    with served(watcher.folder) as address:
        code, found = watcher.look(where=f"{address}/log")
        assert (code, found["size"]) == (0, 700)
        assert watcher.check(f"{address}/log/")[0] == 0
        code, found = watcher.look(where=f"{address}/nothing")
        assert code == 4
        assert "there is no checkpoint" in str(found)
    code, found = watcher.look(where="http://127.0.0.1:1/log")
    assert code == 1
    assert "refused" in str(found["error"])
    code, found = watcher.look(where="http://user:secret@127.0.0.1:1/log")
    assert code == 2


def test_another_history_is_a_fork_whether_longer_as_long_or_shorter(watcher: Watcher, tmp_path: Path) -> None:
    publish(watcher.log, [leaves(300)], *QUORUM)
    assert watcher.look()[0] == 0
    for number, size in enumerate((400, 300, 250)):
        shutil.rmtree(watcher.log)
        publish(watcher.log, [[*leaves(100), *leaves(size - 100, 5000)]], *QUORUM)
        code, found = watcher.look()
        assert (code, found["verdict"]) == (7, "FORK"), size
        kept = tmp_path / f"seen.fork{('', '-2', '-3')[number]}.checkpoint"
        assert watcher.look()[0] == 7, "and again; the same checkpoint is kept once"
        assert len([*tmp_path.glob("seen.fork*")]) == number + 1
        assert kept.read_bytes() == (watcher.log / "checkpoint").read_bytes()
    shutil.rmtree(watcher.log)
    publish(watcher.log, [leaves(310)], *QUORUM)
    code, found = watcher.look()
    assert (code, found["before"], found["size"]) == (0, 300, 310), "what contradicted was not kept"


def test_a_log_that_shows_less_than_before_is_stale(watcher: Watcher) -> None:
    publish(watcher.log, [leaves(300)], *QUORUM)
    assert watcher.look()[0] == 0
    shutil.rmtree(watcher.log)
    publish(watcher.log, [leaves(250)], *QUORUM)
    code, found = watcher.look()
    assert (code, found["verdict"]) == (6, "STALE")


def test_old_signatures_are_stale_and_those_of_too_few_are_no_quorum(watcher: Watcher) -> None:
    publish(watcher.log, [leaves(3)], *QUORUM, time_s=int(time()) - 100)
    assert watcher.look(age="1h")[0] == 0
    assert watcher.look(age="30s")[0] == 6
    publish(watcher.log, [leaves(1, 3)], "w1", time_s=int(time()))
    code, found = watcher.look(age="1h")
    assert (code, found["verdict"]) == (5, "UNTRUSTED_KEY")
    publish(watcher.log, [leaves(1, 4)], *QUORUM, time_s=int(time()) + 10 * 3600)
    assert watcher.look(age="1h")[0] == 6, "a witness whose clock is far ahead says nothing of now"


def test_a_log_that_contradicts_itself_is_a_fork_and_a_leaf_twice_is_told(watcher: Watcher) -> None:
    other = Checkpoint(ORIGIN, head(1).game_id, 1, bytes(32))
    publish(watcher.log, [leaves(4)], *QUORUM)
    assert watcher.look()[0] == 0
    publish(watcher.log, [leaves(1)], *QUORUM)
    code, found = watcher.look()
    assert code == 0
    assert f"game {head(0).game_id.hex()}, 1 entries: entries 0 and 4 of the log are the same head" in str(found)
    publish(watcher.log, [[leaf_of(other), b"tile-referee/v9/other\n"]], *QUORUM)
    code, found = watcher.look()
    assert code == 7
    assert f"game {head(1).game_id.hex()}, 1 entries: entries 1 and 5 of the log have different roots" in str(found)
    assert "1 new leaves are of a kind that this version does not know" in str(found)
    for more in ([], [leaves(1, 9)]):
        publish(watcher.log, more, *QUORUM)
        code, found = watcher.look()
        assert (code, "have different roots" in str(found)) == (7, True), "it is told at every look"
        assert "are the same head" not in str(found)


def test_a_checkpoint_whose_leaves_are_not_shown_is_kept(watcher: Watcher, tmp_path: Path) -> None:
    publish(watcher.log, [leaves(3)], *QUORUM)
    assert watcher.look()[0] == 0
    publish(watcher.log, [leaves(4, 3)], *QUORUM)
    shutil.rmtree(watcher.log / "tile" / "entries")
    assert watcher.look()[0] == 4
    assert (tmp_path / "seen.fork.checkpoint").read_bytes() == (watcher.log / "checkpoint").read_bytes()


def test_an_altered_byte_anywhere_is_found_and_named(watcher: Watcher) -> None:
    """A byte of every file of the log, one at a time, as a sample; the checkpoint's own are checked elsewhere."""
    publish(watcher.log, [leaves(520)], *QUORUM)
    assert watcher.check()[0] == 0
    rng = random.Random(2)
    for path in sorted((watcher.log / "tile").rglob("*")):
        if path.is_dir():
            continue
        good = path.read_bytes()
        bad = bytearray(good)
        at = rng.randrange(len(bad))
        bad[at] ^= 1 << rng.randrange(8)
        path.write_bytes(bad)
        name = str(path.relative_to(watcher.log))
        code, text = watcher.check()
        assert (code, text.splitlines()[0]) == (4, "CORRUPT"), name
        assert name in text
        if "entries" not in name:
            assert f"{name}: hash {at // 32} is not that" in text
        (watcher.folder / "seen").unlink(missing_ok=True)
        if "entries" in name:
            assert watcher.look()[0] == 4, name
        path.unlink()
        code, text = watcher.check()
        assert (code, name in text) == (4, True)
        path.write_bytes(good)
    assert watcher.check()[0] == 0


@pytest.fixture(scope="module")
def played() -> Played:
    return play(alhambra(seats=2, options=CODEC.encode_options(Options(max_turns=4))), at_random(2))


def of_game(played: Played, size: int) -> Checkpoint:
    return Checkpoint(
        ORIGIN, played.record.game_id, size, merkle.root([leaf_hash(entry) for entry in played.entries[:size]])
    )


def test_files_are_compared_with_the_heads_of_their_games(watcher: Watcher, played: Played) -> None:
    files, vkey, size = watcher.folder / "games", str(SIGNER.verifier), len(played.entries)
    files.mkdir()
    (files / "one.gamelog").write_bytes(played.file())
    publish(watcher.log, [[*leaves(3), leaf_of(of_game(played, 1))]], *QUORUM)
    code, found = watcher.look("--files", files, "--key", vkey)
    assert code == 0
    assert "no file here of 3 games in the log" in str(found["comments"])
    kept_back = (
        f"one.gamelog has {size} signed entries, and the log knows of 1 alone: game {played.record.game_id.hex()}"
    )
    assert kept_back in found["comments"]  # type: ignore[operator]
    code, found = watcher.look("--files", files, "--key", vkey, "--require-log")
    assert (code, found["verdict"], kept_back in str(found["problems"])) == (13, "UNLOGGED", True)
    publish(watcher.log, [[leaf_of(of_game(played, size))]], *QUORUM)
    code, found = watcher.look("--files", files, "--key", vkey, "--require-log")
    assert (code, "alone" in str(found["comments"])) == (0, False)
    (files / "two.gamelog").write_bytes(b"nothing")
    code, found = watcher.look("--files", files, "--key", vkey)
    assert (code, "two.gamelog was not compared" in str(found["comments"])) == (0, True)
    os.mkfifo(files / "two.pipe.gamelog")
    code, found = watcher.look("--files", files, "--key", vkey)
    assert (code, "two.pipe.gamelog: it is a pipe or a device; expected a file" in str(found["error"])) == (1, True)
    (files / "two.pipe.gamelog").unlink()
    later = Checkpoint(ORIGIN, played.record.game_id, size + 5, bytes(32))
    publish(watcher.log, [[leaf_of(later)]], *QUORUM)
    code, found = watcher.look("--files", files, "--key", vkey)
    assert (code, found["verdict"]) == (6, "STALE")
    publish(watcher.log, [[leaf_of(Checkpoint(ORIGIN, played.record.game_id, 2, bytes(32)))]], *QUORUM)
    code, found = watcher.look("--files", files, "--key", vkey)
    assert (code, found["verdict"]) == (7, "FORK")
    assert "one.gamelog: entry 6 of the log has another root over 2 entries" in str(found["problems"])


def test_a_file_that_is_not_in_the_log_is_named(watcher: Watcher, played: Played) -> None:
    (watcher.folder / "one.gamelog").write_bytes(played.file())
    publish(watcher.log, [leaves(3)], *QUORUM)
    code, found = watcher.look("--files", watcher.folder, "--key", str(SIGNER.verifier))
    assert (code, f"one.gamelog is not in the log: game {played.record.game_id.hex()}" in str(found)) == (0, True)
    assert watcher.look("--files", watcher.folder, "--key", str(SIGNER.verifier), "--require-log")[0] == 13


@pytest.mark.parametrize(
    ("more", "code", "expected"),
    [
        (("--files", "x"), 2, "--files and --key belong together"),
        (("--max-age", "soon"), 2, "--max-age 'soon': expected a time such as 1h"),
        (("--max-open", "long"), 2, "--max-open 'long': expected a time such as 1h or 7d"),
        (("--require-log",), 2, "--require-log is about files; expected --files and --key"),
        (("--policy", "nowhere"), 2, "--policy nowhere: No such file"),
        (("--state", "/dev/null/x"), 1, "--state /dev/null/x: Not a directory"),
    ],
)
def test_wrong_words_are_one_line(watcher: Watcher, more: tuple[str, ...], code: int, expected: str) -> None:
    publish(watcher.log, [leaves(3)], *QUORUM)
    found, told = watcher.look(*more)
    assert (found, expected in str(told["error"])) == (code, True), told


def test_a_state_belongs_to_one_log_and_a_file_that_is_none_is_refused(watcher: Watcher) -> None:
    publish(watcher.log, [leaves(3)], *QUORUM)
    (watcher.folder / "seen").write_text("something else that somebody has written here")
    code, found = watcher.look()
    assert (code, "not a database" in str(found["error"])) == (1, True)


def test_a_leaf_with_a_size_that_no_database_keeps_is_passed_over(watcher: Watcher) -> None:
    """Otherwise the author of such a leaf would stop every monitor for good."""
    huge = leaf_of(head(1)).replace(b"\n1\n", b"\n9999999999999999999\n")
    publish(watcher.log, [[*leaves(3), huge]], *QUORUM)
    code, found = watcher.look()
    assert (code, found["size"]) == (0, 4)
    assert "1 new leaves are of a kind that this version does not know" in str(found)


def test_files_of_one_referee_are_not_compared_with_the_log_of_another(watcher: Watcher, played: Played) -> None:
    (watcher.folder / "one.gamelog").write_bytes(played.file())
    publish(watcher.log, [leaves(3)], *QUORUM)
    other = CheckpointSigner("other.example", key("somebody")).verifier
    code, told = watcher.look("--files", watcher.folder, "--key", str(other))
    expected = f"files of this referee are in the log other.example/log; {watcher.log} is {ORIGIN}/log"
    assert (code, expected in str(told["error"])) == (2, True), told
