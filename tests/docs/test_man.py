"""The manual pages: one of each command, with all of its options, which the programs for such pages take."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from referee.cli import COMMANDS
from tests import make_man


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """Return each page by its name."""
    return make_man.pages()


def test_every_command_has_its_page(pages: dict[str, str]) -> None:
    assert set(pages) == {"referee.1", *(f"referee-{name}.1" for name in COMMANDS)}
    assert r"\-\-receipt" in pages["referee-audit.1"]
    assert ".SS pair" in pages["referee-event.1"]
    assert all("``" not in text for text in pages.values())


@pytest.mark.parametrize("program", ["mandoc", "man"])
def test_they_are_taken(program: str, pages: dict[str, str], tmp_path: Path) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"there is no {program} here")
    words = {"mandoc": ["-T", "lint", "-W", "warning"], "man": ["--warnings", "-l", "-E", "UTF-8"]}[program]
    for name, text in pages.items():
        file = tmp_path / name
        file.write_text(text, encoding="utf-8")
        done = subprocess.run([program, *words, file], capture_output=True, text=True, check=False)
        said = done.stderr if program == "man" else done.stdout
        assert (done.returncode, said) == (0, ""), name


def test_a_line_that_looks_like_a_request_is_text() -> None:
    assert make_man._escaped(".gamelog") == r"\&.gamelog"
    assert make_man._marked("use `--log-policy` [here](web.md)") == r"use \fB\-\-log\-policy\fR here"
