"""What a referee logs, and a server in this process, as the service's own tests have them."""

from tests.service.conftest import client, logged, play

__all__ = ["client", "logged", "play"]
