"""Commands as a page shows them: found, run as a reader would, and held against what the page says they print."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.cli import inside
from tests.cli.command import REFEREE

ROOT = Path(__file__).parent.parent.parent
ENVIRONMENT = {
    **os.environ,
    "PATH": f"{REFEREE.parent}{os.pathsep}{os.environ['PATH']}",
    "COLUMNS": "100",
    "NO_COLOR": "1",
}
_WORDS = r"""(?:[^|<>;&$`\n'"]|'[^'\n]*'|"[^"$`\\\n]*")+"""
_PIPE = re.compile(rf"({_WORDS}(?:> ?[\w.-]+ *)?)(?:\||$)")
_ALONE = re.compile(rf"referee (?!bot \S+:|match )({_WORDS}?)(?: ?> ?([\w.-]+))?")
"""Commands that need a shell for their quotes only; a bot may be a module of the reader's own, of which a match has
several."""


_OR_ITS_CODE = re.compile(r"""(.*\S) \|\| echo "exit code \$\?\"""")


class File(NamedTuple):
    """A file that the reader is to save: a block of code whose first line is a comment with its name."""

    name: str
    text: str


class Example(NamedTuple):
    """A command after a prompt, and the output shown below it."""

    terminal: str
    """The figure before the prompt, for a command that keeps its terminal; empty for all others."""
    command: str
    output: str


def examples(page: str) -> list[Example]:
    """Return the commands after ``$``, in blocks indented by four."""
    found = []
    for block in re.findall(r"^    \d?\$ .*(?:\n(?:    .*|(?=\n    )))*", page, re.MULTILINE):
        _, *parts = re.split(r"^    (\d?)\$ ", block, flags=re.MULTILINE)
        for terminal, example in zip(parts[::2], parts[1::2], strict=True):
            command, _, output = example.partition("\n")
            found.append(Example(terminal, command, re.sub("^    ", "", output, flags=re.MULTILINE)))
    return found


def steps(page: str) -> list[File | Example]:
    """Return what the reader does, in the order of the page: files to save, and commands."""
    found: list[File | Example] = []
    for part in re.split(r"^(```python\n# \w+\.py\n.*?^```\n)", page, flags=re.DOTALL | re.MULTILINE):
        file = re.fullmatch(r"```python\n(# (\w+\.py)\n.*)```\n", part, re.DOTALL)
        found += examples(part) if file is None else [File(file[2], file[1])]
    return found


def anchors(page: Path) -> set[str]:
    """Return the names that links may have after ``#``: the page's headings, in lower case, without punctuation."""
    headings = re.findall(r"^#+ (.*)", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def is_shown(output: str, printed: str, *, lines: bool = True) -> bool:
    """Check the output against a page, where an ellipsis stands for any text; ``lines``: over several lines, too."""
    anything = r"(?s:.*)" if lines else ".*"
    pattern = anything.join(map(re.escape, output.strip("\n").split("…")))
    return re.fullmatch(pattern, printed.strip("\n")) is not None


def ran(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the command to its end; return its exit code and what it printed.

    The parts of a pipeline run one after the other: those of the referee in this process, the others in a shell.
    ``COMMAND || echo "exit code $?"`` shows the code of a command that fails, and ends with 0 as it does in a shell.
    """
    if coded := _OR_ITS_CODE.fullmatch(command):
        failed = ran(coded[1], folder)
        shown = f"{failed.stdout}exit code {failed.returncode}\n" if failed.returncode else failed.stdout
        return subprocess.CompletedProcess(command, 0, shown, failed.stderr)
    parts = [part.strip() for part in _PIPE.findall(command)]
    if " | ".join(parts) != command:
        return _run(command, folder)
    done, error = subprocess.CompletedProcess[str](command, 0, "", ""), ""
    for part in parts:
        done = _run(part, folder, done.stdout)
        error += done.stderr
    return subprocess.CompletedProcess(command, done.returncode, done.stdout, error)


def _run(command: str, folder: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    found = _ALONE.fullmatch(command)
    if found is None:
        shell = ["sh", "-c", command]
        return subprocess.run(
            shell, cwd=folder, env=ENVIRONMENT, input=stdin, capture_output=True, text=True, check=False
        )
    words, file = found.groups()
    done = inside.referee(*shlex.split(words), cwd=folder, stdin=stdin)
    if file is not None:
        (folder / file).write_text(done.stdout)
        done.stdout = ""
    return done


@contextmanager
def running(command: str, folder: Path, log: Path) -> Iterator[None]:
    """Run the command beside the others until the block ends; ``log`` gets what it prints."""
    with log.open("wb") as out:
        process = subprocess.Popen(
            ["sh", "-c", f"exec {command}"], cwd=folder, env=ENVIRONMENT, stdout=out, stderr=subprocess.DEVNULL
        )
        try:
            yield
        finally:
            process.terminate()
            process.wait()
