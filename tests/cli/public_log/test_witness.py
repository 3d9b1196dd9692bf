"""``referee witness`` as a process: what it answers over HTTP, what it remembers, when it refuses to start."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from referee.log import merkle
from referee.log.keys import PrivateKey
from referee.log.note import TreeHead, VerifierKey
from referee.log.public.checkpoint import LogPolicy, open_log_checkpoint, origin_hash
from referee.log.public.witness import MAX_BODY_BYTES, Request
from tests.cli.command import REFEREE
from tests.cli.inside import referee
from tests.log.consistency import consistency_proof
from tests.log.public.logs import LOG, plain, policy_text
from tests.waiting import MOST_S, until

HASHES = [merkle.leaf_hash(leaf) for leaf in plain(50)]


@dataclass
class Running:
    """A witness that runs."""

    process: subprocess.Popen[str]
    address: str
    verifier: VerifierKey

    def add(self, old: int, size: int) -> httpx.Response:
        proof = consistency_proof(HASHES[:size], old) if old else []
        body = Request(old, tuple(proof), note(size)).encode()
        return self.post(body)

    def post(self, body: bytes) -> httpx.Response:
        return httpx.post(f"{self.address}add-checkpoint", content=body, timeout=MOST_S)

    def checkpoint(self) -> httpx.Response:
        return httpx.get(f"{self.address}{origin_hash(LOG.verifier.name)}/checkpoint", timeout=MOST_S)


def note(size: int) -> bytes:
    return LOG.sign_head(TreeHead(LOG.verifier.name, size, merkle.root(HASHES[:size])))


def words(folder: Path, *more: str) -> list[str]:
    named = [f"--{name}={folder / file}" for name, file in (("key", "w.pem"), ("logs", "logs"), ("data", "w.db"))]
    return ["witness", *named, "--listen=127.0.0.1:0", "--json", *more]


@contextmanager
def running(folder: Path, *more: str) -> Iterator[Running]:
    """Run a witness in this folder, and stop it."""
    (folder / "logs").write_text(policy_text("none", []))
    process = subprocess.Popen(
        [REFEREE, *words(folder, *more)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, process.communicate()[1]
        ready = json.loads(line)
        yield Running(process, ready["address"], VerifierKey.parse(ready["verifier_key"]))
        process.send_signal(signal.SIGTERM)
        process.communicate()
        assert process.returncode in (0, -signal.SIGKILL)
    finally:
        process.kill()
        process.communicate()


NEW = ("--new", "--name=club.example/w")


@pytest.mark.long
def test_a_witness_that_is_killed_remembers_what_it_signed(tmp_path: Path) -> None:
    with running(tmp_path, *NEW) as witness:
        reply = witness.add(0, 30)
        assert reply.status_code == 200
        text = f"log {LOG.verifier}\nwitness w {witness.verifier}\nquorum w\n"
        assert open_log_checkpoint(note(30) + reply.content, LogPolicy.parse(text.encode())).has_quorum
        witness.process.kill()
    with running(tmp_path) as witness:
        assert str(witness.verifier) in text
        assert witness.add(0, 20).status_code == 409
        assert (witness.add(20, 25).text, witness.add(20, 25).headers["content-type"]) == ("30\n", "text/x.tlog.size")
        assert witness.add(30, 40).status_code == 200
        assert open_log_checkpoint(witness.checkpoint().content, LogPolicy.parse(text.encode())).head.size == 40
        with httpx.Client(timeout=MOST_S) as client:  # one connection for several requests
            for path, status in (("add-checkpoint", 405), ("x/checkpoint", 404), ("", 404), ("../w.db", 404)):
                assert client.get(witness.address + path).status_code == status


async def test_a_flood_is_bounded_in_bytes_and_in_number(tmp_path: Path) -> None:
    with running(tmp_path, *NEW) as witness:
        assert witness.post(bytes(MAX_BODY_BYTES + 1)).status_code == 413
        host, port = witness.address.removeprefix("http://").rstrip("/").split(":")
        with socket.create_connection((host, int(port))) as flood:
            # All of them in one piece: a client that waits for answers is slowed down by waiting.
            one = b"POST /add-checkpoint HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx"
            flood.sendall(one * 99 + one.replace(b"x\r\n", b"x\r\nConnection: close\r\n", 1))
            answers = b"".join(iter(lambda: flood.recv(65536), b""))
        found = [part[:3] for part in answers.split(b"HTTP/1.1 ")[1:]]
        assert set(found) == {b"400", b"429"}
        with socket.create_connection((host, int(port))) as slow:  # one that sends nothing holds up no other
            slow.sendall(b"POST /add-checkpoint HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n")
            await until(lambda: witness.add(0, 5).status_code == 200, "an honest request", every_s=0.1)


@pytest.mark.parametrize(
    ("more", "code", "expected"),
    [
        ((), 1, "no such file, and a witness that forgets"),
        (("--new",), 2, "--new and --name belong together"),
        (("--name=x",), 2, "--new and --name belong together"),
        (("--new", "--name=a b"), 2, "--name 'a b': expected a name of printable ASCII"),
        (("--listen=x",), 2, "--listen 'x': expected HOST:PORT"),
    ],
)
def test_it_says_in_one_line_why_it_does_not_start(
    tmp_path: Path, more: tuple[str, ...], code: int, expected: str
) -> None:
    PrivateKey.generate().save(tmp_path / "w.pem")
    (tmp_path / "logs").write_text(policy_text("none", []))
    done = referee(*words(tmp_path, *more))
    assert done.returncode == code
    assert expected in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "w.db").exists()


def test_it_refuses_a_policy_or_a_key_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("quorum none\n")
    done = referee(*words(tmp_path, *NEW))
    assert (done.returncode, "no log line" in done.stderr) == (2, True)
    (tmp_path / "logs").write_text("log x\nquorum none\n")
    done = referee(*words(tmp_path, *NEW))
    assert (done.returncode, "line 1: verifier key 'x'" in done.stderr) == (2, True)
    (tmp_path / "logs").write_text(policy_text("none", []))
    (tmp_path / "w.pem").write_text("nothing")
    (tmp_path / "w.pem").chmod(0o600)
    done = referee(*words(tmp_path, *NEW))
    assert (done.returncode, "not an Ed25519 private key" in done.stderr) == (1, True)
    assert not (tmp_path / "w.db").exists()
