"""Public requests to the gateway, and their answers."""

from __future__ import annotations

import gzip
import json
import random
import socket
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import brotli
import pytest

from referee.games.alhambra.tiles import NAMES
from referee.text.notation.questions import answer
from referee_clients.web.headers import HEADERS
from referee_clients.web.pages import VERIFY_CSP, static_files
from referee_clients.web.programs import joined
from referee_clients.web.request import MOST_BYTES
from tests.web.gateway import JUDGE, Caller

PAGES = ("/", "/position", "/verify", "/rules", "/rules/alhambra", "/rules/kingdomino", "/rules/rollwrite")


@pytest.fixture
def ask(gateway: str) -> Caller:
    return Caller(gateway)


def questions(rng: random.Random) -> Iterator[dict[str, Any]]:
    """Yield questions of all kinds, about legal and illegal positions, and some that are none."""
    for _ in range(12):
        cells = rng.sample([(x, y) for x in range(-2, 3) for y in range(-2, 3) if (x, y) != (0, 0)], rng.randrange(6))
        tiles = rng.sample(NAMES, len(cells) + 1)
        layout = {f"{x},{y}": tile for (x, y), tile in zip(cells, tiles[1:], strict=True)}
        yield {"game": "alhambra", "layout": layout, "tile": tiles[0]}
        laid = [
            [n, *rng.choice([(1, 0, 1, 1), (0, 1, 1, 1), (-1, 0, -2, 0), (3, 3, 4, 3)])]
            for n in rng.sample(range(1, 48), 2)
        ]
        yield {"game": "kingdomino", "frame": {"size": 5, "castle": None}, "kingdom": laid, "domino": 48}
        dice = {die: [rng.randint(1, 6), rng.randint(1, 6)] for die in ("blue", "yellow")}
        yield {"game": "rollwrite", "built": [[1, 1]], "dice": dice, "coins": rng.randrange(4)}
    yield {"game": "alhambra", "layout": {"0,0": "tower-8-NES"}}
    yield {"game": "chess"}
    yield {}


def test_the_gateway_judges_as_inspect_does(ask: Caller) -> None:
    for question in questions(random.Random(3)):
        got = ask.judge(question)
        assert got.status == 200
        assert json.loads(got.body) == json.loads(json.dumps(answer(json.dumps(question).encode())))


@pytest.mark.parametrize("path", [*PAGES, "/static/style.css", "/static/components.json", "/nothing", JUDGE])
def test_every_answer_has_the_headers_that_keep_it_safe(path: str, ask: Caller) -> None:
    got = ask("GET", path)
    assert got.status in (200, 404, 405)
    expected = HEADERS | ({"Content-Security-Policy": VERIFY_CSP} if path == "/verify" else {})
    assert {name: got.headers[name.lower()] for name in HEADERS} == expected
    assert "server" not in got.headers
    assert "set-cookie" not in got.headers


def test_refusals_have_them_too(ask: Caller) -> None:
    for got in (ask("GET", "/", Host="evil.example"), ask.judge({}, Origin=None), ask("POST", JUDGE, b"x" * 30_000)):
        assert got.status in (403, 413, 421)
        assert {name: got.headers[name.lower()] for name in HEADERS} == HEADERS


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:80", "", "127.0.0.1.evil.example", "localhost.evil.example", "[::1", "a@b:c"],
)
def test_a_name_that_somebody_made_point_here_gets_nothing(host: str, ask: Caller) -> None:
    for got in (
        ask("GET", "/position", Host=host),
        ask.judge({"game": "alhambra"}, Host=host, Origin=f"http://{host}"),
    ):
        assert (got.status, got.refusal["reason"]) == (421, "UNKNOWN_HOST")


@pytest.mark.parametrize("host", ["localhost:1", "127.0.0.1", "192.168.1.5:8080", "[::1]:8080", "LOCALHOST"])
def test_an_address_that_was_typed_is_ours(host: str, ask: Caller) -> None:
    assert ask("GET", "/", Host=host).status == 200


@pytest.mark.parametrize("origin", [None, "", "null", "http://evil.example", "http://127.0.0.1", "http://127.0.0.1:1"])
def test_a_page_of_somebody_else_can_have_nothing_done(origin: str | None, ask: Caller) -> None:
    got = ask.judge({"game": "alhambra"}, Origin=origin)
    assert (got.status, got.refusal["reason"]) == (403, "FOREIGN_ORIGIN")


@pytest.mark.parametrize("site", ["cross-site", "same-site", "none"])
def test_nor_one_that_the_browser_calls_foreign(site: str, ask: Caller) -> None:
    got = ask.judge({"game": "alhambra"}, Sec_Fetch_Site=site)
    assert (got.status, got.refusal["reason"]) == (403, "FOREIGN_ORIGIN")


@pytest.mark.parametrize("kind", [None, "", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
def test_what_a_form_can_send_is_not_read(kind: str | None, ask: Caller) -> None:
    got = ask.judge({"game": "alhambra"}, Content_Type=kind)
    assert (got.status, got.refusal["reason"]) == (415, "WRONG_TYPE")


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff\xfe", b"1", b"[" * 10_000, b'{"game":1e999}', b"\x00"])
def test_a_body_that_is_no_question_is_refused(body: bytes, ask: Caller) -> None:
    got = ask("POST", JUDGE, body)
    assert (got.status, got.refusal["reason"], got.refusal["metadata"]) == (400, "INVALID_ARGUMENT", {"field": "body"})
    assert got.refusal["message"].startswith("Nothing was judged: ")


def test_a_body_that_is_too_long_is_not_read_to_its_end(ask: Caller) -> None:
    assert ask("POST", JUDGE, b" " * MOST_BYTES).status == 400
    with socket.create_connection(("127.0.0.1", urlsplit(ask.address).port)) as raw:
        head = (
            f"POST {JUDGE} HTTP/1.1\r\nHost: {ask.host}\r\nOrigin: {ask.address}\r\nContent-Type: application/json\r\n"
        )
        raw.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
        raw.sendall(b"5001\r\n" + b" " * 0x5001 + b"\r\n")
        # The end never comes.
        assert raw.recv(100).startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "TRACE", "GET"])
def test_other_methods_do_nothing(method: str, ask: Caller) -> None:
    got = ask(method, JUDGE, Origin=ask.address)
    assert (got.status, got.refusal["reason"]) == (405, "METHOD_NOT_ALLOWED")


@pytest.mark.parametrize(
    "path", ["/api/v1/nothing", "/static/", "/static/../app.py", "/static/%2e%2e/app.py", "/static/words"]
)
def test_what_does_not_exist_is_not_found(path: str, ask: Caller) -> None:
    got = ask("GET", path)
    assert (got.status, got.refusal["reason"]) == (404, "NOT_FOUND")


@pytest.mark.parametrize("path", ["/nothing", "/rules/chess", "/g/", "/%3Cscript%3E"])
def test_who_looks_for_a_page_that_is_not_there_gets_one_with_the_way_back(path: str, ask: Caller) -> None:
    got = ask("GET", path)
    assert (got.status, got.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "content-security-policy" in got.headers
    assert b'<a href="/">' in got.body
    assert b"<script>" not in got.body
    assert ask("POST", path).status in (403, 404)


def test_every_file_is_served_as_it_is_and_not_again_if_it_is_known(ask: Caller) -> None:
    for path, data in joined(static_files()).items():
        got = ask("GET", f"/static/{path}")
        assert (got.status, got.body) == (200, data)
        known = ask("GET", f"/static/{path}", If_None_Match=got.headers["etag"])
        assert (known.status, known.body) == (304, b"")


@pytest.mark.parametrize(
    ("taken", "coding"),
    [
        ("gzip, deflate, br", "br"),
        ("br;q=0, gzip;q=0.5", "gzip"),
        ("GZIP", "gzip"),
        ("brotli", ""),
        ("", ""),
        ("*", ""),
    ],
)
def test_files_and_pages_are_sent_as_short_as_a_browser_takes_them(taken: str, coding: str, ask: Caller) -> None:
    """Each form has a tag of its own, and is the same bytes again."""
    unpacked: dict[str, Callable[[bytes], bytes]] = {"br": brotli.decompress, "gzip": gzip.decompress, "": bytes}
    for path in ("/static/parts/alhambra.json", "/position"):
        plain, got = ask("GET", path), ask("GET", path, Accept_Encoding=taken)
        assert got.headers.get("content-encoding", "") == coding
        assert "Accept-Encoding" in got.headers["vary"]
        assert unpacked[coding](got.body) == plain.body
        assert (len(got.body) < len(plain.body) / 3) == (got.headers["etag"] != plain.headers["etag"]) == bool(coding)
        again = ask("GET", path, Accept_Encoding=taken, If_None_Match=got.headers["etag"])
        assert (again.status, again.body) == (304, b"")
        other = "br" if coding == "gzip" else "gzip"
        assert ask("GET", path, Accept_Encoding=other, If_None_Match=got.headers["etag"]).status == 200


def test_a_page_names_only_files_that_there_are(ask: Caller) -> None:
    for path in PAGES:
        text = ask("GET", path).body.decode()
        assert "http://" not in text.replace("http://www.w3.org/", "")
        assert "https://" not in text
        for part in text.split('"/static/')[1:]:
            assert ask("GET", "/static/" + part.partition('"')[0]).status == 200
