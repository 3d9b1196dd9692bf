"""The pages: whole HTML documents from one frame, and the files that they use, read once."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote
from xml.etree import ElementTree

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from referee.games import event, registry
from referee.log.note import VerifierKey
from referee.render.registry import renderer
from referee_clients.opening.options import choices_of
from referee_clients.web.components import components
from referee_clients.web.errors import Refusal, answer
from referee_clients.web.safety import CSP
from referee_clients.web.said import words_of
from referee_clients.web.secure import Lack
from referee_clients.web.spoken import spoken

FOLDER: Final = Path(__file__).parent
_TYPES: Final = {
    ".mjs": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}


_FOR_NODE: Final = ("page.mjs",)
VERIFY_CSP: Final = CSP.replace("trusted-types 'none'", "trusted-types auditor; worker-src 'self'")
"""Of the pages that start a worker."""
_WITH_WORKER: Final = ("/verify", "/event/{id:str}")
_OF_PROGRAMS: Final = ("/api/", "/static/")
"""What nobody reads who looks for a page."""


def static_files() -> dict[str, bytes]:
    """Return every file that pages use, by its path below ``/static/``."""
    parts = components()
    found = {"components.json": _json(parts)}
    found["openings.json"] = _json({name: choices_of(name) for name in registry.names()})
    for name in registry.names():
        drawings = [_tree(ElementTree.fromstring(piece)) for piece in renderer(name).pieces()]  # noqa: S314 - ours
        found[f"parts/{name}.json"] = _json({"components": parts[name], "drawings": drawings})

    static = FOLDER / "static"
    # The verifier is a link to where it lives, in a checkout; in a wheel it is a folder like the others.
    for path in sorted(Path(folder) / name for folder, _, names in os.walk(static, followlinks=True) for name in names):
        if path.suffix in _TYPES and path.name not in _FOR_NODE:
            found[path.relative_to(static).as_posix()] = path.read_bytes()
    return found


class Site:
    """Every page and file of a gateway."""

    def __init__(
        self, verifier: VerifierKey | None = None, *, has_solver: bool = False, lacking: Sequence[Lack] = ()
    ) -> None:
        """``verifier``: of the referee whose games can be watched; None: there is none.

        ``has_solver``: that referee can be asked for proofs. ``lacking``: why browsers play no seats here; on
        ``/about`` only, which has no hash, as all else depends on nothing but the program and the verifier key.
        """
        self._has_games = verifier is not None
        self._files = static_files()
        words: dict[str, str] = json.loads(self._files["words/en.json"])
        self._frame = Environment(
            loader=PackageLoader(__package__, "templates"),
            autoescape=select_autoescape(["j2"]),
            undefined=StrictUndefined,
        )
        # Two games may draw with the same definitions.
        drawn = dict.fromkeys(part for name in registry.names() for part in renderer(name).pieces())

        def embedded(page: str) -> Markup:
            # In an element that nothing in it may end.
            return Markup(_json(words_of(page, words, self._files)).decode().replace("<", "\\u003c"))  # noqa: S704 - of no input

        self._frame.globals |= {
            "w": words.__getitem__,
            "words": embedded,
            "icon": "data:image/svg+xml," + quote(self._files["icon.svg"]),
            "games": registry.names(),
            "has_games": self._has_games,
            "has_solver": has_solver,
            "drawings": Markup("".join(drawn)),  # noqa: S704 - ours, of no input
            "verifier": str(verifier or ""),
            "spoken": spoken(verifier) if verifier else (),
        }
        self._single = (FOLDER / "static" / "verify" / "index.html").read_bytes()
        self._documents = self._made()
        self._about = self._render("about.html.j2", "about", hashes=self.hashes(), total=self.total(), lacking=lacking)
        self._missing = self._render("missing.html.j2", "missing")

    def _render(self, template: str, here: str, **values: Any) -> bytes:
        return self._frame.get_template(template).render(here=here, **values).encode()

    def _made(self) -> dict[str, bytes]:
        """Return the documents by path, but that which has the hashes of the others."""
        rules = {name: registry.get(name).catalogue for name in (*registry.names(), event.GAME.rules_id)}
        made = {
            "/": self._render("home.html.j2", "home"),
            "/position": self._render("position.html.j2", "position"),
            "/verify": self._render("verify.html.j2", "verify", digest=sha256(self._single).hexdigest()),
            "/rules": self._render("rules.html.j2", "rules", rules=rules),
            **{
                f"/rules/{name}": self._render("rules_of.html.j2", "rules", name=name, rules=rules[name])
                for name in rules
            },
        }
        if self._has_games:
            made["/g/{id:str}"] = self._render("watch.html.j2", "watch")
            made["/wall"] = self._render("wall.html.j2", "wall")
            made["/seat"] = self._render("seat.html.j2", "seat")
            made["/desk"] = self._render("desk.html.j2", "desk")
            made["/event/{id:str}"] = self._render("event.html.j2", "event")
        return made

    def hashes(self) -> list[tuple[str, str]]:
        """Return the SHA-256 of everything that is served, as hexadecimal digits, with its path; but for ``/about``."""
        served = {
            **{path.replace("{id:str}", "ID"): data for path, data in self._documents.items()},
            "/verify.html": self._single,
            **{f"/static/{path}": data for path, data in self._files.items()},
        }
        return [(sha256(data).hexdigest(), path) for path, data in sorted(served.items())]

    def total(self) -> str:
        """Return the SHA-256 of all these hashes, written as ``sha256sum`` does: one to compare."""
        return sha256("".join(f"{digest}  {path}\n" for digest, path in self.hashes()).encode()).hexdigest()

    def routes(self) -> list[Route]:
        """Return where they are."""
        files = {path: _Kept(data, _TYPES[path[path.rindex(".") :]]) for path, data in self._files.items()}

        def page(path: str, document: bytes) -> Route:
            csp = VERIFY_CSP if path in _WITH_WORKER else CSP
            kept = _Kept(document, "text/html; charset=utf-8", {"Content-Security-Policy": csp})

            async def shown(request: Request) -> Response:
                return kept.answer(request)

            return Route(path, shown)

        async def static(request: Request) -> Response:
            path = request.path_params["path"]
            if path not in files:
                raise Refusal(404, "NOT_FOUND", "There is no such file.")
            return files[path].answer(request)

        async def saved(_request: Request) -> Response:
            """Answer with the verifier in one file, to be saved: here its script would not run."""
            disposition = 'attachment; filename="tile-referee-verify.html"'
            headers = {"Content-Disposition": disposition}
            return Response(self._single, media_type="application/octet-stream", headers=headers)

        return [
            Route("/static/{path:path}", static),
            Route("/verify.html", saved),
            *(page(path, document) for path, document in {**self._documents, "/about": self._about}.items()),
        ]

    async def missing(self, request: Request, error: Exception) -> Response:
        """Answer a request for what there is not: people get a page with the way back."""
        if request.method not in ("GET", "HEAD") or request.url.path.startswith(_OF_PROGRAMS):
            return await answer(request, error)
        return HTMLResponse(self._missing, 404, {"Cache-Control": "no-cache"})


class _Kept:
    """What stays the same until the gateway is another one, so that browsers ask only whether it still is."""

    def __init__(self, data: bytes, media_type: str, headers: Mapping[str, str] | None = None) -> None:
        self._data = data
        self._type = media_type
        self._headers = {"ETag": f'"{sha256(data).hexdigest()[:32]}"', "Cache-Control": "no-cache", **(headers or {})}

    def answer(self, request: Request) -> Response:
        if request.headers.get("if-none-match") == self._headers["ETag"]:
            return Response(status_code=304, headers=self._headers)
        return Response(self._data, headers=self._headers, media_type=self._type)


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _tree(element: ElementTree.Element) -> list[Any]:
    """Return an element as its name, its attributes and what is in it: browsers make no element of text here."""
    return [element.tag, element.attrib, *filter(None, (element.text or "").split("\n")), *map(_tree, element)]
