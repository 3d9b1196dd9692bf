"""The token of whoever asks: in one header only, passed on and never kept."""

from __future__ import annotations

import re
from typing import Final

from starlette.requests import Request

from referee_clients.web.errors import Refusal

_BEARER: Final = re.compile(r"Bearer [!-~]{1,1000}", re.ASCII | re.IGNORECASE)


def token_of(request: Request, *, undone: str) -> str:
    """Return the Authorization header. ``undone``: what was not done without one. Raise ``Refusal``."""
    found = request.headers.get("authorization", "")
    if not _BEARER.fullmatch(found):
        message = f"Nothing was {undone}: expected a token, as Authorization: Bearer TOKEN."
        raise Refusal(401, "UNAUTHENTICATED", message)
    return found
