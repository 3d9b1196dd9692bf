"""The pages: whole HTML documents from one frame, the files that they use, and the words of the verifier key."""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Mapping, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import quote
from xml.etree import ElementTree

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Route

from referee.games import registry
from referee.log.note import VerifierKey
from referee.text.render.drawing import renderer
from referee.text.words.catalogue import ENGLISH, Text, load, load_or_english, own_name
from referee.text.words.catalogue import languages as spoken_in
from referee.tournament.rules import TOURNAMENT
from referee_clients.sdk.opening import choices_of
from referee_clients.web.headers import CSP
from referee_clients.web.in_browser import pyodide
from referee_clients.web.in_browser.archive import archive
from referee_clients.web.languages import ASKED, Choice, is_draft
from referee_clients.web.programs import SAID_BY_AUDITS, joined, words_of
from referee_clients.web.refusals import Refusal, answer
from referee_clients.web.request import BEST, LEAST_BYTES, takes
from referee_clients.web.secure import Lack

KEY_WORD_COUNT: Final = 12
"""Words of a key, of 8 bits each: to find a second key with the same words takes some 2^96 attempts."""
KEY_WORDS: Final = """
    acid acorn actor album alley amber anchor angel apple apron arch arrow atlas attic autumn bacon badge
    baker bamboo banana barrel basin basket beach beard bell bench bicycle birch biscuit blanket bonnet bottle
    bowl bridge bronze brush bubble bucket butter cabin cactus camel candle canoe carpet carrot castle cedar
    cello chalk cherry chess chimney cinema circus citrus clover cobra coffee comet copper coral cotton cradle
    crane cricket crown crystal curtain daisy dancer desert diamond dinner doctor dolphin donkey dragon drum
    eagle easel echo elbow elephant ember engine envelope falcon feather fender ferry fiddle finger flute
    forest fossil fountain fox galaxy garlic ginger giraffe glacier goblet gondola grape guitar hammer harbour
    harvest hazel helmet heron hobby honey hotel hunter iceberg igloo indigo iron island ivory jacket jaguar
    jelly jewel jigsaw jungle kayak kernel kettle kitchen kitten koala ladder lagoon lantern lemon leopard
    letter lily lizard lobster locket lotus magnet mango maple marble meadow melon mirror mitten monkey mosaic
    mountain muffin museum napkin nectar needle noodle nutmeg oasis oboe ocean octopus olive onion orbit
    orchid otter oven owl oyster paddle palace panda paper parrot peacock pebble pencil pepper piano pigeon
    pillow planet plum pocket pony potato prism pumpkin puppet quartz quilt rabbit radish rainbow raven ribbon
    river robin rocket rose ruby saddle salmon sandal saxophone scarf school shadow shell silver sister spider
    spoon squirrel stable statue summer sunset swan table tango teapot temple thunder ticket tiger tomato
    trumpet tulip tunnel turtle umbrella uncle valley vanilla velvet village violin volcano wagon walnut whale
    whistle window winter wizard yogurt zebra
""".split()  # noqa: SIM905 - a page of words reads better than a column of them


def spoken(key: VerifierKey) -> tuple[str, ...]:
    """Return the words of a key: of the first bytes of SHA-256 of its text."""
    return tuple(KEY_WORDS[byte] for byte in sha256(str(key).encode()).digest()[:KEY_WORD_COUNT])


FOLDER: Final = Path(__file__).parent
_TYPES: Final = {
    ".mjs": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".wasm": "application/wasm",
    ".zip": "application/zip",
}

VERIFY_CSP: Final = CSP.replace("trusted-types 'none'", "trusted-types auditor; worker-src 'self'")
"""The policy of pages that start a worker."""
_WITH_WORKER: Final = ("/verify", "/event/{id:str}")
_RULES_WORKER: Final = "rules_auditor.mjs"
WORKER_CSP: Final = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'"
"""The policy of the worker that runs a browser's Python, and of nothing else: no page may compile anything."""
_ARCHIVE: Final = "auditor.zip"
_PYTHON: Final = "pyodide"
_HTML: Final = "text/html; charset=utf-8"
_OF_AUDITS: Final = ("finding.", *SAID_BY_AUDITS)
_PACKED: Final = "application/zip"
"""The type of files that are packed already."""
_COMMENT: Final = re.compile(r"^[ \t]*(?://.*|/\*\*(?s:.*?)\*/)$", re.MULTILINE)
"""The comments of a program that are whole lines."""
_OF_PROGRAMS: Final = ("/api/", "/static/")
"""The beginnings of addresses that people never type."""


def static_files() -> dict[str, bytes]:
    """Return every file that pages use, by its path below ``/static/``; programs without their comments, not joined."""
    parts = {name: renderer(name).components() for name in registry.names()}
    found = {"components.json": _json(parts)}
    found["openings.json"] = _json({name: choices_of(name) for name in registry.names()})
    for name in registry.names():
        drawings = [_tree(ElementTree.fromstring(piece)) for piece in renderer(name).pieces()]  # noqa: S314 - ours
        found[f"parts/{name}.json"] = _json({"components": parts[name], "drawings": drawings})

    static = FOLDER / "static"
    # The verifier is a link to where it lives, in a checkout; in a wheel it is a folder like the others.
    for path in sorted(Path(folder) / name for folder, _, names in os.walk(static, followlinks=True) for name in names):
        if path.suffix in _TYPES:
            data = path.read_bytes()
            found[path.relative_to(static).as_posix()] = _without_comments(data) if path.suffix == ".mjs" else data
    return found


def _without_comments(program: bytes) -> bytes:
    """Return what a browser needs of a program. Its lines keep their numbers: errors name those of the source."""
    return _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), program.decode()).encode()


class Site:
    """The pages and files of a gateway."""

    def __init__(
        self,
        verifier: VerifierKey | None = None,
        *,
        has_solver: bool = False,
        lacking: Sequence[Lack] = (),
        python: Path | None = None,
        languages: Sequence[str] = (ENGLISH,),
    ) -> None:
        """``verifier``: of the referee whose games can be watched; None: there is none.

        ``has_solver``: that referee can be asked for proofs. ``lacking``: why browsers play no seats here; on
        ``/about`` only, which has no hash, as all else depends on nothing but the options that are named here.
        ``python``: a folder that ``pyodide.check`` has found good; None: browsers check no rules of games.
        ``languages``: those of the pages; who asks for none of them gets the first.
        """
        self._has_games = verifier is not None
        self._python = python
        self._programs = static_files()
        self._files = joined(self._programs) | ({} if python is None else {_ARCHIVE: archive()})
        self._choice = Choice(languages)
        self._frame = Environment(
            loader=PackageLoader(__package__, "templates"),
            autoescape=select_autoescape(["j2"]),
            undefined=StrictUndefined,
        )
        # Two games may draw with the same definitions.
        drawn = dict.fromkeys(part for name in registry.names() for part in renderer(name).pieces())

        self._frame.globals |= {
            "languages": {language: own_name(language) for language in languages} if len(languages) > 1 else {},
            "icon": "data:image/svg+xml," + quote(self._files["icon.svg"]),
            "games": registry.names(),
            "has_games": self._has_games,
            "has_solver": has_solver,
            "has_python": python is not None,
            "drawings": Markup("".join(drawn)),  # noqa: S704 - ours, of no input
            "verifier": str(verifier or ""),
            "spoken": spoken(verifier) if verifier else (),
        }
        self._single = (FOLDER / "static" / "verify" / "index.html").read_bytes()
        made = {language: self._made(language) for language in languages}
        self._documents = {path: {name: made[name][path] for name in languages} for path in made[languages[0]]}
        told = {"hashes": self.hashes(), "total": self.total(), "lacking": lacking}
        self._about = {name: self._render(name, "about.html.j2", "about", **told) for name in languages}
        self._missing = {name: self._render(name, "missing.html.j2", "missing") for name in languages}

    def _render(self, language: str, template: str, here: str, **values: Any) -> bytes:
        words = load("web", language)
        # In an element that nothing in it may end.
        embedded = _json(words_of(here, said_by_pages(language), self._programs)).decode().replace("<", "\\u003c")
        values |= {"w": words, "words": Markup(embedded), "language": language, "is_draft": is_draft(language)}  # noqa: S704 - of no input
        return self._frame.get_template(template).render(here=here, **values).encode()

    def _made(self, language: str) -> dict[str, bytes]:
        """Return the documents in a language by path, but that which has the hashes of the others."""
        render = partial(self._render, language)
        texts = _rule_texts(language)
        rules = {each.rules_id: each.catalogue for each in (*registry.newest(), TOURNAMENT)}
        made = {
            "/": render("home.html.j2", "home"),
            "/position": render("position.html.j2", "position"),
            "/verify": render("verify.html.j2", "verify", digest=sha256(self._single).hexdigest()),
            "/rules": render("rules.html.j2", "rules", rules=rules),
            **{
                f"/rules/{name}": render("rules_of.html.j2", "rules", name=name, rules=rules[name], texts=texts)
                for name in rules
            },
        }
        if self._has_games:
            made["/g/{id:str}"] = render("watch.html.j2", "watch")
            made["/wall"] = render("wall.html.j2", "wall")
            made["/seat"] = render("seat.html.j2", "seat")
            made["/desk"] = render("desk.html.j2", "desk")
            made["/event/{id:str}"] = render("event.html.j2", "event")
        return made

    def hashes(self) -> list[tuple[str, str]]:
        """Return the SHA-256 of everything that is served, as hexadecimal digits, with its path; but for ``/about``."""
        served = {
            **{
                _address(path, language, self._choice): data
                for path, documents in self._documents.items()
                for language, data in documents.items()
            },
            "/verify.html": self._single,
            **{f"/static/{path}": data for path, data in self._files.items()},
        }
        hashes = {path: sha256(data).hexdigest() for path, data in served.items()}
        if self._python is not None:
            hashes |= {f"/static/{_PYTHON}/{name}": digest for name, digest in pyodide.FILES.items()}
        return [(digest, path) for path, digest in sorted(hashes.items())]

    def total(self) -> str:
        """Return the SHA-256 of all these hashes, written as ``sha256sum`` does: one to compare."""
        return sha256("".join(f"{digest}  {path}\n" for digest, path in self.hashes()).encode()).hexdigest()

    def routes(self) -> list[Route]:
        """Return where they are."""
        files = {path: _Kept(data, _type(path), _headers(path)) for path, data in self._files.items()}

        def page(path: str, documents: Mapping[str, bytes]) -> Route:
            csp = VERIFY_CSP if path in _WITH_WORKER else CSP
            kept = {
                language: _Kept(document, _HTML, {"Content-Security-Policy": csp, "Content-Language": language})
                for language, document in documents.items()
            }

            async def shown(request: Request) -> Response:
                return await kept[self._choice.of(request)].answer(request, self._choice.headers(request))

            return Route(path, shown)

        async def static(request: Request) -> Response:
            path = request.path_params["path"]
            folder, _, name = path.partition("/")
            if self._python is not None and folder == _PYTHON and name in pyodide.FILES:
                return _of_python(self._python / name, request)
            if path not in files:
                raise Refusal(404, "NOT_FOUND", "There is no such file.")
            return await files[path].answer(request)

        async def saved(_request: Request) -> Response:
            """Answer with the verifier in one file, to be saved: here its script would not run."""
            disposition = 'attachment; filename="tile-referee-verify.html"'
            headers = {"Content-Disposition": disposition}
            return Response(self._single, media_type="application/octet-stream", headers=headers)

        return [
            Route("/static/{path:path}", static),
            Route("/verify.html", saved),
            *(page(path, documents) for path, documents in {**self._documents, "/about": self._about}.items()),
        ]

    async def missing(self, request: Request, error: Exception) -> Response:
        """Answer a request for a missing page: people get a page with the way back."""
        if request.method not in ("GET", "HEAD") or request.url.path.startswith(_OF_PROGRAMS):
            return await answer(request, error)
        language = self._choice.of(request)
        headers = {"Cache-Control": "no-cache", "Content-Language": language, **self._choice.headers(request)}
        return HTMLResponse(self._missing[language], 404, headers)


class _Kept:
    """A document or file that never changes while the gateway runs, so that browsers only ask for its tag.

    The first request waits until it is packed as small as it gets; all others get the same bytes.
    """

    def __init__(self, data: bytes, media_type: str, headers: Mapping[str, str] | None = None) -> None:
        self._data = data
        self._type = media_type
        self._tag = sha256(data).hexdigest()[:32]
        self._headers = {"Cache-Control": "no-cache", **(headers or {})}
        self._may_be_packed = len(data) >= LEAST_BYTES and media_type != _PACKED
        self._packed: dict[str, bytes] = {}

    async def answer(self, request: Request, besides: Mapping[str, str] = MappingProxyType({})) -> Response:
        """Return the answer, or that the browser has it; ``besides``: more headers."""
        coding = next((name for name in BEST if takes(request, name)), "") if self._may_be_packed else ""
        varies = ", ".join(filter(None, ("Accept-Encoding", besides.get("Vary", ""))))
        # Other bytes are another thing to caches (RFC 9110, section 8.8.1).
        tag = f'"{self._tag}{coding and "-"}{coding}"'
        headers = {**self._headers, **besides, "ETag": tag, "Vary": varies}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        if not coding:
            return Response(self._data, headers=headers, media_type=self._type)
        if coding not in self._packed:
            self._packed[coding] = await asyncio.to_thread(BEST[coding], self._data)
        return Response(self._packed[coding], headers=headers | {"Content-Encoding": coding}, media_type=self._type)


def said_by_pages(language: str) -> dict[str, Text]:
    """Return the words that programs on pages can say: of audits those of reports."""
    findings = load_or_english("report", language).texts.items()
    return {**load("web", language).texts, **{key: text for key, text in findings if key.startswith(_OF_AUDITS)}}


def _rule_texts(language: str) -> dict[str, Text]:
    """Return the rules in a language, by id; of English, which is beside them wherever they are shown, none."""
    return dict(load("rules", language).texts) if language in spoken_in("rules") else {}


def _address(path: str, language: str, choice: Choice) -> str:
    """Return the address of a page in a language, whatever is kept or liked."""
    found = path.replace("{id:str}", "ID")
    return found if len(choice.names) == 1 else f"{found}?{ASKED}={language}"


def _type(path: str) -> str:
    return _TYPES[path[path.rindex(".") :]]


def _headers(path: str) -> dict[str, str]:
    """Return what a file has besides the headers of all."""
    return {"Content-Security-Policy": WORKER_CSP} if path == _RULES_WORKER else {}


def _of_python(path: Path, request: Request) -> Response:
    """Answer with a file that is too large to lie in memory, and that was compressed when it was brought."""
    headers = {"ETag": f'"{pyodide.FILES[path.name][:32]}"', "Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    if takes(request, "gzip"):
        packed = path.with_name(f"{path.name}.gz")
        return FileResponse(packed, headers=headers | {"Content-Encoding": "gzip"}, media_type=_type(path.name))
    return FileResponse(path, headers=headers, media_type=_type(path.name))


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _tree(element: ElementTree.Element) -> list[Any]:
    """Return an element as its name, its attributes and its content: browsers make no element of text here."""
    return [element.tag, element.attrib, *filter(None, (element.text or "").split("\n")), *map(_tree, element)]
