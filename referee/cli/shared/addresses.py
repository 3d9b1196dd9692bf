"""Where a referee is reached: its directory remembers it, so that commands on the directory need not be told."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from referee.server.service.files import ADDRESS_FILE
from referee_clients.sdk.channel import TLS_SCHEME, BadAddress, is_loopback, split_address, split_addresses

_EVERYWHERE = ("0.0.0.0", "[::]")  # noqa: S104 - to find out that a referee listens there
"""Hosts to listen on, to which nobody can connect from elsewhere."""


@dataclass(frozen=True, slots=True)
class Addresses:
    """Of one referee."""

    here: str
    """To which commands on its own machine connect."""
    public: str
    """Which join strings carry."""
    web: str = ""
    """Which links carry: the origin of its pages; empty: it has none where seats can be played."""

    @classmethod
    def of(cls, listening: str, public: str, web: str = "") -> Addresses:
        """Return those of a referee that listens there. ``public``: what its operator says; empty: nothing."""
        tls, host, target = split_address(listening)
        here = listening.replace(target, f"127.0.0.1:{target.rpartition(':')[2]}") if is_everywhere(host) else listening
        # A certificate is for the name that is public, and without TLS a token leaves no machine.
        return cls(public if tls and public else here, public or listening, web)

    @classmethod
    def remembered(cls, data: Path) -> Addresses | None:
        """Return those of the referee that was started last on the directory; None if it cannot be known."""
        try:
            found = json.loads((data / ADDRESS_FILE).read_text(encoding="utf-8"))
            addresses = cls(str(found["here"]), str(found["public"]), str(found.get("web", "")))
            for address in (addresses.here, addresses.public):
                split_addresses(address)
        except (OSError, ValueError, KeyError, TypeError, BadAddress):
            return None
        return addresses

    def remember(self, data: Path) -> None:
        """Raise ``OSError``."""
        part = data / f"{ADDRESS_FILE}.part"
        part.write_text(json.dumps(asdict(self)) + "\n", encoding="utf-8")
        part.replace(data / ADDRESS_FILE)


def is_everywhere(host: str) -> bool:
    """Return whether a host to listen on is none to connect to."""
    return host in _EVERYWHERE


def is_reached_from_elsewhere(address: str) -> bool:
    """Return whether a join string with this address can be of use on another machine."""
    hosts = [split_address(each)[1] for each in split_addresses(address)]
    return not any(is_everywhere(host) or is_loopback(host) for host in hosts)


def problem_with(public: str, *, tls: bool) -> str:
    """Return what is wrong with an operator's public address; empty if nothing is."""
    try:
        first = split_addresses(public)[0]
    except BadAddress:
        return "expected HOST:PORT, or grpcs://HOST:PORT for TLS; several with commas between"
    return f"this referee speaks TLS; expected {TLS_SCHEME}{public}" if tls and not first.startswith(TLS_SCHEME) else ""
