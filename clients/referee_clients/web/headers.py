"""The checks of Host and Origin in every request, and the headers of every response.

No cookie says who asks, so nothing can be forged with one; these are the walls behind that one.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Collection
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from referee_clients.web.refusals import Refusal

CSP: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
    "trusted-types 'none'"
)
HEADERS: Final = {
    "Content-Security-Policy": CSP,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_READING: Final = ("GET", "HEAD")


class Safety:
    """ASGI middleware: checks Host and Origin, adds the headers."""

    def __init__(self, app: ASGIApp, *, origins: Collection[str], tls: bool) -> None:
        """``origins``: as browsers name them, under which the pages are reached by name; ``https://club.example``."""
        self._app = app
        self._hosts = {urlsplit(origin).netloc.lower() for origin in origins}
        self._headers = HEADERS | ({"Strict-Transport-Security": "max-age=31536000"} if tls else {})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or refuse."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers.setdefault(name, value)
                if scope["path"].startswith("/api/"):
                    headers.setdefault("Cache-Control", "no-store")
            await send(message)

        try:
            self._check(scope)
        except Refusal as refusal:
            return await refusal.response(scope)(scope, receive, send_safely)
        return await self._app(scope, receive, send_safely)

    def _check(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        host = headers.get("host", "").lower()
        if not self._is_ours(host):
            # A name that an attacker made point here (DNS rebinding) would give his pages what ours may ask.
            raise Refusal(
                421,
                "UNKNOWN_HOST",
                "Nothing is served under this name. Start the gateway with --origin and the address that people type.",
                {"host": host[:100]},
            )
        if scope["method"] in _READING:
            return
        origin = headers.get("origin", "")
        if urlsplit(origin).netloc.lower() != host or headers.get("sec-fetch-site", "same-origin") != "same-origin":
            raise Refusal(
                403,
                "FOREIGN_ORIGIN",
                "Nothing was done: the request does not come from a page of this gateway.",
                {"origin": origin[:100]},
            )

    def _is_ours(self, host: str) -> bool:
        """No name leads to an address as it is written: a client that asks for one has typed it."""
        if host in self._hosts:
            return True
        try:
            name = urlsplit(f"//{host}").hostname or ""
            _ = urlsplit(f"//{host}").port
        except ValueError:
            return False
        return name == "localhost" or _is_address(name)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
