"""The pages: whole HTML documents from one frame, and the files that they use, read once."""

from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from referee.games import registry
from referee.render.registry import renderer
from referee_clients.web.components import components
from referee_clients.web.errors import Refusal
from referee_clients.web.safety import CSP

FOLDER: Final = Path(__file__).parent
_TYPES: Final = {
    ".mjs": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}


_FOR_NODE: Final = ("page.mjs",)
VERIFY_CSP: Final = CSP.replace("trusted-types 'none'", "trusted-types auditor; worker-src 'self'")
"""Of the one page that starts a worker."""


def static_files() -> dict[str, bytes]:
    """Return every file that pages use, by its path below ``/static/``."""
    found = {"components.json": json.dumps(components(), separators=(",", ":")).encode()}

    static = FOLDER / "static"
    # The verifier is a link to where it lives, in a checkout; in a wheel it is a folder like the others.
    for path in sorted(Path(folder) / name for folder, _, names in os.walk(static, followlinks=True) for name in names):
        if path.suffix in _TYPES and path.name not in _FOR_NODE:
            found[path.relative_to(static).as_posix()] = path.read_bytes()
    return found


def routes(*, has_games: bool, has_solver: bool = False) -> list[Route]:
    """Return pages and files.

    ``has_games``: there is a referee, whose games can be watched. ``has_solver``: it can be asked for proofs.
    """
    held = static_files()
    tags = {path: f'"{sha256(data).hexdigest()[:32]}"' for path, data in held.items()}
    words: dict[str, str] = json.loads(held["words/en.json"])
    frame = Environment(
        loader=PackageLoader(__package__, "templates"), autoescape=select_autoescape(["j2"]), undefined=StrictUndefined
    )
    frame.globals["w"] = words.__getitem__
    # Two games may draw with the same definitions.
    drawn = dict.fromkeys(part for name in registry.names() for part in renderer(name).pieces())
    drawings = Markup("".join(drawn))  # noqa: S704 - ours, of no input

    def page(path: str, template: str, csp: str = CSP, **values: Any) -> Route:
        document = frame.get_template(template).render(**values)

        async def answer(_request: Request) -> Response:
            return HTMLResponse(document, headers={"Cache-Control": "no-cache", "Content-Security-Policy": csp})

        return Route(path, answer)

    async def static(request: Request) -> Response:
        path = request.path_params["path"]
        if path not in held:
            raise Refusal(404, "NOT_FOUND", "There is no such file.")
        headers = {"ETag": tags[path], "Cache-Control": "no-cache"}
        if request.headers.get("if-none-match") == tags[path]:
            return Response(status_code=304, headers=headers)
        ending = path[path.rindex(".") :]
        return Response(held[path], headers=headers, media_type=_TYPES[ending])

    def watching() -> list[Route]:
        """Return the pages that need a referee."""
        if not has_games:
            return [page("/", "home.html.j2", here="home", has_games=False)]
        return [
            page("/", "home.html.j2", here="home", has_games=True),
            page("/g/{id:str}", "watch.html.j2", here="watch", games=registry.names(), drawings=drawings),
        ]

    single = (FOLDER / "static" / "verify" / "index.html").read_bytes()

    async def saved(_request: Request) -> Response:
        """Answer with the verifier in one file, to be saved: here its script would not run."""
        disposition = 'attachment; filename="tile-referee-verify.html"'
        return Response(single, media_type="application/octet-stream", headers={"Content-Disposition": disposition})

    rules = {name: registry.get(name).catalogue for name in registry.names()}
    return [
        Route("/static/{path:path}", static),
        page(
            "/position",
            "position.html.j2",
            here="position",
            games=registry.names(),
            drawings=drawings,
            has_solver=has_solver,
        ),
        *watching(),
        page("/verify", "verify.html.j2", csp=VERIFY_CSP, here="verify", digest=sha256(single).hexdigest()),
        Route("/verify.html", saved),
        page("/rules", "rules.html.j2", here="rules", rules=rules),
        *(page(f"/rules/{name}", "rules_of.html.j2", here="rules", name=name, rules=rules[name]) for name in rules),
    ]
