"""``referee record``: the log of a game that was written down by hand."""

from __future__ import annotations

import time
from io import BytesIO
from pathlib import Path
from typing import Annotated

import typer

from referee import __version__
from referee.cli import texts
from referee.cli.failure import EXIT_USAGE, Failure
from referee.games.game import Chance, ForcedPass, Over
from referee.log import file, intent
from referee.log.engines import installed
from referee.log.entry import Clock, Written
from referee.log.errors import LogError
from referee.log.intent import Author, Role
from referee.log.keys import PrivateKey
from referee.log.note import CheckpointSigner
from referee.log.replay import Record
from referee.log.v1 import log_pb2
from referee.notation import game_text
from referee.notation.game_text import GameText
from referee.notation.headers import ABORTED, FAULT, RUNNING, STALLED
from referee.service.data import DEFAULT_ORIGIN
from referee.table.opening import prepare
from referee.v1 import game_service_pb2 as pb
from referee.wire.registry import codec

_SCRIBE = 0
_ENDINGS = {ABORTED: log_pb2.ENDING_ABORTED, FAULT: log_pb2.ENDING_REFEREE_FAULT}


def record(
    text: Annotated[Path, typer.Argument(metavar="TEXT", help="The game, as docs/notation.md has it.")],
    key: Annotated[
        Path, typer.Option("--key", metavar="FILE", help="The scribe's private key, which signs every act.")
    ],
    referee_key: Annotated[
        Path, typer.Option("--referee-key", metavar="FILE", help="The referee's, which signs the log's head.")
    ],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The game file; a new one.")],
    origin: Annotated[
        str, typer.Option("--origin", metavar="NAME", help="The name that the referee signs under.")
    ] = DEFAULT_ORIGIN,
) -> None:
    """Makes a game file from the text of a game that was played at a physical table.

    It is a declared game: the scribe enters every seat's moves and all that was drawn or rolled, each act signed with
    the scribe's key; the referee's key signs the head. Whoever records is both, with two keys that `referee keys --new`
    makes. A text that breaks off becomes the log of a game that goes on, which `referee audit` calls a PREFIX. The time
    of every entry is that of the recording.

    What is wrong in the text is told with its line, and no file is written.

    Exit codes: 0 recorded; 2 the text is not in the notation, or can mean several moves, or wrong usage; 8 the rules
    forbid what it says; 1 the file cannot be written.

    Example: `referee record final.txt --key scribe.pem --referee-key referee.pem --out final.gamelog`
    """
    scribe = texts.private_key("--key", key)
    referee = texts.private_key("--referee-key", referee_key)
    if scribe.public == referee.public:
        raise Failure("--key and --referee-key: the same key; expected two", EXIT_USAGE)
    try:
        signer = CheckpointSigner(origin, referee)
    except LogError as error:
        raise Failure(f"--origin: {error.what}; expected {error.expected}", EXIT_USAGE) from None
    game = texts.read(text, game_text.read).game
    if game.result == STALLED:
        raise Failure(f'{text}: [Result "{STALLED}"]: only a log that is full ends so', EXIT_USAGE)
    try:
        recorder = _Recorder(game, scribe)
        recorder.play()
        data = recorder.file(signer)
    except LogError as error:
        raise Failure(f"{text}: {error}", EXIT_USAGE) from None
    try:
        with out.open("xb") as stream:
            stream.write(data)
    except OSError as error:
        raise Failure(f"--out {out}: {error.strerror}") from None
    ended = "the game goes on" if game.result == RUNNING else f"result {game.result}"
    print(f"{out}: game {recorder.record.game_id.hex()}, {recorder.record.size} entries, {ended}")
    print(f"verifier key {signer.verifier}")
    print(f"scribe 0: key {scribe.public.raw.hex()}")


class _Recorder:
    """Writes a game down as its scribe and its referee."""

    def __init__(self, game: GameText, scribe: PrivateKey) -> None:
        """Raises ``LogError``."""
        setup = game.setup
        self._game = game
        self._scribe = scribe
        self._codec = codec(setup.rules_id, setup.version)
        request = pb.CreateGameRequest(
            rules_id=setup.rules_id,
            rules_version=setup.version,
            options=self._codec.encode_options(setup.options),
            tables=self._codec.encode_tables(setup.tables),
            seats=[log_pb2.Seat(scribed=True) for _ in range(setup.seats)],
            declaring_scribe_key=scribe.public.raw,
            event_id=setup.event,
            round=setup.round,
            table=setup.table,
        )
        prepared = prepare(request, installed(), f"tile-referee {__version__}")
        self._header = prepared.opening.header
        self.record, written = Record.start(prepared.open_data, _now())
        self._entries = [written.data]

    def play(self) -> None:
        """Every event of the game, then its end, if it has one. Raises ``LogError``."""
        for event in self._game.events:
            self._take(event)
        if isinstance(self.record.course.pending()[0], Over):
            self._settle()
        elif self._game.result in _ENDINGS:
            self._keep(self.record.write(log_pb2.GameEnd(ending=_ENDINGS[self._game.result]), _now()))

    def _take(self, event: object) -> None:
        tables, place = self.record.course.tables, self.record.place
        if isinstance(event, ForcedPass):
            self._settle()
        elif isinstance(self.record.course.pending()[0], Chance):
            data = self._codec.encode_outcome(event, tables)
            self._keep(self.record.admit(intent.declare(place, _SCRIBE, self._scribe, data), _now()))
        else:
            data = self._codec.encode_move(event, tables)
            signed = intent.move(place, Author(Role.SCRIBE, _SCRIBE), self._scribe, data)
            self._keep(self.record.admit(signed, _now()))

    def _settle(self) -> None:
        """What the referee has to enter now."""
        due = self.record.due()
        assert due is not None  # noqa: S101 - the text was played before
        self._keep(self.record.write(due, _now()))

    def _keep(self, written: Written) -> None:
        self._entries.append(written.data)

    def file(self, signer: CheckpointSigner) -> bytes:
        """The game file."""
        stream = BytesIO()
        writer = file.Writer(stream)
        writer.header(self._header)
        for entry in self._entries:
            writer.entry(entry)
        writer.end(signer.sign(self.record.game_id, self.record.size, self.record.root()))
        return stream.getvalue()


def _now() -> Clock:
    return Clock(time.time_ns() // 1_000_000)
