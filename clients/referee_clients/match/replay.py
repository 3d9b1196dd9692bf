"""The replay of a game of the journal, from its deal and its acts: as lines to read, and as a signed log.

The log is a declared game: seats sign their moves, the match is the scribe of the deal and the arbiter of faults. All
keys are the match's own: a log proves the moves, and that it was not changed since, not the players.
"""

from __future__ import annotations

import os
import random
import secrets
import time
from base64 import b64decode
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from referee import __version__, dealer
from referee.games import registry
from referee.games.game import Chance, Ending, ForcedPass, InputError
from referee.games.results import Contest
from referee.games.table_rules import VERSION as TABLE_RULES
from referee.log import file, intent
from referee.log.codec import end_message
from referee.log.entry import FORMAT_VERSION, NONCE_BYTES, Clock
from referee.log.events import Author, Role, change_of
from referee.log.header import build_header, header_hash
from referee.log.keys import PrivateKey
from referee.log.note import CheckpointSigner, VerifierKey
from referee.log.replay import Record
from referee.log.v1 import log_pb2
from referee.text.notation import game_text
from referee.wire import registry as wire
from referee.wire import strict
from referee_clients.match.game import SeededStream, deciding, following
from referee_clients.match.journal import Game, JournalError
from referee_clients.match.worker import Match, Task, deal_seed

FOLDER: Final = "games"
ORIGIN: Final = "match.invalid"
"""The name of the log's referee, which no referee has."""
_KEY: Final = "match.private.pem"
VERIFIER: Final = "match.vkey"
_FAULT_RULE: Final = "TBL-34"


@dataclass(frozen=True, slots=True)
class Step:
    """One event."""

    state: Any
    """The state before it."""
    seat: int | None
    """The seat whose bot decided; None: none did."""
    event: Any
    """A move, an outcome, a pass or a stand-in's move; or the ``Ending`` by which the seat lost."""


def steps(match: Match, game: Game) -> Iterator[Step]:
    """Yield what happened in a game. Raise ``JournalError`` if the journal's acts do not make the game it tells of."""
    where = f"game {game.task.block}/{game.task.rotation}"
    rules = registry.get(match.game)
    seats = len(game.task.seats)
    components = rules.default_components()
    state = rules.new(seats, None, None)
    dealt = rules.dealer(seats, None, None, SeededStream(deal_seed(match.seed, game.task.block)))
    codec = wire.codec(match.game, rules.version)
    out = dict[int, Ending]()
    acts = iter(game.acts)
    while (result := Contest(out).result(seats, state.pending())) is None:
        seat = deciding(state.pending(), out)
        if seat is None:
            event = change_of(following(state, dealt, out)[0])
        else:
            try:
                match next(acts):
                    case int(number):
                        event = tuple(state.legal_moves())[number]
                    case str(text) if text[:1] == "!":
                        event = out[seat] = Ending[text[1:]]
                    case text:
                        event = _legal(state, codec.decode_move(b64decode(str(text)[1:]), components))
            except (StopIteration, ValueError, KeyError, IndexError) as error:
                raise JournalError(f"{where}: its acts are no game ({type(error).__name__}: {error})") from None
        yield Step(state, seat, event)
        if not isinstance(event, Ending):
            state.apply(event)
    if next(acts, None) is not None or state.digest().hex()[: len(game.position)] != game.position:
        raise JournalError(f"{where}: its acts lead to another position; was it played with other rules?")
    if result.places != game.places:
        raise JournalError(f"{where}: places {list(game.places)} in the journal, {list(result.places)} by its acts")


def _legal(state: Any, move: Any) -> Any:
    if violations := state.check(move):
        raise ValueError(f"breaks {violations[0].rule_id}")
    return move


def trace(match: Match, game: Game, names: tuple[str, ...]) -> Iterator[str]:
    """Yield a line for everything that happened, in the notation. Raise ``JournalError``."""
    for step in steps(match, game):
        if isinstance(step.event, Ending):
            who = names[game.task.seats[step.seat or 0]]
            yield f"player {(step.seat or 0) + 1} ({who}) is out: {step.event.words}"
        else:
            yield game_text.line(match.game, step.state, step.event)


class Keys:
    """The keys of a match, which it makes for itself."""

    def __init__(self, folder: Path) -> None:
        """Read them, or make them."""
        path = folder / _KEY
        if not path.exists():
            # Written whole or not at all, and once: several workers may come here together.
            made = folder / f"{_KEY}.{os.getpid()}"
            PrivateKey.generate().save(made)
            with suppress(FileExistsError):
                os.link(made, path)
            made.unlink()
        self.match = PrivateKey.load(path)
        self.verifier = VerifierKey.of(ORIGIN, self.match.public)
        (folder / VERIFIER).write_text(f"{self.verifier}\n", encoding="utf-8")

    def of_bot(self, number: int, seat: int) -> PrivateKey:
        """Return the key of a bot at a seat, the same in all games."""
        return PrivateKey(self.match.derive(b"match/bot/%d/%d" % (number, seat)))

    def of_scribe(self) -> PrivateKey:
        """Return the key with which chance is declared."""
        return PrivateKey(self.match.derive(b"match/scribe"))

    def of_arbiter(self) -> PrivateKey:
        """Return the key with which faults are ruled on."""
        return PrivateKey(self.match.derive(b"match/arbiter"))


def signed(match: Match, game: Game, keys: Keys) -> bytes:
    """Return the game as a signed log file. Raise ``JournalError``, ``LogError``."""
    rules = registry.get(match.game)
    codec = wire.codec(match.game, rules.version)
    seats = len(game.task.seats)
    components = rules.default_components()
    header = build_header(
        rules.rules_id, rules.version, rules.catalogue, codec.signed_file(), f"tile-referee {__version__}"
    )
    scribe, arbiter = keys.of_scribe(), keys.of_arbiter()
    players = [keys.of_bot(number, seat) for seat, number in enumerate(game.task.seats)]
    opened = log_pb2.GameOpen(
        format_version=FORMAT_VERSION,
        rules_id=rules.rules_id,
        rules_version=rules.version,
        tables=codec.encode_components(components),
        seats=[log_pb2.Seat() for _ in range(seats)],
        scribe_keys=[scribe.public.raw],
        arbiter_keys=[arbiter.public.raw],
        nonce=secrets.token_bytes(NONCE_BYTES),
        header_hash=header_hash(header),
    )
    opened.terms.table_rules = TABLE_RULES
    dealer.declare(opened, 0)
    record, written = Record.start(strict.encode(opened), _now())
    entries = [written.data]

    def admit(signed_intent: Any) -> None:
        entries.append(record.admit(signed_intent, _now(record.last_ms)).data)

    for seat, key in enumerate(players):
        admit(intent.join(record.place, seat, key, None))
    for step in steps(match, game):
        event = step.event
        if isinstance(event, Ending):
            seat = step.seat or 0
            if event is Ending.RESIGNED:
                admit(intent.act(record.place, Author(Role.SEAT, seat), players[seat], log_pb2.Resign()))
            else:
                forfeit = log_pb2.Forfeit(seat=seat, ending=log_pb2.Ending.ValueType(event.value))
                ruling = log_pb2.Rule(forfeit=forfeit, rule_id=_FAULT_RULE)
                admit(intent.act(record.place, Author(Role.ARBITER, 0), arbiter, ruling))
        elif isinstance(step.state.pending()[0], Chance):
            admit(intent.declare(record.place, 0, scribe, codec.encode_outcome(event, components)))
        elif step.seat is None:
            data = b"" if isinstance(event, ForcedPass) else codec.encode_move(event, components)
            seat = step.state.pending()[0].seat
            message = log_pb2.StandIn(seat=seat, move=data) if data else log_pb2.ForcedPass(seat=seat)
            entries.append(record.write(message, _now(record.last_ms)).data)
        else:
            data = codec.encode_move(event, components)
            admit(intent.move(record.place, Author(Role.SEAT, step.seat), players[step.seat], data))
    end = record.game.reached()
    if end is None:
        raise JournalError(f"game {game.task.block}/{game.task.rotation}: its log does not come to an end")
    entries.append(record.write(end_message(end), _now(record.last_ms)).data)
    return _file(header, entries, CheckpointSigner(ORIGIN, keys.match).sign(record.game_id, record.size, record.root()))


def _file(header: bytes, entries: list[bytes], note: bytes) -> bytes:
    stream = BytesIO()
    writer = file.Writer(stream)
    writer.header(header)
    for entry in entries:
        writer.entry(entry)
    writer.end(note)
    return stream.getvalue()


def _now(earliest: int = 0) -> Clock:
    return Clock(max(time.time_ns() // 1_000_000, earliest))


def path_of(folder: Path, task: Task) -> Path:
    """Return where a game's log is kept."""
    return folder / FOLDER / f"{task.block}-{task.rotation}.gamelog"


def keep(folder: Path, match: Match, game: Game, keys: Keys) -> Path:
    """Write the game's log, as a whole or not at all, and return where."""
    path = path_of(folder, game.task)
    path.parent.mkdir(parents=True, exist_ok=True)
    made = path.with_suffix(f".{os.getpid()}")
    made.write_bytes(signed(match, game, keys))
    made.replace(path)
    return path


@dataclass(frozen=True, slots=True)
class Logs:
    """The games whose logs are kept."""

    sample: int | None = 0
    """Their number; None: all."""

    @classmethod
    def parse(cls, text: str) -> Logs:
        """Return what ``none``, ``all`` and ``sample:20`` mean. Raise ``InputError``."""
        if text in ("none", "all"):
            return cls(0 if text == "none" else None)
        word, _, number = text.partition(":")
        if word != "sample" or not number.isdecimal() or not 0 < int(number) < 1 << 32:
            raise InputError("--logs", f"{text[:40]!r}", "none, all, or such as sample:20")
        return cls(int(number))

    def chosen(self, games: int, seed: int) -> frozenset[int] | None:
        """Return the numbers of the games that are kept; None: all."""
        if self.sample is None:
            return None
        rng = random.Random(f"{seed}/logs")
        return frozenset(rng.sample(range(games), min(self.sample, games)))
