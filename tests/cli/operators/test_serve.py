"""``referee serve``, ``new`` and ``keys`` as their users run them."""

from __future__ import annotations

import asyncio
import json
import shutil
import socket
import stat
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Callable
from pathlib import Path

import pytest

from referee.cli import main
from referee.log.entry import decode_open
from referee.log.keys import PrivateKey, public_key_from_pem
from referee.log.note import VerifierKey
from referee.log.v1 import log_pb2
from referee.server.service.data import DataError, open_data, origin_of
from referee.v1 import game_service_pb2 as pb
from referee_clients.join import parse_join
from tests.cli import command
from tests.cli.command import NOBODY, REFEREE
from tests.cli.inside import referee
from tests.server.service.conftest import running
from tests.server.service.player import Client
from tests.server.service.process import serve

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return the command in this process: exit code, standard output, standard error."""

    def run(*words: str | Path) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["referee", *map(str, words)])
        with pytest.raises(SystemExit) as stopped:
            main()
        return int(stopped.value.code or 0), *capsys.readouterr()

    return run


async def opened(client: Client, game_id: str) -> pb.GetGameResponse:
    response: pb.GetGameResponse = await client.games.GetGame(pb.GetGameRequest(game_id=game_id))
    return response


async def test_serve_says_as_json_where_it_is(tmp_path: Path) -> None:
    data = tmp_path / "a folder"
    words = ("serve", "--data", data, "--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0", "--json")
    process = await asyncio.create_subprocess_exec(REFEREE, *words, stdout=PIPE, stderr=DEVNULL)
    assert process.stdout is not None
    ready = json.loads(await process.stdout.readline())
    process.terminate()
    assert await process.wait() == 0
    assert ready.pop("address").startswith("127.0.0.1:")
    assert ready.pop("metrics").startswith("http://127.0.0.1:")
    assert ready == {
        "organiser_token_file": str(data / "organiser.token"),
        "verifier_key_file": str(data / "referee.vkey"),
        "log_verifier_key_file": None,
        "web": None,
        "web_lacks": [],
    }


async def test_serve_keeps_what_it_has_for_the_next_start(tmp_path: Path) -> None:
    data = tmp_path / "data"
    running_ = await serve(data, tmp_path / "log")
    assert running_.lines[1:] == [
        f"organiser token in {data / 'organiser.token'}",
        f"verifier key in {data / 'referee.vkey'}",
    ]
    for name in ("organiser.token", "referee.pem", "referee.db"):
        assert stat.S_IMODE((data / name).stat().st_mode) == 0o600
    assert running_.token not in "\n".join(running_.lines)
    running_.process.terminate()
    assert await running_.process.wait() == 0

    again = await serve(data, tmp_path / "log")
    assert (again.token, again.lines[1:]) == (running_.token, running_.lines[1:])
    for listen in ("127.0.0.1:0", again.address):
        done = command.referee("serve", "--data", data, "--listen", listen)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.splitlines()[-1] == f"referee: {data}: another referee is running on this directory"
    again.process.terminate()
    assert await again.process.wait() == 0


async def test_a_game_is_opened_with_join_strings_for_its_seats(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with running(data) as (server, client):
        chosen = ("--seats", "3", "--age-order", "2,0,1", "--options", '{"max_turns": 50}')
        words = ("new", "--server", server.address, "--data", data)
        done = await asyncio.to_thread(referee, *words, *chosen, "--json")
        assert (done.returncode, done.stderr.count("\n")) == (0, 1), "a warning of the address"
        created = json.loads(done.stdout)
        assert created["verifier_key"] == (data / "referee.vkey").read_text().strip()
        joins = [parse_join(created["joins"][str(seat)]) for seat in range(3)]
        assert [join.seat for join in joins] == [0, 1, 2]
        assert {(join.address, join.game_id) for join in joins} == {(server.address, created["game"])}
        assert len((await opened(client, joins[0].game_id)).game.seats) == 3


async def test_a_declared_game_is_opened_and_its_join_strings_are_kept(tmp_path: Path) -> None:
    key, out = tmp_path / "scribe.pem", tmp_path / "joins.txt"
    public = referee("keys", key, "--new").stdout.strip()
    async with running(tmp_path / "data") as (server, client):
        words = ("new", "--server", server.address, "--data", tmp_path / "data")
        declared = ("--seats", "4", "--declare", key, "--scribed", "1", "--record-attempts")
        done = await asyncio.to_thread(referee, *words, *declared, "--out", out, "--proofs", "refusals")
        assert (done.returncode, done.stderr.count("\n")) == (0, 1), "a warning of the address"
        assert stat.S_IMODE(out.stat().st_mode) == 0o600
        lines = out.read_text().splitlines()
        assert [parse_join(line).seat for line in lines[:3]] == [0, 2, 3]
        assert lines[3].startswith("scribe ")
        assert not any(line.split("#")[-1] in done.stdout for line in lines[:3])
        game = (await opened(client, parse_join(lines[0]).game_id)).game
        assert (game.declared, [seat.scribed for seat in game.seats]) == (True, [False, True, False, False])
        terms = decode_open(game.open).terms
        assert terms.illegal_moves == log_pb2.ILLEGAL_MOVE_POLICY_RECORDED
        assert terms.proofs == log_pb2.PROOF_POLICY_REFUSALS

        done = await asyncio.to_thread(referee, *words, "--scribed", "0", "--scribe", public)
        assert done.returncode == 0
        assert [line.split(":")[0] for line in done.stdout.splitlines()][2:] == ["seat 1", "scribe"]


def test_serve_refuses(tmp_path: Path, here: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        cases: list[tuple[tuple[str | Path, ...], int, str]] = [
            (("--listen", "0.0.0.0:0"), 2, "not a loopback address"),
            (("--listen", "192.0.2.1:0", "--insecure"), 1, "cannot listen on 192.0.2.1:0"),
            (("--listen", f"127.0.0.1:{port}"), 1, f"cannot listen on 127.0.0.1:{port}"),
            (("--listen", "50051"), 2, "expected HOST:PORT"),
            (("--listen", "localhost:70000"), 2, "expected HOST:PORT"),
            (("--origin", "two words"), 2, "--origin 'two words': expected a name of printable ASCII without spaces"),
            (("--nodes", "0.0.0.0:50052"), 2, "--nodes 0.0.0.0:50052: no address to connect to"),
            (("--public", "club.example"), 2, "--public 'club.example': expected HOST:PORT, or grpcs://HOST:PORT"),
            (("--log-format", "xml"), 2, "xml"),
        ]
        for words, code, text in cases:
            found = here("serve", "--data", tmp_path / "data", *words)
            assert found[:2] == (code, ""), words
            assert text in found[2].splitlines()[-1]
            assert "cannot listen" not in text or not (tmp_path / "data").exists()
    (tmp_path / "file").write_text("")
    code, _, error = here("serve", "--data", tmp_path / "file", "--listen", "127.0.0.1:0")
    expected = "this is a file; expected a directory, or the name of a new one"
    assert (code, error) == (2, f"referee: --data {tmp_path / 'file'}: {expected}\n")


def test_a_port_that_is_taken_is_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        files = {name: tmp_path / name.strip("-") for name in ("--marks", "--seal-key")}
        words = [word for option in files.items() for word in option]
        done = command.referee("serve", "--data", tmp_path / "data", "--listen", f"127.0.0.1:{port}", *words)
    assert (done.returncode, done.stdout) == (1, "")
    why = "another program listens there; expected another port, or that this program is stopped"
    assert done.stderr == f"referee: cannot listen on 127.0.0.1:{port}: {why}\n"
    assert list(tmp_path.iterdir()) == [], "the next start finds nothing that it would take for another's"


@pytest.mark.parametrize(
    "words",
    [
        ("--require-standby",),
        ("--store", "postgresql://127.0.0.1:1/club?connect_timeout=1"),
        ("--log-policy", "policy"),
    ],
    ids=lambda words: words[0],
)
def test_a_first_start_that_fails_binds_nothing(words: tuple[str, ...], tmp_path: Path, here: Run) -> None:
    """Neither key nor name is there: the next start may have another."""
    data, elsewhere = tmp_path / "data", ("--marks", tmp_path / "marks", "--seal-key", tmp_path / "seal")
    data.mkdir(mode=0o700)
    code, _, error = here("serve", "--data", data, "--listen", "127.0.0.1:0", *elsewhere, *words)
    assert code in (1, 2), error
    assert {path.name for path in tmp_path.rglob("*")} <= {"data", "lock"}
    assert origin_of(data, "club.example") == "club.example"


def test_a_start_that_fails_later_removes_nothing(tmp_path: Path, here: Run) -> None:
    data = tmp_path / "data"
    asyncio.run(_opened_and_closed(data))
    before = {path.name: path.read_bytes() for path in data.iterdir()}
    assert here("serve", "--data", data, "--listen", "127.0.0.1:0", "--require-standby")[0] == 1
    assert {path.name: path.read_bytes() for path in data.iterdir()} == before


KEYS = {
    "another key": ("referee.pem", "another key than referee.vkey names, so what it signs would not count"),
    "a key that is lost": ("", "No such file, and without it no game can continue"),
    "key and name of another referee": (
        "referee.pem referee.vkey",
        "the games in referee.db are signed by referee.local, not by other.example, so none could continue",
    ),
    "another key, and no name": (
        "referee.pem -referee.vkey",
        "the games in referee.db are signed by referee.local, with another key, so none could continue",
    ),
    "another key of the public log": ("log.pem", "another key than log.vkey names"),
}


@pytest.mark.parametrize("case", KEYS)
def test_a_start_with_another_key_changes_nothing(case: str, tmp_path: Path, here: Run) -> None:
    """Every game would be set aside with it, and the verifier's file be written anew."""
    files, expected = KEYS[case]
    data, log = tmp_path / "data", ("--log", tmp_path / "log")

    async def prepare() -> None:
        async with running(data, log=tmp_path / "log") as (_, client):
            await client.play()
        async with running(tmp_path / "other", origin="other.example", log=tmp_path / "other-log"):
            pass

    asyncio.run(prepare())
    if not files:
        (data / "referee.pem").unlink()
    for name in files.split():
        if name.startswith("-"):
            (data / name[1:]).unlink()
        else:
            shutil.copy(tmp_path / "other" / name, data)
    # The key of the log is looked at when the games are open.
    kept = [path for path in data.iterdir() if files != "log.pem" or path.suffix in (".pem", ".vkey")]
    before = {path: path.read_bytes() for path in kept}
    origin = ("--origin", "referee.local") if "-" in files else ()
    for words in (("serve", "--listen", "127.0.0.1:0", *log, *origin), ("recover",)):
        if words[0] == "serve" or (files != "log.pem" and not origin):
            code, _, error = here(*words, "--data", data)
            assert (code, expected in error, "nothing was changed; put back" in error) == (1, True, True), error
            assert error.count("\n") == 1
    assert {path: path.read_bytes() for path in kept} == before
    assert files == "log.pem" or {*data.iterdir()} == {*kept}


async def _opened_and_closed(data: Path) -> None:
    await open_data(data, "club.example").close()


def test_an_address_of_another_machine_is_told_apart_from_one_that_is_taken(tmp_path: Path, here: Run) -> None:
    words = ("serve", "--data", tmp_path / "data", "--insecure", "--listen", "192.0.2.1:50051")
    code, _, error = here(*words)
    expected = "this machine has no such address; expected one of its own, such as 127.0.0.1"
    assert (code, error) == (1, f"referee: cannot listen on 192.0.2.1:50051: {expected}\n")
    assert not (tmp_path / "data").exists()


def test_an_address_for_other_nodes_needs_a_database(tmp_path: Path, here: Run) -> None:
    code, _, error = here("serve", "--data", tmp_path / "data", "--nodes", "127.0.0.1:0")
    what = "the games are in a file, which no other referee can reach"
    assert (code, error) == (
        2,
        f"referee: --nodes 127.0.0.1:0: {what}; expected --store with a database, or no --nodes\n",
    )
    assert not (tmp_path / "data").exists()


async def test_the_name_belongs_to_the_directory(tmp_path: Path, here: Run) -> None:
    data = tmp_path / "data"
    keys = []
    for words in (("--origin", "referee.example"), ()):
        started = await serve(data, tmp_path / "log", *words)
        keys.append(VerifierKey.parse((data / "referee.vkey").read_text().strip()))
        started.process.terminate()
        await started.process.wait()
    assert keys[0] == keys[1]
    assert keys[0].name == "referee.example"

    before = {path.name: path.read_bytes() for path in data.iterdir()}
    code, _, error = here("serve", "--data", data, "--listen", "127.0.0.1:0", "--origin", "referee.local")
    expected = "this referee's name is referee.example, not referee.local; expected no --origin, or the same"
    assert (code, error) == (1, f"referee: {data}: {expected}\n")
    assert {path.name: path.read_bytes() for path in data.iterdir()} == before


def test_a_name_that_is_lost_is_not_invented(tmp_path: Path) -> None:
    assert origin_of(tmp_path, None) == "referee.local"
    assert origin_of(tmp_path, "referee.example") == "referee.example"
    (tmp_path / "referee.db").touch()
    with pytest.raises(DataError, match=r"referee.vkey: No such file; expected --origin"):
        origin_of(tmp_path, None)
    (tmp_path / "referee.vkey").write_text("nonsense")
    with pytest.raises(DataError, match=r"referee.vkey: not a verifier key; remove it and give --origin"):
        origin_of(tmp_path, None)


def test_serve_refuses_a_key_that_others_can_read(tmp_path: Path, here: Run) -> None:
    key = tmp_path / "referee.pem"
    PrivateKey.generate().save(key)
    key.chmod(0o644)
    code, _, error = here("serve", "--data", tmp_path, "--listen", "127.0.0.1:0")
    assert code == 1
    assert "mode 0644 lets others use this key" in error


def test_new_refuses(tmp_path: Path, here: Run) -> None:
    token = tmp_path / "token"
    token.write_text("x" * 43)
    cases: list[tuple[tuple[str | Path, ...], int, str]] = [
        (("--rules", "chess"), 2, "no rules 'chess'; expected one of alhambra"),
        (("--scribed", "2"), 2, "the game has seats 0 (player 1) to 1"),
        (("--age-order", "a,b"), 2, "expected seats"),
        (("--options", "{"), 2, "--options: not JSON"),
        (("--options", "[]"), 2, "--options: expected a JSON object"),
        (("--options", '{"colour": 1}'), 2, "no option 'colour'; expected some of age_order, max_turns, loop_rule"),
        (("--options", '{"loop_rule": "ONE"}'), 2, 'loop_rule is "ONE"; expected full or one_less'),
        (("--options", '{"max_turns": []}'), 2, "max_turns is []; expected a number"),
        (("--proofs", "some"), 2, "--proofs"),
        (
            ("--proofs", "refusals"),
            2,
            "--proofs refusals: only recorded refusals are proved; expected illegal to be record or strikes:N",
        ),
        (("--server", "nonsense"), 2, "--server 'nonsense': expected HOST:PORT"),
        (("--seats", "0"), 2, "--seats"),
        (("--out", token), 2, f"--out {token}: File exists"),
        (("--server", "127.0.0.1:1", "--out", tmp_path / "joins"), 1, NOBODY),
        (("--declare", "00" * 32), 2, "weak"),
        (("--declare", tmp_path / "none.pem"), 2, "No such file"),
        (("--token-file", tmp_path / "none"), 1, "No such file"),
        (("--token-file", Path(__file__)), 1, "not a token; expected one such as referee serve makes"),
        (("--server", "127.0.0.1:1"), 1, f"127.0.0.1:1: {NOBODY}"),
    ]
    for words, code, text in cases:
        found = here("new", "--token-file", token, *words)
        assert found[:2] == (code, ""), words
        assert text in found[2]
        assert found[2].count("\n") == 1, words
    assert not (tmp_path / "joins").exists()


async def test_what_the_referee_refuses_is_passed_on(tmp_path: Path) -> None:
    async with running(tmp_path / "data") as (server, _):
        words = ("new", "--server", server.address, "--data", tmp_path / "data")
        done = await asyncio.to_thread(referee, *words, "--age-order", "0,5")
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == "referee: --age-order: expected each of seats 0 to 1 once, got [0, 5]\n"
        done = await asyncio.to_thread(referee, *words, "--seats", "12", "--out", tmp_path / "joins")
        assert done.stderr.endswith("--seats: expected 2 to 6, got 12\n")
        assert not (tmp_path / "joins").exists()


def test_keys(tmp_path: Path, here: Run) -> None:
    path = tmp_path / "alice.pem"
    code, made, error = here("keys", path, "--new")
    assert (code, error) == (0, "")
    public = PrivateKey.load(path).public
    assert made == public.raw.hex() + "\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert here("keys", path) == (0, made, "")
    assert public_key_from_pem(here("keys", path, "--pem")[1]) == public
    shown = json.loads(here("keys", path, "--json")[1])
    assert shown == {"public_key": public.raw.hex(), "key_id": public.id.hex(), "pem": public.pem()}
    verifier = VerifierKey.of("referee.example", public)
    (tmp_path / "referee.vkey").write_text(f"{verifier}\n")
    assert here("keys", tmp_path) == (0, f"{verifier}\n", "")
    assert json.loads(here("keys", tmp_path, "--json")[1]) == {"verifier_key": str(verifier)}


def test_keys_refuses(tmp_path: Path, here: Run) -> None:
    path = tmp_path / "alice.pem"
    here("keys", path, "--new")
    garbage = tmp_path / "garbage.pem"
    garbage.write_text("no key")
    cases: list[tuple[tuple[str | Path, ...], int, str]] = [
        ((path, "--new"), 1, "the file exists"),
        ((tmp_path / "bob.pem",), 1, "no such file; expected --new"),
        ((garbage,), 1, "not a private key; expected PEM"),
        ((tmp_path,), 1, "No such file"),
        ((tmp_path, "--new"), 2, "this is a directory"),
        ((tmp_path / "no" / "bob.pem", "--new"), 1, "No such file"),
    ]
    for words, code, text in cases:
        found = here("keys", *words)
        assert found[:2] == (code, ""), words
        assert text in found[2]
        assert len(found[2].splitlines()) == 1


@pytest.mark.parametrize("command", ["serve", "new", "keys", "fetch"])
def test_help_teaches(command: str, here: Run) -> None:
    code, text, _ = here(command, "--help")
    assert code == 0
    assert "Example" in text
    assert "Exit codes" in text


def test_proxies_are_addresses_and_belong_to_pages(here: Run, tmp_path: Path) -> None:
    data = ("--data", tmp_path / "data")
    code, _, said = here("serve", *data, "--web", "127.0.0.1:0", "--web-trusted-proxy", "proxy.example")
    assert (code, "expected an address or a network" in said) == (2, True)
    code, _, said = here("serve", *data, "--web-trusted-proxy", "127.0.0.1")
    assert (code, "--web-trusted-proxy belongs to --web" in said) == (2, True)
    code, _, said = here("web", "--listen", "127.0.0.1:0", "--trusted-proxy", "10.0.0.0/99")
    assert (code, "expected an address or a network" in said) == (2, True)
    assert not (tmp_path / "data").exists()
