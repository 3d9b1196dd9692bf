"""A game file read up to an entry: who plays, what happened, the position. Checks what replay checks, no checkpoint."""

from __future__ import annotations

from typing import BinaryIO

from referee.log import file
from referee.log.entry import decode_entry
from referee.log.errors import Code, LogError
from referee.log.events import Appealed, Author, Protested, Role, Ruled
from referee.log.file import FrameType
from referee.log.game import LoggedGame
from referee.log.header import check_header, decode_header
from referee.log.remarks import Remarks
from referee.log.replay import Record
from referee.log.v1 import log_pb2
from referee.telling.table_text import happened, with_words
from referee.telling.transcript import Transcript, numbered, scored
from referee.telling.words import told_end
from referee.text.notation.game_text import GameText
from referee.text.notation.headers import Setup
from referee.text.notation.options import chosen, words
from referee.text.notation.outcomes import IN_ENGLISH
from referee.text.notation.times import moment
from referee.text.report.sheet import Told
from referee.text.words.catalogue import Words


class GameFile:
    """What a file tells."""

    def __init__(self, record: Record, say: Words = IN_ENGLISH) -> None:
        self.record = record
        self.transcript = Transcript(record.opened, say)
        self.texts: dict[int, str] = {}
        """What goes with acts of the table, by their entries, as far as it is in the file."""
        self.ended = False
        """END was read: the file cannot go on."""
        self.torn: LogError | None = None
        """Where the file breaks off; what is before it is whole."""

    @classmethod
    def read(cls, stream: BinaryIO, at: int | None = None, say: Words = IN_ENGLISH) -> GameFile:
        """Return the whole file, or its beginning with entry ``at`` as the last. Raise ``LogError``.

        ``say``: the language of what entries say.
        """
        game_file: GameFile | None = None
        header, remarks = b"", Remarks()
        try:
            for frame in file.read(stream):
                if frame.type == FrameType.HEADER:
                    header = frame.payload
                elif frame.type == FrameType.ENTRY:
                    size = 0 if game_file is None else game_file.record.size
                    try:
                        game_file = game_file or _begun(header, frame.payload, say)
                        entered = game_file.record.read(frame.payload)
                    except LogError as error:
                        raise error.at(entry=size, offset=frame.offset)  # noqa: B904 - the same error
                    told = game_file.transcript.see(entered)
                    if isinstance(told.event, Protested | Appealed | Ruled):
                        remarks.entered(told.seq, told.event.remark)
                    if told.seq == at:
                        return game_file
                elif frame.type == FrameType.REMARK and game_file is not None:
                    if (remark := remarks.seen(frame)) is not None:
                        game_file.texts[remark.seq] = remark.text
                elif frame.type == FrameType.END and game_file is not None:
                    game_file.ended = True
        except LogError as error:
            if error.code is not Code.TORN or game_file is None:
                raise
            game_file.torn = error
        if game_file is None:
            raise LogError(Code.INCOMPLETE, "no entries", "GameOpen in entry 0")
        return game_file

    # --- words -------------------------------------------------------------------------------------------

    def header(self) -> list[str]:
        """Return who plays and under which rules, a line each."""
        record = self.record
        opened, game = record.opened, record.game
        dealt = game.deal.is_dealt
        lines = [
            f"game {record.game_id.hex()}: {opened.rules_id}, version {opened.rules_version}",
            f"options: {words(chosen(game.position.options))}",
            *map(str, game.position.about_opening()),
            f"chance: {'dealt from a committed deck' if dealt else f'declared by {_scribe(opened)}'}",
        ]
        for seat, terms in enumerate(opened.seats):
            if terms.scribed:
                lines.append(f"seat {seat}: a scribe enters its moves")
            elif keys := record.keyring.keys_of(Author(Role.SEAT, seat)):
                named = "".join(f", and {key.raw.hex()} as soon as it signs" for key in keys[1:])
                since = f", since entry {used[-1][0]}" if len(used := record.keyring.used[seat]) > 1 else ""
                lines.append(f"seat {seat}: key {keys[0].raw.hex()}{since}{named}")
            else:
                lines.append(f"seat {seat}: not joined")
        time = f", {when} UTC" if (when := moment(record.last_ms)) else ""
        lines.append(f"shown: entries 0 to {record.size - 1}{time}; {_standing(game)}")
        if game.end is not None:
            lines.append(told_end(game.end))
        told = told_by(self)
        if told.result is not None or not told.contest.is_plain:
            lines.append(f"result: {told.outcome()}")
        return lines

    def numbered_moves(self) -> list[str]:
        """Return the lines of every entry, with its number, and below it one for each scoring round that it brought."""
        width = len(str(self.record.size))
        return [
            line
            for told in self.transcript.entries
            for line in (*numbered(told, width, self.texts.get(told.seq, "")), *scored(told, width))
        ]


def _begun(header: bytes, entry: bytes, say: Words) -> GameFile:
    """Raise ``LogError``."""
    record = Record(decode_entry(entry).open)
    if record.game.position.state.course():
        raise LogError(Code.UNSUPPORTED, "the file is an event's, not a game's", "`referee event show FILE`")
    check_header(header, decode_header(header), record.opened)
    return GameFile(record, say)


def _standing(game: LoggedGame) -> str:
    """Return how far the game is, such as ``playing``, ``paused`` or ``its result waits``."""
    if game.is_over:
        return game.phase.value
    if game.reached() is not None:
        return "the result is not final yet" if game.result_waits else "come to its end"
    suspended = game.arbitration.suspended
    return game.phase.value if suspended is None else suspended.value


def _scribe(opened: log_pb2.GameOpen) -> str:
    return f"scribe {opened.declared.scribe}, key {opened.scribe_keys[opened.declared.scribe].hex()}"


def as_text(game_file: GameFile) -> GameText:
    """Return what a log's entries say of the game: all but who signed what, and what was refused."""
    opened, game = game_file.record.opened, game_file.record.game
    setup = Setup(
        rules_id=opened.rules_id,
        version=opened.rules_version,
        seats=len(opened.seats),
        options=game.position.options,
        components=None if game.position.own_components else game.position.components,
        event=opened.event_id if opened.HasField("event_id") else None,
        round=opened.round if opened.HasField("round") else None,
        table=opened.table if opened.HasField("table") else None,
        # Beyond the first they are told by nothing else: an appeal waits for one who has not ruled yet.
        arbiters=len(opened.arbiter_keys) if len(opened.arbiter_keys) > 1 else None,
    )
    texts = game_file.texts
    lines = happened(with_words(told.told, texts.get(told.seq, "")) for told in game_file.transcript.entries)
    return GameText(setup, tuple(game_file.transcript.events()), game.contest(), lines, game.result_waits)


def told_by(game_file: GameFile) -> Told:
    """Return what a game file says of the end of its game, as far as it goes."""
    game = game_file.record.game
    held = game_file.transcript.scorings.states
    return Told(as_text(game_file).setup, game.position.state, game.contest(), held, waits=game.result_waits)
