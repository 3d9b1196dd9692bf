"""What a referee logs, as the service's own tests have it."""

from tests.service.conftest import logged

__all__ = ["logged"]
