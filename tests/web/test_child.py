"""The gateway's process gets the settings that the referee has for it."""

from __future__ import annotations

import json
from pathlib import Path

from referee.log.keys import PrivateKey
from referee.log.note import VerifierKey
from referee_clients.sdk.channel import Security
from referee_clients.web import child
from referee_clients.web.server import Settings


def test_settings_arrive_as_they_were_sent() -> None:
    sent = Settings(
        origins=["https://club.example"],
        trusted=["10.0.0.0/8"],
        certificate=Path("/a.crt"),
        key=Path("/a.key"),
        referee="127.0.0.1:1",
        verifier=VerifierKey.of("club.example", PrivateKey.generate().public),
        token="secret",
        security=Security(ca=Path("/ca.pem"), name="club.example", insecure=True),
        python=Path("/pyodide"),
        languages=["en", "cs"],
    )
    assert child._unpacked(json.loads(child._packed(sent, 3))) == sent
