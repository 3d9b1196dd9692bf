"""Refusals in the reader's language: what is wrong is said in it wherever somebody at a page can meet the refusal."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

import grpc
import pytest
from grpc_status import rpc_status

import referee
from referee.log.errors import Code, LogError, not_awaited
from referee.server.live.refusals import BadField, LimitReached, NotAwaited
from referee.server.service.grpc_errors import status
from referee.text.notation.violations import BadWord
from referee.text.words.catalogue import ENGLISH, load, phrase
from referee_clients.rulings import refused
from referee_clients.sdk.opening import milliseconds, options
from referee_clients.web import desk_api, pages
from referee_clients.web.refusals import Refusal, refusal_of
from referee_clients.web.request import Given, key_of


def refused_by_the_referee(error: Exception) -> Refusal:
    """Return what becomes of a referee's error at the gateway: it went over the wire."""
    made = rpc_status.to_status(status(error, method="x"))
    metadata = grpc.aio.Metadata(*made.trailing_metadata)
    return refusal_of(grpc.aio.AioRpcError(made.code, grpc.aio.Metadata(), metadata, made.details))


@pytest.mark.parametrize(
    ("error", "czech"),
    [
        (
            NotAwaited(phrase("{player} is on turn", player=1), "move by player 2"),
            "Nic se nestalo: na tahu je hráč 2",
        ),
        (
            LimitReached(phrase("calls for an arbiter"), retry_s=3),
            "Zkuste to za 3 s: dosažena mez: přivolání rozhodčího",
        ),
        (LimitReached(phrase("streams")), "Nejde to: dosažena mez: proudy"),
        (BadField("text", phrase("a text")), "Opravte, co jste zadali: text: očekává se: text"),
        (
            LogError(Code.LIMIT, phrase("entry {seq} is past the entry limit", seq=9), "fewer"),
            "Nejde to: položka 9 je za největším počtem položek; očekává se: fewer",
        ),
    ],
    ids=str,
)
def test_what_the_referee_refuses_is_told_in_the_language(error: Exception, czech: str) -> None:
    """All of it is translated; the message is in English, and stays so for callers that ask for no language."""
    found = refused_by_the_referee(error)
    assert found.words("cs") == czech
    assert "said" not in found.metadata
    assert str(error) == found.message == found.words(ENGLISH)


@pytest.mark.parametrize(
    ("read", "czech"),
    [
        (partial(milliseconds, "lag", "soon"), "lag 'soon': očekává se: čas, například 90s, 5m, 1h30m nebo 2d"),
        (partial(Given({"seats": -1}).needed, "seats"), "seats: -1; očekává se: číslo od 0 do 4294967295"),
        (partial(options, "kingdomino", b"", '{"hue": 1}', None), "options: volba 'hue' není; očekávají se některé z "),
        (partial(key_of, "new-key", "0"), "new-key: není to klíč; očekává se 64 šestnáctkových číslic"),
    ],
    ids=["time", "number", "option", "key"],
)
def test_what_is_wrong_in_a_form_is_told_in_the_language(read: Callable[[], object], czech: str) -> None:
    with pytest.raises(BadWord) as caught:
        read()
    found = desk_api._refusal("opened", caught.value)
    assert found.words("cs").startswith(f"Opravte, co jste zadali: {czech}")
    assert found.words(ENGLISH) == found.message == f"Nothing was opened: {str(caught.value).removeprefix('--')}."


def test_a_ruling_that_may_not_stand_is_told_in_the_language() -> None:
    error = refused(not_awaited("{player} is not on turn", "the player on turn", player=1))
    assert str(error) == "not allowed now: player 2 is not on turn; expected the player on turn"
    assert error.phrase is not None
    assert error.phrase.by("cs") == "teď to nejde: hráč 2 není na tahu; očekává se: hráč, který je na tahu"


def test_what_is_quoted_in_english_nobody_at_a_page_meets() -> None:
    """Every refusal of the gateway that says in English what is wrong, by its file and reason.

    Pages send well-formed questions of the right type, with numbers and names from lists, to addresses that are there.
    """
    quotes = {reason for reason, text in load("refusals", "cs").texts.items() if "{detail}" in text}
    found = set()
    for path in pages.FOLDER.glob("*.py"):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "Refusal" and len(call.args) > 1:
                named = call.args[1].value if isinstance(call.args[1], ast.Constant) else ""
                if named in quotes and "detail" not in {each.arg for each in call.keywords}:
                    found.add((path.name, named))
    assert found == {
        ("acts_api.py", "MALFORMED_MOVE"),  # bytes that the page has made
        ("request.py", "WRONG_TYPE"),
        ("request.py", "INVALID_ARGUMENT"),  # no JSON, no message, or cut off in the middle
        ("refusals.py", "BAD_REQUEST"),  # what Starlette refuses: no HTTP
        ("positions_api.py", "INVALID_ARGUMENT"),  # a question that the page has made
    }


def test_what_forms_are_told_in_english_alone() -> None:
    """Words of a form that are wrong: by the file, and the word."""
    found = set()
    clients = pages.FOLDER.parent
    for path in (clients / "sdk" / "opening.py", *(clients / "web").glob("*.py")):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "BadWord":
                word, what = call.args
                if isinstance(what, ast.Constant | ast.JoinedStr) and isinstance(word, ast.Constant):
                    found.add((path.name, word.value))
    assert found == {
        ("opening.py", "options"),  # no JSON, which only a command takes
        ("desk_api.py", "move"),  # in notation, whose grammar names what it expects
        ("opening.py", "series"),  # what only commands take
        ("opening.py", "series-of"),
        ("opening.py", "names"),
        ("opening.py", "rules"),  # a name that pages have in a list
    }


_IN_ENGLISH_ALONE: Final = {
    "server/live/game.py": {"NotAwaited"},  # an abort, which `referee abort` asks for
    "server/live/game_list.py": {"BadField"},  # lists that pages do not ask for so
    "server/live/opening.py": {"BadField"},  # forms do not let a person send it
    "server/service/access.py": {"BadField"},  # tokens, which no page issues
    "server/service/adjudication.py": {"BadField", "LimitReached"},  # for programs
    "server/service/admission.py": {"BadField"},  # no message
    "server/service/arbiter.py": {"BadField"},  # an act that is none of the table; an entry that there is not
    "server/service/auth.py": {"BadField"},  # whom a gateway calls for
    "server/service/calls.py": {"LimitReached"},  # a message that is too large
    "server/service/game_service.py": {"BadField"},  # signatures, and lists of games
    "server/service/messages.py": {"BadField"},  # what the gateway has looked at before
    "server/service/names.py": {"BadField"},  # games and seats that the page has; a name where the opening has one
    "server/service/play_stream.py": {"BadField"},  # what the gateway writes itself
    "server/service/solver.py": {"NotAwaited"},  # proofs about a running game, which no page asks for
    "server/service/status.py": {"BadField"},  # pages of a list
    "server/service/tournaments.py": {"BadField"},  # what `referee event` asks
    "server/service/watch_stream.py": {"BadField"},  # what the gateway writes itself
}
"""The referee's errors in English alone, and why the pages never cause them."""


def test_what_the_referee_says_in_english_alone_nobody_at_a_page_meets() -> None:
    found = dict[str, set[str]]()
    source = Path(referee.__file__).parent
    for path in (path for part in ("server/live", "server/service") for path in (source / part).glob("*.py")):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            name = ast.unparse(call.func) if isinstance(call, ast.Call) else ""
            if isinstance(call, ast.Call) and name in ("BadField", "NotAwaited", "LimitReached"):
                tells = [
                    *call.args[name == "BadField" :][:1],
                    *(each.value for each in call.keywords if each.arg == "what"),
                ]
                if any(isinstance(part, ast.Constant | ast.JoinedStr) for part in tells):
                    found.setdefault(path.relative_to(source).as_posix(), set()).add(name)
    assert found == _IN_ENGLISH_ALONE
