"""The help of all commands together, which imports none of them."""

from __future__ import annotations

import subprocess
import sys
from inspect import cleandoc

from referee.cli import COMMANDS, GROUPS, application, overview


def test_the_overview_says_what_the_commands_say() -> None:
    whole, short = application(), overview()
    assert {name for name in short if not name.startswith("--")} == {*whole} - {"--help", "--version"} == {*COMMANDS}
    for name in COMMANDS:
        assert cleandoc(short[name].help) == cleandoc(whole[name].help), name
        assert short[name].group == whole[name].group, name


def test_the_overview_of_a_group_says_what_its_commands_say() -> None:
    for word in GROUPS:
        whole, short = application([word])[word], overview(word)[word]
        assert {*short} == {*whole}
        assert {name: cleandoc(short[name].help) for name in short} == {
            name: cleandoc(whole[name].help) for name in whole
        }


def test_the_overview_imports_no_command() -> None:
    program = (
        "import sys\nfrom contextlib import suppress\nfrom referee.cli import main\nsys.argv = ['referee', '--help']\n"
        "with suppress(SystemExit):\n    main()\n"
        "print(sorted({name.split('.')[2] for name in sys.modules if name.startswith('referee.cli.')}),"
        "'grpc' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "audit" in done.stdout
    assert done.stdout.splitlines()[-1] == "['shared'] False"
