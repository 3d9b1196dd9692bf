"""The failure of a command: one plain line on standard error and an exit code; the extra that a command lacks."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Final

EXIT_OK = 0
EXIT_FAILED = 1
EXIT_USAGE = 2
"""The exit code for unknown words; also for input that is not what a command reads."""


class Failure(Exception):
    """Ends the command. ``message`` is one line: what is wrong, where, what was expected."""

    def __init__(self, message: str, exit_code: int = EXIT_FAILED) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class Exit(Exception):
    """Ends the command with a code, and without a message."""

    def __init__(self, exit_code: int = EXIT_OK) -> None:
        super().__init__(exit_code)
        self.exit_code = exit_code


EXTRAS: Final[Mapping[str, tuple[str, ...]]] = {
    "solver": ("z3",),
    "server": (
        *("cryptography", "grpc_health", "grpc_reflection", "jinja2", "markupsafe", "prometheus_client", "structlog"),
        "z3",
    ),
    "desk": ("babel", "segno", "textual"),
    "web": ("babel", "brotli", "segno", "starlette", "uvicorn"),
    "postgresql": ("psycopg",),
    "cluster": ("distributed",),
    "gym": ("gymnasium", "numpy", "pettingzoo"),
}
"""The modules that each extra of the package brings; ``desk`` and ``web`` bring those of ``server``, too."""
_OF_COMMAND: Final[Mapping[str, str]] = {
    "web": "web",
    **dict.fromkeys(("play", "arbiter", "desk", "event", "report", "adjudicate", "new"), "desk"),
}
"""The extra that a command is advised to take, whatever it misses first."""


def missing(command: str, module: str) -> Failure | None:
    """Return what to say where a command cannot import a module; None if no extra brings it."""
    top = module.partition(".")[0]
    extra = next((extra for extra, modules in EXTRAS.items() if top in modules), None)
    return None if extra is None else _needs(command, _OF_COMMAND.get(command, extra), top)


def need(command: str, extra: str) -> None:
    """Raise ``Failure`` unless all that the extra brings is there."""
    for module in EXTRAS[extra]:
        if find_spec(module) is None:
            raise _needs(command, extra, module)


def _needs(command: str, extra: str, module: str) -> Failure:
    return Failure(
        f"{command} needs {module}, which is not installed; expected: pip install 'tile-referee[{extra}]'", EXIT_FAILED
    )
