"""Programs that pages load as one file for each group."""

from __future__ import annotations

import posixpath
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from referee_clients.web.pages import static_files
from referee_clients.web.programs import GROUPS, joined

SOURCES = static_files()
FILES = joined(SOURCES)
MEMBERS = {member: group for group, members in GROUPS.items() for member in members}


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
@pytest.mark.parametrize("group", GROUPS)
def test_a_group_is_a_program(group: str, tmp_path: Path) -> None:
    """A name that two of its members declare, or one and an import, is refused; an own one under another name would be
    missing.
    """
    (tmp_path / "joined.mjs").write_bytes(FILES[group])
    done = subprocess.run(["node", "--check", tmp_path / "joined.mjs"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for member in GROUPS[group]:
        for names, path in re.findall(r'^import (.*) from "(\..+)";$', SOURCES[member].decode(), re.MULTILINE):
            is_own = posixpath.normpath(posixpath.join(posixpath.dirname(member), path)) in GROUPS[group]
            assert not (is_own and " as " in names), member


def test_no_program_is_loaded_twice() -> None:
    """To a browser a member and its group are two: a class of one would not be that of the other."""
    imported = {
        address
        for path, data in FILES.items()
        if path.endswith(".mjs") and path not in MEMBERS
        for address in re.findall(r'\bfrom ?"(/static/[^"]+)"', data.decode())
    }
    assert imported >= {f"/static/{group}" for group in GROUPS}
    assert not imported & {f"/static/{member}" for member in MEMBERS}
    for path, data in FILES.items():
        if path.endswith(".mjs"):
            assert not re.search(r"""\b(?:from|import) ?\(?["'`]\.""", data.decode()), path


def test_a_line_of_a_member_has_its_number_after_the_line_that_names_it() -> None:
    for member, group in MEMBERS.items():
        lines = FILES[group].decode().split("\n")
        source = SOURCES[member].decode().split("\n")[:-1]
        begin = lines.index(f"// {member}") + 1
        imports = re.compile("import [{] |.*import[(]")
        expected = {at: line for at, line in enumerate(source, begin) if not imports.match(line)}
        assert {at: lines[at] for at in expected} == expected


def test_a_member_is_where_it_was() -> None:
    for member, group in MEMBERS.items():
        assert FILES[member].decode() == f'export * from "/static/{group}";\n'
