"""The pages for operators: short, and the commands that install a referee with TLS and a file of options work."""

from __future__ import annotations

import json
import re
import subprocess
from contextlib import closing
from pathlib import Path
from textwrap import dedent

import pytest

from tests.docs.shell import ENVIRONMENT, ROOT

FOLDER = ROOT / "docs" / "operate"
PAGES = sorted(FOLDER.glob("*.md"))
INSTALL = (FOLDER / "install.md").read_text(encoding="utf-8")


def blocks(section: str) -> list[str]:
    """Return the blocks of code in a section of the page about installing."""
    text = INSTALL.partition(f"# {section}\n")[2].partition("\n#")[0]
    found = re.findall(r"(?:^(?: {4}.*)?\n)+", f"{text}\n", re.MULTILINE)
    return [dedent(block) for block in found if block.strip()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.stem))
def test_none_but_the_reference_is_long(page: Path) -> None:
    assert page.stem == "reference" or len(page.read_bytes()) < 12 * 1024


def test_options_in_a_file_are_as_the_page_has_them(tmp_path: Path) -> None:
    file, *_ = blocks("Keep the options in a file")
    (tmp_path / "referee.toml").write_text(file.partition("# referee.toml\n")[2])
    done = _sh("referee serve --config referee.toml --show-config", tmp_path)
    assert re.search(r'^listen = "0\.0\.0\.0:50051"  # .*referee\.toml', done, re.MULTILINE), done


def test_a_referee_with_a_certificate_of_its_own_authority(tmp_path: Path) -> None:
    """And the tokens of the day, over TLS."""
    (openssl,) = blocks("A certificate of your own authority")
    _sh(openssl, tmp_path)
    (serve,) = (line for line in blocks("TLS")[0].splitlines() if line.startswith("referee serve"))
    serve = serve.replace("0.0.0.0:50051", "127.0.0.1:0").replace("club.example:50051", "localhost:50051")
    command = ["sh", "-c", f"exec {serve} --json"]
    with subprocess.Popen(command, cwd=tmp_path, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            with closing(process.stdout) as out:
                ready = json.loads(out.readline())
            port = ready["address"].rpartition(":")[2]
            day = (FOLDER / "day.md").read_text(encoding="utf-8")
            (tokens,) = re.findall(
                r"(?:^    .*token.*\n)+", day.partition("## Hand out")[2].partition("--event")[0], re.MULTILINE
            )
            issue, listed, revoke = dedent(tokens).replace("localhost:50051", f"localhost:{port}").splitlines()
            lines = ["export REFEREE_TLS_CA=ca.pem", issue, listed]
            found = _sh("\n".join(lines), tmp_path)
            (token,) = (line.split()[0] for line in found.splitlines() if "ani.bot" in line)
            assert "ani.bot" in _sh(f"{lines[0]}\n{revoke.replace('20757c67a38eb2a8', token)}", tmp_path)
        finally:
            process.terminate()


def _sh(script: str, folder: Path) -> str:
    done = subprocess.run(
        ["sh", "-ec", script], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
