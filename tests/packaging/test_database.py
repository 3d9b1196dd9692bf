"""The scripts of docs/deploy make a database and a standby, run as the image of PostgreSQL runs them, for a referee."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

import pytest
import yaml

from tests.cli.command import REFEREE
from tests.packaging.deploy import DEPLOY, free_port, text_of
from tests.server.store.postgres import Postgres, programs
from tests.sizes import GATE

ENTRYPOINT = """#!/bin/sh
# The image's program of this name, as far as it matters: it starts the server.
exec pg_ctl --pgdata "$PGDATA" --wait --log "$PGDATA.log" --options "-k $SOCKETS -p $PORT -h 127.0.0.1" start
"""


class Machine:
    """A folder in which both servers are, run by the user of PostgreSQL."""

    def __init__(self, bin_: Path, folder: Path) -> None:
        self.folder = folder
        self.server = Postgres(bin_, folder)
        self.ports = {name: str(free_port()) for name in ("primary", "standby")}
        self._path = f"{folder}:{bin_}:{os.environ['PATH']}"
        for name in ("primary.sh", "standby.sh"):
            shutil.copy(DEPLOY / "postgresql" / name, folder)
        (folder / "docker-entrypoint.sh").write_text(ENTRYPOINT)
        (folder / "docker-entrypoint.sh").chmod(0o755)
        for name in ("admin", "referee", "standby"):
            (folder / f"database-{name}").write_text(f"secret of {name}\n")

    def run(self, name: str, *words: str) -> None:
        """Run a program as the image does for this server."""
        told = {
            "PATH": self._path,
            "PGDATA": f"{self.folder}/{name}",
            "SECRETS": str(self.folder),
            "SOCKETS": str(self.folder),
            "PORT": self.ports[name],
            "PGHOST": str(self.folder),
            "PGPORT": self.ports[name],
            "PRIMARY": "127.0.0.1",
            "PRIMARY_PORT": self.ports["primary"],
        }
        self.server.run("/usr/bin/env", *(f"{variable}={value}" for variable, value in told.items()), *words)

    def make(self) -> None:
        """Make the database and have the standby follow it."""
        self.run("primary", "initdb", "--username=postgres", "--auth-local=trust", "--auth-host=scram-sha-256")
        hba = self.folder / "primary" / "pg_hba.conf"
        hba.write_text(hba.read_text() + "host all all all scram-sha-256\n")
        self.run("primary", "docker-entrypoint.sh")
        self.run("primary", "sh", str(self.folder / "primary.sh"))
        self.run("primary", "pg_ctl", "--wait", "stop")
        self.run("primary", "docker-entrypoint.sh")
        for _ in ("the first start", "a later one"):
            self.run("standby", "sh", str(self.folder / "standby.sh"))
            self.run("standby", "pg_ctl", "--wait", "stop")
        self.run("standby", "sh", str(self.folder / "standby.sh"))


@pytest.fixture
def machine() -> Iterator[Machine]:
    """Both servers, running."""
    if (bin_ := programs()) is None or not (bin_ / "pg_basebackup").exists():
        pytest.skip("there is no PostgreSQL here")
    folder = Path(mkdtemp(prefix="referee-deploy-"))
    made = Machine(bin_, folder)
    for path in folder.iterdir():
        made.server.own(path.name)
    try:
        made.make()
        yield made
    finally:
        for name in ("standby", "primary"):
            if (folder / name / "postmaster.pid").exists():
                made.run(name, "pg_ctl", "--mode=immediate", "stop")
        shutil.rmtree(folder)


@contextmanager
def serving(data: Path, address: str, environment: dict[str, str]) -> Iterator[None]:
    """Yield a referee as the cluster's file starts it."""
    words = [REFEREE, "serve", "--data", data, "--listen", "127.0.0.1:0", "--store", address, "--json"]
    with subprocess.Popen(
        [*map(str, words), "--require-standby"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            ready = process.stdout.readline()
            assert ready, process.stderr.read()
            yield
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate()


@GATE
def test_a_referee_plays_on_the_database_with_its_standby(machine: Machine, tmp_path: Path) -> None:
    told = yaml.safe_load(text_of("compose.cluster.yaml"))["services"]["referee"]["environment"]
    assert told["REFEREE_SERVE_REQUIRE_STANDBY"] == "true"
    address = told["REFEREE_SERVE_STORE"].replace(
        "database,standby", ",".join(f"127.0.0.1:{machine.ports[name]}" for name in ("primary", "standby"))
    )
    environment = os.environ | {"PGPASSWORD": (machine.folder / "database-referee").read_text().strip()}
    with serving(tmp_path / "club", address, environment):
        for words in (("health", "--ready"), ("new", "--rules", "kingdomino", "--seats", "2")):
            done = subprocess.run(
                [REFEREE, *words, "--data", tmp_path / "club"],
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done
    sql = "SELECT json_agg(sync_state) FROM pg_stat_replication"
    said = machine.server.run(
        "psql",
        "-h",
        str(machine.folder),
        "-p",
        machine.ports["primary"],
        "-U",
        "postgres",
        "-d",
        "postgres",
        "-Atc",
        sql,
    )
    assert json.loads(said) == ["sync"]
