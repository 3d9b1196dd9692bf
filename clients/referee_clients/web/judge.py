"""What a worker of the gateway answers: questions about positions, as ``referee inspect`` does.

Legality and points come from there alone, so a page, a program and the command say the same of a position.
"""

from __future__ import annotations

from collections.abc import Iterator

from referee.notation.inspect import answer
from referee.notation.lines import encode


def answers(_method: str, message: bytes, _seconds: float) -> Iterator[bytes]:
    """Yield the answer to one question, both JSON."""
    yield encode(answer(message))
