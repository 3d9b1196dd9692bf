"""Browsers' conditions for playing on pages: missing ones are found at the start, and shown to operator and reader."""

from __future__ import annotations

import json
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from referee_clients.web.origins import has_keys
from referee_clients.web.secure import Lack, lacks
from tests.server.service.certificates import DAY, Authority, Pair
from tests.waiting import MOST_S
from tests.web.words import address_in

CLUB = "https://club.example"


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        ("https://club.example", True),
        ("https://192.168.1.20:8443", True),
        ("http://127.0.0.1:8080", True),
        ("http://[::1]:8080", True),
        ("http://localhost", True),
        ("http://club.example", False),
        ("http://192.168.1.20:8080", False),
        ("http://localhost.club.example", False),
    ],
)
def test_browsers_give_keys_to_secure_pages_alone(origin: str, expected: bool) -> None:
    assert has_keys(origin) is expected


@pytest.mark.parametrize(
    ("host", "origins", "found"),
    [
        ("127.0.0.1", [], []),
        ("::1", ["http://club.example"], []),
        ("0.0.0.0", [CLUB], []),  # a proxy speaks TLS
        ("192.168.1.20", ["http://club.example"], ["http"]),
        ("0.0.0.0", [], ["http"]),
    ],
)
def test_plain_http_is_for_the_machine_itself_and_for_a_proxy(host: str, origins: list[str], found: list[str]) -> None:
    assert [lack.key for lack in lacks(host, origins, None, None)] == found


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"), "Club CA")


def found(pair: Pair, *origins: str, host: str = "0.0.0.0") -> list[Lack]:
    return lacks(host, origins, pair.certificate, pair.key)


def test_an_authority_of_ones_own_is_named(authority: Authority) -> None:
    pair = authority.issue("server", host="club.example", for_servers=True)
    assert found(pair, CLUB) == [Lack("authority", {"authority": "Club CA"})]
    pair.certificate.write_bytes(pair.certificate.read_bytes() + authority.path.read_bytes())
    assert found(pair, CLUB) == [Lack("authority", {"authority": "Club CA"})], "with the authority in the file"


def test_a_well_known_authority_lacks_nothing(authority: Authority, monkeypatch: pytest.MonkeyPatch) -> None:
    pair = authority.issue("server", host="club.example", for_servers=True)
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.path))
    assert found(pair, CLUB) == []
    assert found(pair, "http://club.example", "https://other.example") == [
        Lack("names", {"name": "other.example", "names": "club.example, 127.0.0.1"})
    ]


def test_each_name_and_numeric_address_has_to_be_in_the_certificate(authority: Authority) -> None:
    pair = authority.issue("server", host="*.club.example", for_servers=True)
    names = "*.club.example, 127.0.0.1"
    assert [lack.facts for lack in found(pair, "https://a.club.example:8443", CLUB, "HTTPS://b.a.club.example")][
        :-1
    ] == [
        {"name": "club.example", "names": names},
        {"name": "b.a.club.example", "names": names},
    ]
    assert [lack.facts for lack in found(pair, host="192.168.1.20")][:-1] == [{"name": "192.168.1.20", "names": names}]
    # Other devices cannot reach these.
    assert [lack.key for host in ("0.0.0.0", "::", "127.0.0.1") for lack in found(pair, host=host)] == ["authority"] * 3


@pytest.mark.parametrize(
    ("begins", "ends", "for_servers", "key", "text"),
    [
        (-3 * DAY, -2 * DAY, True, "expired", "browsers refuse these pages, as the certificate expired on 20"),
        (2 * DAY, 3 * DAY, True, "early", "is not valid before 20"),
        (-DAY, DAY, False, "apple_use", "make another, with extendedKeyUsage=serverAuth"),
        (-DAY, timedelta(days=825), True, "apple_days", "is valid for more than 825 days: make another"),
    ],
)
def test_what_browsers_demand_of_a_certificate(
    authority: Authority, begins: timedelta, ends: timedelta, for_servers: bool, key: str, text: str
) -> None:
    pair = authority.issue("server", begins, ends, "club.example", for_servers=for_servers)
    told = {lack.key: str(lack) for lack in found(pair, CLUB)}
    assert set(told) == {key, "authority"}
    assert text in told[key]
    good = authority.issue("server", -DAY, timedelta(days=824), "club.example", for_servers=True)
    assert [lack.key for lack in found(good, CLUB)] == ["authority"]


def test_a_certificate_that_signed_itself(tmp_path: Path) -> None:
    """Nothing can be installed for it, unless it is an authority as well."""
    one = Authority(tmp_path, "itself").itself("club.example", is_authority=False)
    assert [lack.key for lack in found(one, CLUB)] == ["self"]
    both = Authority(tmp_path, "both").itself("club.example", is_authority=True)
    assert found(both, CLUB) == [Lack("authority", {"authority": "both"})]


@contextmanager
def serving(*words: str | Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Yield the first line of `referee web`, and its process."""
    command = [sys.executable, "-c", "from referee.cli import main; main()", "web", *map(str, words)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline(), process
        finally:
            process.terminate()


def test_operator_and_reader_are_told(authority: Authority) -> None:
    pair = authority.issue("server", host="club.example", for_servers=True)
    words = ("--listen", "127.0.0.1:0", "--origin", CLUB, "--tls-cert", pair.certificate, "--tls-key", pair.key)
    with serving(*words) as (line, process):
        trusting = ssl.create_default_context(cafile=authority.path)
        about = httpx.get(f"{address_in(line)}/about", verify=trusting, timeout=MOST_S).text
        process.terminate()
        _, errors = process.communicate()
    assert errors.startswith("warning: browsers refuse these pages until the device trusts the authority that signed")
    assert '"Club CA"' in errors
    assert errors.count("\n") == 1
    assert "signed by an authority of the organiser&#39;s own, “Club CA”" in about


def test_a_program_is_told_in_json() -> None:
    with serving("--listen", "0.0.0.0:0", "--json") as (line, process):
        told = json.loads(line)
        about = httpx.get(told["address"].replace("0.0.0.0", "127.0.0.1") + "about", timeout=MOST_S).text
        process.terminate()
        _, errors = process.communicate()
    assert errors == ""
    assert [lack["key"] for lack in told["lacks"]] == ["http"]
    assert "see docs/operate/hall.md" in told["lacks"][0]["text"]
    assert "This address has no HTTPS." in about
