"""A referee's log lines, and a server in this process, as the service's own tests have them."""

from tests.server.service.conftest import client, logged, new_workers, play, warm_workers, workers_go_on

__all__ = ["client", "logged", "new_workers", "play", "warm_workers", "workers_go_on"]
