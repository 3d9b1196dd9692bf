"""Every command of every runbook is run: here, as an operator would, or by the test that is named for it."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.docs.shell import ENVIRONMENT, ROOT, anchors, ran
from tests.server.service.conftest import running
from tests.server.service.player import SCRIBE, Play
from tests.server.store.postgres import USER, Postgres
from tests.sizes import GATE
from tests.waiting import waiting_for

FOLDER = ROOT / "docs" / "runbooks"
PAGES = sorted(FOLDER.glob("*.md"))
SECTIONS = ["What you see", "What you type", "What is lost"]

_NODES = "tests/server/service/test_nodes.py"
_ROLLED_BACK = f"{_NODES}::test_a_database_that_went_back_is_gone_on_with_after_a_look"
_DECLARED = f"{_NODES}::test_a_referee_learns_that_another_one_has_declared_what_its_marks_know"
_STANDBY = (
    "tests/server/store/test_postgres_standby.py"
    "::test_after_a_promotion_acts_go_on_without_a_restart_until_a_standby_streams"
)
_LOG_RECOVER = "tests/cli/public_log/test_log_recover.py"
_RECOVER = "tests/cli/operators/test_recover.py"
_LOG_RIG = "tests/crash/test_public_log.py"
ELSEWHERE: Mapping[tuple[str, str], tuple[str, str]] = {
    ("machine-gone", "referee log recover --data club --log /srv/www/log"): (_LOG_RECOVER, '"log", "recover"'),
    ("database-went-back", "referee log recover --data club --log /srv/www/log"): (_LOG_RECOVER, '"log", "recover"'),
    ("database-went-back", "referee recover --data club --marks club/marks.db --marks second/marks.db"): (
        _ROLLED_BACK,
        '"--marks"',
    ),
    ("database-went-back", "referee recover --data club --accept-rollback"): (_ROLLED_BACK, '"--accept-rollback"'),
    ("database-went-back", "referee recover GAME --continue --data club"): (_DECLARED, '"--continue"'),
    ("primary-gone", "pg_ctl --pgdata DATA promote"): ("tests/nemesis/pair.py", "pg_promote"),
    ("primary-gone", "referee cluster waive-standby --data club"): (_STANDBY, '"waive-standby"'),
    ("primary-gone", "referee cluster status --data club"): (_STANDBY, '"cluster", "status"'),
    (
        "primary-gone",
        'referee serve --data club --store "postgresql://referee@standby.example/club?sslmode=verify-full"',
    ): ("tests/server/service/test_two_nodes.py", '"--store"'),
    ("key-leaked", "referee change-key @join.txt --key seat.pem --new-key new.pem --new"): (
        "tests/clients/test_seats_that_end.py::test_a_seat_changes_its_key",
        "change-key",
    ),
    ("game-stuck", "referee recover GAME --continue --data club"): (
        f"{_RECOVER}::test_on_without_what_is_lost_and_openly",
        "--continue",
    ),
    ("game-stuck", "referee recover GAME --end --data club"): (
        f"{_RECOVER}::test_ended_for_the_referees_fault",
        "--end",
    ),
    ("game-stuck", "referee recover GAME --give-up --data club"): (
        f"{_RECOVER}::test_another_history_can_be_given_up",
        "--give-up",
    ),
    ("witness-down", "referee witness --key witness.pem --logs logs.policy --data witness.db"): (
        _LOG_RIG,
        '"witness"',
    ),
    ("witness-down", "referee serve --data club --origin club.example --log /srv/www/log --log-policy policy"): (
        _LOG_RIG,
        '"--log-policy"',
    ),
}
"""Commands that other tests run: which one, a file or a function of it, and a word of it by which it is known."""


def typed(page: Path) -> list[str]:
    """Return the commands in the section "What you type", in their order; a continued line is one command."""
    section = page.read_text(encoding="utf-8").partition("## What you type\n")[2].partition("\n## ")[0]
    return re.findall(r"^ {4,}(?![|-])(\S.*)$", section.replace("\\\n", " "), re.MULTILINE)


class Operator:
    """An operator who follows a runbook in a folder, and types nothing but its commands."""

    def __init__(self, name: str, folder: Path) -> None:
        self.folder = folder
        self._name = name
        self._left = [each for each in typed(FOLDER / f"{name}.md") if (name, each) not in ELSEWHERE]
        self.names: dict[str, str] = {}
        """Words of the page, and what stands for them in this folder."""

    async def types(self, command: str, *, code: int = 0, add: str = "") -> str:
        """Run a command of the page, with ``add`` at its end; return what it prints."""
        done = await asyncio.to_thread(ran, self._here(command) + add, self.folder)
        assert done.returncode == code, (command, done.stdout, done.stderr)
        return done.stdout + done.stderr

    @contextmanager
    def serves(self, command: str | None = None) -> Iterator[dict[str, str]]:
        """Run a referee until the block ends, as the page has it or with the directory ``club``; yield its facts."""
        line = self._here(command) if command else "referee serve --data club"
        line += " --listen 127.0.0.1:0 --metrics 127.0.0.1:0 --json"
        with (
            (self.folder / "log").open("ab") as log,
            subprocess.Popen(
                ["sh", "-c", f"exec {line}"],
                cwd=self.folder,
                env=ENVIRONMENT,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            ) as process,
        ):
            assert process.stdout is not None
            try:
                ready = json.loads(process.stdout.readline())
                self.names["http://127.0.0.1:9464/metrics"] = ready["metrics"]
                yield ready
            finally:
                process.terminate()

    def is_done(self, others: Collection[str] = ()) -> None:
        """Raise if a command of the page was not typed, but those of the others, which another test types."""
        assert {*self._left} == {*others}

    def _here(self, command: str) -> str:
        assert command in typed(FOLDER / f"{self._name}.md"), command
        self._left = [each for each in self._left if each != command]
        for word, here in self.names.items():
            command = command.replace(word, here)
        return command


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.stem))
def test_each_has_the_same_three_sections(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert re.findall(r"^## (.*)", text, re.MULTILINE) == SECTIONS
    assert "what-you-type" in anchors(page)
    assert len(text.encode()) < 12 * 1024


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.stem))
def test_each_has_commands(page: Path) -> None:
    assert typed(page)


def test_what_is_run_elsewhere_is_on_a_page_and_is_run() -> None:
    for (name, command), (where, word) in ELSEWHERE.items():
        assert command in typed(FOLDER / f"{name}.md"), command
        path, _, function = where.partition("::")
        source = (ROOT / path).read_text(encoding="utf-8")
        if function:
            found = re.search(
                rf"^(?:async )?def {function}\(.*?(?=^(?:@|async def|def|class) |\Z)", source, re.MULTILINE | re.DOTALL
            )
            assert found is not None, where
            source = found[0]
        assert word in source, (command, where)


# --- each runbook ----------------------------------------------------------------------------------------------------


@GATE
async def test_disk_full(tmp_path: Path) -> None:
    operator = Operator("disk-full", tmp_path)
    with operator.serves():
        metrics = "curl -s http://127.0.0.1:9464/metrics | grep -E 'referee_(disk_free_bytes|reserve_in_use)'"
        assert 'referee_reserve_in_use{disk="data"} 0' in await operator.types(metrics)
        assert "%" in await operator.types("df -h club")
        (tmp_path / "club" / "referee.db.v5").write_bytes(b"before the upgrade")
        await operator.types("rm -f club/referee.db.v*")
        assert not (tmp_path / "club" / "referee.db.v5").exists()
        assert (tmp_path / "club" / "referee.db").exists()
        assert "can write" in await operator.types("referee health --ready --data club")
    operator.is_done()


async def _played(play: Play, steps: int) -> None:
    await play.until_play()
    await play.steps(steps)


@GATE
async def test_machine_gone(tmp_path: Path) -> None:
    operator = Operator("machine-gone", tmp_path)
    operator.names["/backup/"] = "backup/"
    for name in ("backup", "files"):
        (tmp_path / name).mkdir()
    async with running(tmp_path / "old") as (_, client):
        kept, lost = await client.play(), await client.play(seed=2)
        for play in (kept, lost):
            await _played(play, 2)
        backup = "referee backup backup/club-2026-11-28-17 --data old"
        assert (await asyncio.to_thread(ran, backup, tmp_path)).returncode == 0
        for play in (kept, lost):
            await play.steps(2)
        (tmp_path / "files" / f"{kept.id}.gamelog").write_bytes(await client.log(kept.id))
    said = await operator.types("referee restore /backup/club-2026-11-28-17 --data club --from files", code=1)
    assert f"game {lost.id}: in doubt" in said
    assert f"game {lost.id}: in doubt" in await operator.types("referee recover --data club", code=1)
    decided = await asyncio.to_thread(ran, f"referee recover {lost.id} --end --data club", tmp_path)
    assert decided.returncode == 0, decided
    with operator.serves():
        assert "organiser" in await operator.types("referee token list --data club")
        assert "0 tokens revoked" in await operator.types(
            "referee token revoke --issued-before 2026-11-28T17:00 --data club"
        )
        assert "copied, with" in await operator.types("referee backup /backup/after-the-loss --data club")
    operator.is_done(
        {"referee restore /backup/club-2026-11-28-17 --data club", "referee recover --continue --data club"}
    )


@GATE
async def test_machine_gone_with_games_in_postgresql(tmp_path: Path, postgres: Postgres) -> None:
    operator, old, club = Operator("machine-gone", tmp_path), tmp_path / "old", tmp_path / "club"
    operator.names["/backup/"] = "backup/"
    (tmp_path / "backup").mkdir()
    async with running(old, store=postgres.new()) as (_, client):
        play = await client.play(declaring_scribe_key=SCRIBE.public.raw)
        backup = "referee backup backup/club-2026-11-28-17 --data old"
        assert (await asyncio.to_thread(ran, backup, tmp_path)).returncode == 0
        await _played(play, 2)
    said = await operator.types("referee restore /backup/club-2026-11-28-17 --data club", code=1)
    assert f"game {play.id}: in doubt" in said
    await operator.types("referee recover --continue --data club")
    with operator.serves():
        pass
    shutil.rmtree(club)
    club.mkdir(mode=0o700)
    by_hand = "referee recover --new-marks --data club"
    assert f"`{by_hand}`" in (FOLDER / "machine-gone.md").read_text(encoding="utf-8")
    for name in ("referee.pem", "referee.vkey", "seal.key", "organiser.token", "store"):
        shutil.copy2(old / name, club)
    done = await asyncio.to_thread(ran, by_hand, tmp_path)
    assert done.returncode == 1, done
    assert f"game {play.id}: in doubt" in done.stdout + done.stderr
    await operator.types("referee recover --continue --data club")
    with operator.serves():
        pass


@GATE
async def test_database_went_back(tmp_path: Path, postgres: Postgres) -> None:
    operator = Operator("database-went-back", tmp_path)
    copy = tmp_path / "backup" / "club-2026-11-28-17"
    copy.parent.mkdir()
    (tmp_path / "files").mkdir()
    async with running(tmp_path / "club") as (_, client):
        play = await client.play(declaring_scribe_key=SCRIBE.public.raw)
        await _played(play, 2)
        assert (await asyncio.to_thread(ran, f"referee backup {copy} --data club", tmp_path)).returncode == 0
        await play.steps(2)
        file = tmp_path / "alice.gamelog"
        file.write_bytes(await client.log(play.id))
    operator.names |= {"GAME": play.id, "/backup/": "backup/"}

    await operator.types("rm -f club/referee.db club/referee.db-wal club/referee.db-shm")
    await operator.types("cp /backup/club-2026-11-28-17/referee.db club/referee.db")
    assert "entries are lost" in await operator.types("referee recover --data club", code=1)
    await operator.types("referee recover GAME --from alice.gamelog --data club")
    assert "every game can continue" in await operator.types("referee recover --data club")

    await operator.types('sqlite3 club/referee.db ".backup snapshot.db"')
    await operator.types("mkdir -m 700 restored")
    await operator.types("cp -p club/referee.pem club/referee.vkey club/organiser.token club/seal.key restored/")
    said = await operator.types("referee restore snapshot.db --data restored --from files", code=1)
    assert f"game {play.id}: in doubt" in said

    where = ("-h", str(postgres.folder), "-U", USER)
    postgres.run("createdb", *where, "club")
    postgres.ask("club", "CREATE TABLE there (id int)")
    postgres.run("pg_dump", *where, "--format", "custom", "--file", "club.dump", "club")
    for command in (
        "dropdb club",
        "createdb --owner referee club",
        "pg_restore --host db.example --username referee --no-owner --dbname club club.dump",
    ):
        program, *words = operator._here(command).replace(f"--host db.example --username {USER} ", "").split()
        postgres.run(program, *where, *words)
    assert postgres.ask("club", "SELECT count(*) FROM there") == [(0,)]
    postgres.drop("club")
    operator.is_done()


def test_primary_gone(tmp_path: Path) -> None:
    """All of it needs two servers: the rigs are named."""
    Operator("primary-gone", tmp_path).is_done()


@GATE
async def test_key_leaked(tmp_path: Path) -> None:
    operator = Operator("key-leaked", tmp_path)
    club = tmp_path / "club"
    async with running(club) as (_, client):
        over = await client.play(seed=3)
        await over.to_the_end()
    with operator.serves():
        new = "referee new --data club --rules kingdomino --seats 2 --out joins.txt"
        game = (await asyncio.to_thread(ran, new, tmp_path)).stdout.split()[1]
        operator.names["GAME"] = game
        listed = await operator.types("referee token list --all --data club")
        operator.names["20757c67a38eb2a8"] = next(line.split()[0] for line in listed.splitlines() if "bearer" in line)
        assert "bearer" in await operator.types("referee token revoke 20757c67a38eb2a8 --data club")
        await operator.types("referee token issue ani --scope play --game GAME --seat 0 --data club > seat.token")
        assert (tmp_path / "seat.token").read_text().strip()
        await operator.types("referee fetch --all --data club --out evidence")
        assert [path.stem for path in (tmp_path / "evidence").glob("*.gamelog")] == [over.id]
    shutil.copy(club / "organiser.token", tmp_path / "old.token")
    await operator.types("rm club/organiser.token")
    with operator.serves("referee serve --data club"):
        old = await asyncio.to_thread(ran, "referee token list --data club --token-file old.token", tmp_path)
        assert (old.returncode, "unknown token" in old.stderr) == (1, True)
        said = await operator.types("referee token revoke --issued-before $(date -u +%FT%T) --data club")
        assert "1 token revoked" in said, said
    await operator.types("mv club/seal.key leaked-seal.key")
    assert f"game {game}" in await operator.types("referee recover --new-seal --data club", code=1)
    with operator.serves("referee serve --data club-2 --origin 2.club.example"):
        assert (tmp_path / "club-2" / "referee.vkey").read_text().startswith("2.club.example+")
    operator.is_done()


@GATE
async def test_game_stuck(tmp_path: Path) -> None:
    operator = Operator("game-stuck", tmp_path)
    club = tmp_path / "club"
    async with running(club) as (_, client):
        play, other = await client.play(), await client.play(seed=2)
        await _played(play, 2)
        assert (await asyncio.to_thread(ran, "referee backup copy --data club", tmp_path)).returncode == 0
        await play.steps(2)
        (tmp_path / "alice.gamelog").write_bytes(await client.log(play.id))
    operator.names["GAME"] = play.id
    for name in ("referee.db-wal", "referee.db-shm"):
        (club / name).unlink(missing_ok=True)
    shutil.copy(tmp_path / "copy" / "referee.db", club / "referee.db")
    assert f"game {play.id}" in await operator.types("referee recover --data club", code=1)
    await operator.types("referee recover GAME --from alice.gamelog --data club")
    operator.names["GAME"] = other.id
    with operator.serves() as ready:
        assert "waits for" in await operator.types("referee status GAME --data club")
        await operator.types("referee docket GAME --data club", add=f" --server {ready['address']}")
        assert "can write" in await operator.types("referee health --data club")
        assert "can write" in await operator.types("referee health --ready --data club")
        assert "commit" in await operator.types("referee status --once --data club")
        await operator.types("referee abort GAME --data club", add=" --yes")
    operator.is_done()


@GATE
async def test_witness_down(tmp_path: Path) -> None:
    operator = Operator("witness-down", tmp_path)
    frozen = ROOT / "tests" / "frozen"
    witness = next(
        line for line in (frozen / "public-log.policy").read_text().splitlines() if line.startswith("witness ")
    )
    away = " ".join([*witness.split()[:3], "http://127.0.0.1:9"])
    (tmp_path / "policy").write_text(f"{away}\nquorum {witness.split()[1]}\n")
    serve = "referee serve --data club --origin club.example --log /srv/www/log --log-policy policy"
    operator.names |= {"/srv/www/log": "log-folder"}
    with operator.serves(serve):
        metrics = "curl -s http://127.0.0.1:9464/metrics | grep referee_log_witness_answers_total"
        async with waiting_for("the witness to be asked"):
            while 'outcome="silent"' not in await operator.types(metrics):  # noqa: ASYNC110 - no signal
                await asyncio.sleep(0.1)
    operator.names["/srv/www/log"] = str(frozen / "public-log")
    shutil.copy(frozen / "public-log.policy", tmp_path / "club.policy")
    assert "HOLDS" in await operator.types("referee log check /srv/www/log --policy club.policy")
    operator.is_done()


@GATE
async def test_flood(tmp_path: Path) -> None:
    operator = Operator("flood", tmp_path)
    with operator.serves():
        issue = "referee token issue bot --scope play --data club > bot.token"
        assert (await asyncio.to_thread(ran, issue, tmp_path)).returncode == 0
        assert "organiser" in await operator.types("referee status --callers --data club")
        listed = await operator.types("referee token list --all --data club")
        operator.names["20757c67a38eb2a8"] = next(line.split()[0] for line in listed.splitlines() if " bot " in line)
        assert "bot" in await operator.types("referee token revoke 20757c67a38eb2a8 --data club")
    with operator.serves("referee serve --data club --requests-per-s 100 --max-streams 200"):
        pass
    operator.is_done()
