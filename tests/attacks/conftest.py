"""A referee's log lines, as the service's own tests have them."""

from tests.server.service.conftest import logged

__all__ = ["logged"]
