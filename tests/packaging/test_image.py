"""The Containerfile without a container: its RUN steps in the folder of a small Debian, then the referee in there."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from tests.docs.shell import ROOT
from tests.packaging.deploy import free_port, instructions, needs

BASE = ROOT / "build" / "deploy-root"
"""A Debian with Python, as the image's base has; made once."""
PACKAGES = "python3,python3-venv,ca-certificates"
DEBIAN = "http://deb.debian.org/debian"
CERTIFICATES = "etc/ssl/certs/ca-certificates.crt"
MOST_S = 1800


def inside(root: Path, *words: str, user: str = "root") -> subprocess.CompletedProcess[str]:
    """Run a program in the folder as if that was all of the machine."""
    passed = {
        name: value for name, value in os.environ.items() if re.match("(?i)(https?|no)_proxy|PIP_CERT|SSL_", name)
    }
    told = dict(instructions())
    set_by_image = dict(word.split("=", 1) for word in shlex.split(told["ENV"]))
    return subprocess.run(
        [needs("chroot"), f"--userspec={user}:{user}", root, *words],
        env=passed | set_by_image | {"HOME": "/tmp", "LC_ALL": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=False,
    )


def context(to: Path) -> None:
    """Copy what .dockerignore lets into the build."""
    shutil.rmtree(to, ignore_errors=True)
    left_out = re.findall(r"^\*\*/(.*)", (ROOT / ".dockerignore").read_text(), re.MULTILINE)
    for name in re.findall(r"^!(.*)", (ROOT / ".dockerignore").read_text(), re.MULTILINE):
        copy = to / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy, symlinks=True, ignore=shutil.ignore_patterns(*left_out))
        else:
            shutil.copy2(ROOT / name, copy)


@pytest.fixture(scope="module")
def root() -> Path:
    """Return the folder."""
    debootstrap = needs("debootstrap")
    if os.geteuid():
        pytest.skip("only root may change the root folder")
    if not (BASE / "usr/bin/python3").exists():
        words = [debootstrap, "--variant=minbase", f"--include={PACKAGES}", "bookworm", str(BASE), DEBIAN]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            shutil.rmtree(BASE, ignore_errors=True)
            pytest.skip(f"no Debian came: {done.stdout[-300:]}")
    (BASE / CERTIFICATES).parent.mkdir(parents=True, exist_ok=True)
    for file in ("etc/resolv.conf", "etc/hosts", CERTIFICATES):
        if Path("/", file).exists():
            shutil.copy(Path("/", file), BASE / file)
    shutil.rmtree(BASE / "opt", ignore_errors=True)
    shutil.rmtree(BASE / "data", ignore_errors=True)
    inside(BASE, "userdel", "referee")
    (BASE / "opt").mkdir()
    context(BASE / "src")
    return BASE


@pytest.mark.long
@pytest.mark.timeout(MOST_S)
def test_the_steps_of_the_containerfile_make_a_referee_that_is_well(root: Path) -> None:
    for name, words in instructions():
        if name == "RUN":
            done = inside(root, "/bin/sh", "-c", words)
            assert done.returncode == 0, (words, done.stdout[-2000:], done.stderr[-2000:])
    told = dict(instructions())
    user, port = told["USER"], free_port()
    assert "referee" in inside(root, "referee", "--version", user=user).stdout
    serve = [*json.loads(told["ENTRYPOINT"]), *json.loads(told["CMD"]), "--listen", f"127.0.0.1:{port}"]
    environment = {"PATH": "/opt/tile-referee/bin:/usr/bin:/bin", "REFEREE_SERVE_DATA": "/data", "HOME": "/tmp"}
    command = [needs("chroot"), f"--userspec={user}:{user}", str(root), *serve]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline().startswith("listening on")
            health = told["HEALTHCHECK"].partition("CMD ")[2]
            deadline = time.monotonic() + 60
            while (asked := inside(root, *json.loads(health), user=user)).returncode and time.monotonic() < deadline:
                time.sleep(0.5)
            assert (asked.returncode, asked.stdout) == (0, "the referee can write\n"), asked
            assert (root / "data" / "referee.pem").stat().st_uid == int(
                re.findall(r"--uid (\d+)", str(instructions()))[0]
            )
        finally:
            process.terminate()
            process.communicate()
