"""``referee event export`` and ``import``: an event as JSON, as CSV and as pages."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from cyclopts import Parameter

from referee.cli.shared import output
from referee.cli.shared.arguments import check_language
from referee.cli.shared.game_texts import write_new
from referee.cli.shared.tournament import Encoding, EventPath, failures
from referee.console import printable
from referee.games.game import InputError
from referee.log.keys import PrivateKey
from referee.text.words.catalogue import ENGLISH, languages, load
from referee.tournament import trf
from referee.tournament.check import read_document
from referee.tournament.file import EventFile, new_seed
from referee.tournament.log import EventLog
from referee.tournament.names import Names
from referee.tournament.rebuild import exported, rebuild
from referee.tournament.trf import ENCODING


def export(
    file: EventPath,
    /,
    *,
    to_json: Annotated[Path | None, Parameter(name="--json", metavar="NEW", help="Write one JSON document.")] = None,
    to_csv: Annotated[
        Path | None,
        Parameter(name="--csv", metavar="DIR", help="Write entrants, pairings, standings and cross table as CSV."),
    ] = None,
    html: Annotated[
        Path | None,
        Parameter(metavar="DIR", help="Write pages: pairings and why, result slips, standings, cross table."),
    ] = None,
    web: Annotated[
        str,
        Parameter(
            metavar="URL",
            help="With --html: the address of `referee web`, to which the codes on slips lead.",
        ),
    ] = "",
    to_trf: Annotated[
        Path | None, Parameter(name="--trf", metavar="NEW", help="Write a report in FIDE's TRF26, of tables of two.")
    ] = None,
    language: Annotated[
        str,
        Parameter(
            metavar="LANG",
            help=f"With --html: the language of pages and slips, but for why: {', '.join(languages('report'))}.",
        ),
    ] = ENGLISH,
    without_names: Annotated[bool, Parameter(help="Numbers only.")] = False,
) -> None:
    """Write an event for other programs, spreadsheets, or the wall of the hall.

    Pages and tables are written anew each time; the JSON document and the report must be new files.
    """
    check_language(language, html, "--html")
    with failures(file):
        event = EventFile.read_only(file)
        names = Names({}) if without_names else event.names
        if not (to_json or to_csv or html or to_trf):
            raise InputError("export", "nothing to write", "--json, --csv, --html or --trf")
        written: list[Path] = []
        if to_trf:
            text, remarks = trf.written(event.log.state, names, file.stem)
            write_new("--trf", to_trf, text.encode())
            written.append(to_trf)
            print("".join(f"note: {printable(remark)}\n" for remark in remarks), end="", file=sys.stderr)
        if to_json:
            write_new("--json", to_json, (json.dumps(exported(event.log, names), indent=1) + "\n").encode())
            written.append(to_json)
        made = list[tuple[Path, Mapping[str, str]]]()
        if to_csv or html:
            from referee.tournament.pages import pages, sheets  # noqa: PLC0415 - its libraries are an extra

            made += [(to_csv, sheets(event.log.state, names))] if to_csv else []
            made += (
                [(html, pages(event.log, names, file.stem, _address(web), load("report", language)))] if html else []
            )
        for folder, files in made:
            folder.mkdir(parents=True, exist_ok=True)
            for name, text in files.items():
                (folder / name).write_text(text, encoding="utf-8")
                written.append(folder / name)
    output.write("".join(f"wrote {printable(str(path))}\n" for path in written))


def _address(web: str) -> str:
    """Return the address without what follows the host and a path. Raise ``InputError``."""
    found = urlsplit(web)
    if web and (found.scheme not in ("http", "https") or not found.hostname or found.query or found.fragment):
        raise InputError("--web", repr(web[:80]), "an address such as https://club.example")
    return web


def import_(
    file: EventPath,
    document: Annotated[
        Path,
        Parameter(name="DOCUMENT", help="An event.json, or a .trf of FIDE's form.", show_default=False),
    ],
    /,
    *,
    encoding: Encoding = ENCODING,
) -> None:
    """Make an event of a document. Every act is judged by the rules, and signed with new keys of your own.

    A .trf gives tables of two: what was played, byes and points. It states no lots and no game.
    """
    with failures(file):
        said = read_document(document, new_seed()[0], encoding)
        rebuild(EventLog.new(said.terms, PrivateKey.generate()), said)  # before anything is written
        event = EventFile.create(file, said.terms, said.seed)
        for number, name in said.names.items():
            event.names = event.names.with_unproved(number, name)
        rebuild(event.log, said)
        event.save()
    print(f"{printable(str(file))}: event {event.log.event_id}, {len(event.log.state.rounds)} rounds")
