"""What the gateway answers where it does not do what was asked: always ``{reason, message, metadata}``.

Reasons and metadata are those of the referee's ErrorInfo, so a page says the same of both.
"""

from __future__ import annotations

from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import JSONResponse, Response


class Refusal(Exception):
    """The answer to one request: an HTTP status, a reason for programs, a sentence for people."""

    def __init__(
        self,
        status: int,
        reason: str,
        message: str,
        metadata: Mapping[str, str] | None = None,
        *,
        retry_after_s: int | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.message = message
        self.metadata = dict(metadata or {})
        self.retry_after_s = retry_after_s

    def response(self) -> Response:
        """Return it as a response."""
        body = {"reason": self.reason, "message": self.message, "metadata": self.metadata}
        headers = {"Retry-After": str(self.retry_after_s)} if self.retry_after_s is not None else None
        return JSONResponse(body, self.status, headers)


async def refuse(_request: Request, error: Exception) -> Response:
    """Answer with the refusal that was raised."""
    assert isinstance(error, Refusal)  # noqa: S101 - registered for this class alone
    return error.response()
