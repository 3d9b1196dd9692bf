"""Addresses without a listener, for servers that have to be at the same one whenever they start."""

from __future__ import annotations

import random
import socket
import sys
from contextlib import suppress

NOBODY = "127.0.0.1:1"
"""An address without a listener."""


def free_address(host: str = "") -> str:
    """Return an address with a port that the kernel never hands out, so that it is still free after a kill.

    Other tests look for theirs at the same time. Where this machine has all of 127.0.0.0/8 (Linux; RFC 1122, 3.2.1.3),
    each takes a host address at random as well, unless it names one: no other test takes the port in the moment before
    the server has it.
    """
    draw = random.SystemRandom()
    if not host:
        host = f"127.{draw.randrange(1, 255)}.{draw.randrange(256)}.{draw.randrange(1, 255)}"
        if sys.platform != "linux":
            host = "127.0.0.1"
    while True:
        port = draw.randrange(20_000, 32_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind((host, port))
            return f"{host}:{port}"
