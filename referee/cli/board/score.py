"""``referee score``: the score sheet of a final position, or of boards alone."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from referee.cli.shared import game_texts, output
from referee.cli.shared.arguments import Language, verifier_key, words_in
from referee.cli.shared.failure import EXIT_USAGE, Failure
from referee.cli.shared.game_texts import rehearsed
from referee.cli.shared.names import in_setup, names_of_file
from referee.log.errors import LogError
from referee.log.file import MAGIC
from referee.log.verdict import Finding, Verdict
from referee.telling.game_file import GameFile, told_by
from referee.text.notation import headers
from referee.text.notation.headers import Setup
from referee.text.report.model import rules_named, score_value, title
from referee.text.report.sheet import Sheet, SheetError, Told, read
from referee.text.report.text import sheet_lines
from referee.text.words.catalogue import ENGLISH, Words

_NAME_BYTES = 4
"""The part of MAGIC that names the kind of file; the other bytes show versions and damage."""


def score(
    file: Annotated[
        Path,
        Parameter(
            name="FILE",
            help="A game, a position or boards alone in the notation of docs/notation.md, or a game file.",
        ),
    ],
    /,
    *,
    as_json: Annotated[bool, Parameter(name="--json", help="Print the sheet as one JSON document.")] = False,
    key: Annotated[
        str | None, Parameter(metavar="VKEY", help="With a text: the verifier key that must have signed it.")
    ] = None,
    language: Language = ENGLISH,
) -> None:
    """Show the score sheet of a final position, item by item: every seat's points, each with its rule, and its place.

    If the position is not final, the sheet shows the score if the game ended there, with a last scoring of the boards
    as they are. Positions and boards do not show how the points of earlier scoring rounds of Alhambra arose: the sheet
    takes them over and says so. A game, as text or as a file, has them item by item. A game file is replayed, with the
    signatures of seats and the rules; use `referee audit` for the referee's own signature and the deck.

    If seats forfeited, lost points or got a result from an arbiter, the sheet first says who won and why, and has the
    places of that result.

    If only the boards are known, write them under the header Boards: what lies before each seat when the game is over,
    with bonuses, places and ties scored as usual. docs/notation.md has an example of each game ("Boards alone").

    Exit codes: 0 scored; 2 the text is not in the notation, or wrong usage; 8 the text breaks the rules, or its points
    are impossible; for a game file those of `referee audit`.

    Examples: `referee score final.txt`, `referee score game.gamelog --json`
    """
    if as_json and language != ENGLISH:
        raise Failure("--json is for programs, and in English; expected --language without it", EXIT_USAGE)
    say = words_in(language)
    told = _read(file, key)
    try:
        found = told.sheet(say=say if as_json else say.naming(told.setup.players))
    except SheetError as error:
        raise Failure(f"{file}: {error}", int(Verdict.RULES)) from None
    output.write(_json(told, found) if as_json else _text(told.setup, found, say))


def _read(file: Path, key: str | None) -> Told:
    """Return the file's facts about the end of its game. Raise ``Failure``."""
    try:
        with file.open("rb") as stream:
            if not MAGIC.startswith(stream.peek(_NAME_BYTES)[:_NAME_BYTES]):
                return game_texts.read(file, partial(_told, file), None if key is None else verifier_key("--key", key))
            if key is not None:
                raise Failure(f"{file}: --key is only for texts; expected referee audit for a game file", EXIT_USAGE)
            game_file = GameFile.read(stream)
    except OSError as error:
        raise Failure(f"{file}: {error.strerror}", EXIT_USAGE) from None
    except LogError as error:
        raise Failure(f"{file}: {error}", int(Finding.of(error).verdict)) from None
    if game_file.torn is not None:
        raise Failure(f"{file}: {game_file.torn}", int(Finding.of(game_file.torn).verdict))
    told = told_by(game_file)
    return replace(told, setup=in_setup(told.setup, names_of_file(file, game_file.record)))


def _told(path: Path, text: str) -> Told:
    """Return what a text tells, once the rules of the log have judged what it has beside the moves."""
    told = read(text)
    return told if told.game is None else replace(told, waits=rehearsed(path, told.game))


def _text(setup: Setup, found: Sheet, say: Words) -> str:
    rules = rules_named(setup.rules_id, setup.version, found)
    draft = [say("draft")] if say.is_draft else []
    head = say("score.title", title=title(setup, say), n=setup.version)
    lines = [*draft, head, *headers.write(setup)[3:]]
    return "".join(f"{line.rstrip()}\n" for line in (*lines, *sheet_lines(found, rules, say=say)))


def _json(told: Told, found: Sheet) -> str:
    return json.dumps(score_value(told, found), indent=2, ensure_ascii=False) + "\n"
