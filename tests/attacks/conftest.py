"""What a referee logs, as the service's own tests have it."""

from tests.server.service.conftest import logged

__all__ = ["logged"]
