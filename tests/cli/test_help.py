"""The help of all commands together, which imports none of them."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import typer

from referee.cli import COMMANDS, application, overview


def test_the_overview_says_what_the_commands_say() -> None:
    whole: Any = typer.main.get_command(application())
    short: Any = typer.main.get_command(overview())
    assert set(short.commands) == set(whole.commands) == set(COMMANDS)
    for name, command in whole.commands.items():
        assert short.commands[name].help == command.help, name
        assert short.commands[name].rich_help_panel == command.rich_help_panel


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
