"""Options of ``serve`` and ``web`` from a file and from the environment: which one counts, and what is refused."""

from __future__ import annotations

import asyncio
import json
import os
import tomllib
from asyncio.subprocess import DEVNULL, PIPE
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import REFEREE
from tests.cli.inside import referee


def shown(*words: str | Path) -> tuple[dict[str, Any], dict[str, str], str]:
    """Return the settings that count, where each is from, and the whole text."""
    done = referee(*words, "--show-config")
    assert done.returncode == 0, done
    sources = {
        line.partition(" = ")[0]: line.rpartition("  # ")[2] for line in done.stdout.splitlines() if " = " in line
    }
    return tomllib.loads(done.stdout)[str(words[0])], sources, done.stdout


def refusal(*words: str | Path) -> str:
    done = referee(*words)
    assert (done.returncode, done.stdout) == (2, ""), done
    return done.stderr


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "referee.toml"
    path.write_text(
        """[serve]
data = "club"
listen = "127.0.0.1:0"
heartbeat = 5
require-standby = true
web-origin = ["https://a.example", "https://b.example"]

[web]
listen = "127.0.0.1:8081"
"""
    )
    path.chmod(0o600)
    return path


def test_an_option_counts_before_the_environment_and_that_before_the_file(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFEREE_SERVE_HEARTBEAT", "6")
    monkeypatch.setenv("REFEREE_SERVE_MAX_STREAMS", "9")
    monkeypatch.setenv("REFEREE_SERVE_WEB_ORIGIN", "https://c.example")
    monkeypatch.setenv("REFEREE_SERVE_REQUIRE_STANDBY", "false")
    found, sources, _ = shown("serve", "--config", file, "--max-streams", "7")
    assert found["data"] == str(file.parent / "club"), "paths are relative to the file"
    assert (found["heartbeat"], sources["heartbeat"]) == (6.0, "environment")
    assert (found["max-streams"], sources["max-streams"]) == (7, "option")
    assert (found["web-origin"], found["require-standby"]) == (["https://c.example"], False)
    assert (found["listen"], sources["listen"]) == ("127.0.0.1:0", str(file))
    assert (found["log-level"], sources["log-level"]) == ("info", "default")


def test_what_is_shown_is_a_file_that_says_the_same(file: Path, tmp_path: Path) -> None:
    found, _, text = shown("serve", "--config", file, "--public", 'a"b')
    again = tmp_path / "again.toml"
    again.write_text(text)
    again.chmod(0o600)
    assert shown("serve", "--config", again)[0] == found


def test_one_file_is_for_both_commands(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFEREE_CONFIG", str(file))
    assert shown("web")[0]["listen"] == "127.0.0.1:8081"
    monkeypatch.setenv("REFEREE_SERVER", "127.0.0.1:1")
    assert shown("web")[0]["server"] == "127.0.0.1:1", "what has a meaning of its own keeps it"


def test_a_variable_without_a_meaning_is_warned_of(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("REFEREE_LISTEN", "REFEREE_SERVE_LISTENS", "REFEREE_WEB_LISTEN", "REFEREE_TLS_CA"):
        monkeypatch.setenv(variable, "x")
    done = referee("serve", "--config", file, "--show-config")
    warned = [line.split()[1] for line in done.stderr.splitlines() if line.startswith("warning: ")]
    assert warned == ["REFEREE_LISTEN", "REFEREE_SERVE_LISTENS"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[serve]\ndata = "x"\nlisten-to = 3', "line 3: listen-to is no option of referee serve"),
        ("[serve]\nheartbeat = true", "line 2: heartbeat: expected a number"),
        ("[serve]\nmax-streams = 1.5", "line 2: max-streams: expected a whole number"),
        ("[serve]\ninsecure = 1", "line 2: insecure: expected true or false"),
        ('[serve]\nweb-origin = "https://a.example"', "line 2: web-origin: expected a list, each of it a text"),
        ('[serve]\nlog-level = "loud"', "line 2: log-level: expected one of debug, info, warning, error"),
        ('[sevre]\nlisten = "x"', "line 1: 'sevre'; expected the tables [serve] and [web]"),
        ('listen = "x"', "line 1: 'listen'; expected the tables [serve] and [web]"),
        ("[serve", "not TOML: "),
        ("\xff", "not UTF-8"),
        (f"# {'x' * 65_536}", "expected at most 65536 bytes"),
    ],
)
def test_a_file_that_does_not_do_is_told_of_by_line(text: str, told: str, tmp_path: Path) -> None:
    file = tmp_path / "bad.toml"
    file.write_bytes(text.encode("latin-1"))
    file.chmod(0o600)
    assert f"--config {file}" in (said := refusal("serve", "--config", file))
    assert told in said


def test_a_file_that_others_can_change_is_none(file: Path, tmp_path: Path) -> None:
    file.chmod(0o620)
    assert f"others can change it (mode 0620); expected: chmod go-w {file}" in refusal("serve", "--config", file)
    os.mkfifo(tmp_path / "pipe", 0o600)
    assert "expected a file" in refusal("serve", "--config", tmp_path / "pipe")
    assert "No such file" in refusal("serve", "--config", tmp_path / "none")


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("HEARTBEAT", "soon", "expected a number"),
        ("INSECURE", "perhaps", "expected true or false"),
        ("LOG_LEVEL", "loud", "expected one of debug"),
    ],
)
def test_a_variable_that_does_not_do_is_named(
    name: str, value: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"REFEREE_SERVE_{name}", value)
    assert f"REFEREE_SERVE_{name}: {told}" in refusal("serve", "--show-config")


async def test_a_referee_starts_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "referee.toml"
    file.write_text('[serve]\ndata = "club"\nlisten = "127.0.0.1:0"\njson = true\nsolver-workers = 0\n')
    file.chmod(0o600)
    process = await asyncio.create_subprocess_exec(REFEREE, "serve", "--config", file, stdout=PIPE, stderr=DEVNULL)
    assert process.stdout is not None
    ready = json.loads(await process.stdout.readline())
    process.terminate()
    assert await process.wait() == 0
    assert ready["address"].startswith("127.0.0.1:")
    assert (tmp_path / "club" / "referee.pem").exists()
