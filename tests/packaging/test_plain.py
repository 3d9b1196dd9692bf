"""Commands of the plain installation run without what the extras bring, and import little (test_wheel installs it)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sizes import GATE

ROOT = Path(__file__).parents[2]
FROZEN = Path("tests/frozen")
GAME = FROZEN / "kingdomino-1-dealt-4.gamelog"
EVENT = FROZEN / "event-1-swiss.eventlog"

WITHOUT = """
import sys
from referee.cli.shared.failure import EXTRAS

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if any(name.partition(".")[0] in modules for modules in EXTRAS.values()):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocked())
"""
RUN = f"""{WITHOUT}
from referee.cli import main
sys.argv = ["referee", *sys.argv[1:]]
try:
    main()
finally:
    print(len(sys.modules), *{{"asyncio", "grpc", "rich"}} & sys.modules.keys(), file=sys.stderr)
"""
IMPORT = f"""{WITHOUT}
from referee.cli import COMMANDS, GROUPS, application
for name in [*(COMMANDS.keys() - GROUPS), *(f"{{group}} {{name}}" for group in GROUPS for name in GROUPS[group])]:
    try:
        application([name])
    except ModuleNotFoundError as error:
        print(name)
"""
NEED_EXTRAS = {
    *("serve", "web", "backup", "restore", "recover", "migrate", "cluster"),
    *("play", "arbiter", "desk", "witness", "log recover", "event desk"),
}
"""Commands of which no part is in the plain installation. Others have options that take an extra."""


def without_extras(program: str, *words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", program, *map(str, words)]
    env = {**os.environ, "COLUMNS": "100"}
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False, input="")


@pytest.mark.parametrize(
    ("words", "said", "most_modules"),
    [
        (("audit", GAME, "--key", FROZEN / "referee.vkey"), "COMPLETE", 390),
        (("show", GAME), "kingdomino", 450),
        (("event", "check", EVENT), "UNTRUSTED_KEY", 410),
        (("event", "show", EVENT), "enters", 410),
        (("event", "standings", EVENT), "points", 410),
        (("score", "docs/examples/final.txt"), "", 430),
        (("inspect",), "", 190),
        (("dynasty", GAME, GAME, GAME, "--key", FROZEN / "referee.vkey"), "", 460),
    ],
    ids=lambda words: " ".join(words[:2]) if isinstance(words, tuple) and words[0] == "event" else None,
)
def test_a_command_about_files_needs_no_extra_and_no_network(
    words: tuple[object, ...], said: str, most_modules: int
) -> None:
    done = without_extras(RUN, *words)
    assert "not installed" not in done.stderr
    assert said in done.stdout, done
    modules, *heavy = done.stderr.splitlines()[-1].split()
    assert heavy == []
    assert int(modules) <= most_modules


def test_a_bot_needs_no_extra() -> None:
    done = without_extras(RUN, "bot", "greedy", "--join", "no-join-string")
    assert done.returncode == 2, done
    assert "not installed" not in done.stderr


@GATE
def test_a_demo_needs_one_extra(tmp_path: Path) -> None:
    """`pipx run --spec 'tile-referee[server]' referee demo` installs it; without the extra it says which one."""
    server_only = RUN.replace("for modules in EXTRAS.values()", "for modules in OTHERS")
    others = 'OTHERS = [set(EXTRAS[extra]) - set(EXTRAS["server"]) for extra in EXTRAS]'
    program = server_only.replace("class Blocked", f"{others}\n\nclass Blocked")
    done = without_extras(program, "demo", "--game", "rollwrite", "--bots", "greedy", "--out", tmp_path)
    assert "COMPLETE" in done.stdout, done
    done = without_extras(RUN, "demo")
    assert "expected: pip install 'tile-referee[server]'" in done.stderr


def test_every_other_command_is_there_without_extras() -> None:
    assert set(without_extras(IMPORT).stdout.splitlines()) == NEED_EXTRAS
