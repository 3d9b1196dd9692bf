"""A server in this process, for what needs no other."""

from tests.server.service.conftest import client, logged, play

__all__ = ["client", "logged", "play"]
