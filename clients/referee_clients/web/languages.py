"""The language of a page: one that the gateway offers, by the reader's choice or the browser's wish.

A link of the menu asks with ``?lang=``, and a cookie keeps that. No other value than a language that is offered is
taken from either, and nothing but the language hangs on the cookie.

Pages name their own language in ``Accept-Language`` when they ask for more: the gateway's words in the answer are in
that one. Programs that name none get English.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from referee.text.words.catalogue import ENGLISH, languages, load, preferred

ASKED: Final = "lang"
"""The parameter in the address."""
KEPT: Final = "language"
"""The name of the cookie."""
_SPOKEN: Final = "referee.language"
"""The key in the scope of a request: the gateway's words are in this language."""
_KEPT_S: Final = 365 * 24 * 60 * 60
_PARTS: Final = ("web", "report", "notation", "rules", "refusals", "phrases")
"""The parts of the catalogue that pages use."""


def is_draft(language: str) -> bool:
    """Return whether any words of pages in a language still wait for a reader who speaks it."""
    return any(load(part, language).is_draft for part in _PARTS if language in languages(part))


def read() -> tuple[str, ...]:
    """Return the languages that are no drafts, English first."""
    return tuple(language for language in languages("web") if not is_draft(language))


def offered(text: str) -> tuple[str, ...]:
    """Return the named languages, such as ``en,cs``. Raise ``ValueError`` that has the expected form."""
    known = languages("web")
    named = tuple(dict.fromkeys(each.strip() for each in text.split(",")))
    if unknown := [each for each in named if each not in known]:
        raise ValueError(f"{unknown[0]!r} is no language of the pages; expected some of {','.join(known)}")
    if ENGLISH not in named:
        raise ValueError(f"English decides what a translation means; expected {ENGLISH} among them, too")
    return named


class Choice:
    """The languages that a gateway offers; a client that asks for none of them gets the first."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)

    def of(self, request: Request) -> str:
        """Return the language of the answer."""
        kept = request.cookies.get(KEPT, "")
        if kept not in self.names:
            kept = preferred(request.headers.get("accept-language", ""), self.names)
        return self._asked(request) or kept

    def headers(self, request: Request) -> dict[str, str]:
        """Return the additional headers: on what the answer depends, and what the browser is to keep."""
        if len(self.names) == 1:
            return {}
        headers = {"Vary": "Accept-Language, Cookie"}
        if asked := self._asked(request):
            secure = "; Secure" if request.url.scheme == "https" else ""
            headers["Set-Cookie"] = f"{KEPT}={asked}; Path=/; Max-Age={_KEPT_S}; SameSite=Lax; HttpOnly{secure}"
        return headers

    def _asked(self, request: Request) -> str:
        asked = request.query_params.get(ASKED, "")
        return asked if asked in self.names else ""


class Speaking:
    """ASGI middleware: says of each request in which language it is answered."""

    def __init__(self, app: ASGIApp, *, names: Sequence[str]) -> None:
        """``names``: of the languages that the gateway offers."""
        self._app = app
        # A request without a language is a program's, and gets the answer from before there were translations.
        self._names = tuple(dict.fromkeys((ENGLISH, *names)))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope[_SPOKEN] = preferred(Headers(scope=scope).get("accept-language", ""), self._names)
        await self._app(scope, receive, send)


def spoken_to(scope: Scope) -> str:
    """Return the language in which a request is answered."""
    return str(scope.get(_SPOKEN, ENGLISH))
