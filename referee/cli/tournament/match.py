"""``referee match``: bots play many games, each in a process of its own, and are rated."""

from __future__ import annotations

import json
import shlex
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

from cyclopts import ArgumentCollection, Group, Parameter
from cyclopts.validators import Number
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from referee.cli.shared import bulk, output
from referee.cli.shared.commands import Given, options_typed
from referee.cli.shared.failure import EXIT_FAILED, EXIT_USAGE, Exit, Failure
from referee.console import printable
from referee.games import registry
from referee.games.game import InputError, UnknownRules
from referee.log.errors import LogError
from referee.process.bulk.results import BadOption, BulkError
from referee.process.bulk.run import Place, dask
from referee_clients.bots import UnknownBot
from referee_clients.bots import names as our_names
from referee_clients.bots.program import MEMORY_MIB, START_S
from referee_clients.match import report
from referee_clients.match.course import FAULTS, Config, Course, config_of, merged, play, resumed
from referee_clients.match.journal import Game, Journal, JournalError, read
from referee_clients.match.limits import Limits, probe
from referee_clients.match.ratings import SCALE, Evidence, strengths
from referee_clients.match.replay import VERIFIER, Keys, Logs, keep, trace
from referee_clients.match.schedule import Kind, placings, possible
from referee_clients.match.sprt import Sprt, Verdict
from referee_clients.match.statistics import Statistics, as_json, named, statistics
from referee_clients.match.worker import Match, Played, WorkerDied
from referee_clients.sdk.opening import milliseconds

EXIT_H1: Final = 20
EXIT_UNDECIDED: Final = 21
EXIT_FAIL_IF: Final = 22
_MOST_GAMES: Final = 10_000_000
_MOST_BOTS: Final = 200
_MOST_GROUPS: Final = 10_000
_RATINGS_S: Final = 2.0
_LINE_S: Final = 10.0
_SHOWN: Final = 4
_OF_ANY: Final = frozenset(
    (
        *("--resume", "--merge", "--on", "--processes", "--json", "--anchor", "--fail-if", "--stop-on-fault"),
        *("--replay", "--out"),
    )
)
"""Options that do not affect the games."""


@Parameter(name="*", group=Group.create_ordered("The match"))
@dataclass(frozen=True, kw_only=True, slots=True)
class MatchGames:
    """The options of which games are played."""

    game: Annotated[str, Parameter(help=f"One of {', '.join(registry.names())}.")] = "kingdomino"
    bots: Annotated[
        str | None,
        Parameter(
            metavar="NAMES",
            help="Bots, separated by commas: names such as greedy, module:attribute, or 'exec:COMMAND'. The first one "
            "is the candidate of --sprt, --fail-if and the gauntlet.",
            show_default="all bots of the game but sampler, best first",
        ),
    ] = None
    seats: Annotated[int, Parameter(metavar="N", help="Seats at a table.", validator=Number(gte=1, lte=6))] = 2
    games: Annotated[
        int,
        Parameter(
            metavar="N",
            help="How many games; the last block is played whole.",
            validator=Number(gte=1, lte=_MOST_GAMES),
        ),
    ] = 200
    schedule: Annotated[
        Kind,
        Parameter(
            help="tables: every pair of bots meets about equally often. round-robin: every possible table, equally "
            "often. gauntlet: the first bot is at every table. swiss: in rounds by the standing."
        ),
    ] = Kind.TABLES
    seed: Annotated[
        int,
        Parameter(
            help="Seed of the schedule, the deals and of bots that choose at random.",
            validator=Number(gte=0, lte=(1 << 53) - 1),
        ),
    ] = 1
    sprt: Annotated[
        str | None,
        Parameter(
            metavar="TEST",
            help="End as soon as one of two hypotheses about the first bot is clear, such as first-places:0,10%: as "
            "good as the others, or 10 % more first places. Also points:A,B and placing:A,B.",
            show_default=False,
        ),
    ] = None


@Parameter(name="*", group=Group.create_ordered("Limits of bots"))
@dataclass(frozen=True, kw_only=True, slots=True)
class BotLimits:
    """The options of what a bot may take."""

    in_process: Annotated[
        bool,
        Parameter(help="Your bots in Python get no process of their own: faster, and without limits."),
    ] = False
    move_time: Annotated[str, Parameter(metavar="TIME", help="A bot has at most this long for a move.")] = "60s"
    game_time: Annotated[str, Parameter(metavar="TIME", help="The same for all its moves of a game.")] = "10m"
    start_time: Annotated[str, Parameter(metavar="TIME", help="The same until a bot is started and imported.")] = (
        f"{START_S:g}s"
    )
    memory: Annotated[
        int, Parameter(metavar="MIB", help="Most memory of a bot.", validator=Number(gte=64, lte=1 << 20))
    ] = MEMORY_MIB


@Parameter(name="*", group=Group.create_ordered("The folder"))
@dataclass(frozen=True, kw_only=True, slots=True)
class Folder:
    """The options of what is kept where."""

    out: Annotated[
        Path | None,
        Parameter(metavar="DIR", help="New folder for the match.", show_default="nothing is kept"),
    ] = None
    resume: Annotated[
        Path | None,
        Parameter(metavar="DIR", help="Resume the match in this folder with its original options."),
    ] = None
    logs: Annotated[
        str, Parameter(metavar="WHICH", help="Signed logs of games that are kept: none, all, or such as sample:20.")
    ] = "none"
    shard: bulk.ShardWord = None
    on: bulk.On = None
    merge: Annotated[
        list[Path] | None,
        Parameter(
            metavar="DIR",
            help="Make one match of its shards, which are in these folders; once for each.",
            show_default=False,
        ),
    ] = None
    replay: Annotated[
        str | None,
        Parameter(
            metavar="BLOCK/ROT",
            help="Print a game of the match in --out DIR move by move, write its signed log, and play nothing.",
            show_default=False,
        ),
    ] = None


def match(
    *,
    given: Given,
    played: MatchGames = MatchGames(),
    allowed: BotLimits = BotLimits(),
    folder: Folder = Folder(),
    processes: Annotated[
        int | None,
        Parameter(
            metavar="N",
            help="Games at one time, at most. The results are the same.",
            show_default="as many as processors, if there is work for them",
            validator=Number(gte=1, lte=1024),
        ),
    ] = None,
    anchor: Annotated[
        str | None,
        Parameter(metavar="NAME", help="The bot whose rating is 0.", show_default="the mean of all is 0"),
    ] = None,
    fail_if: Annotated[
        str | None,
        Parameter(
            metavar="CONDITION",
            help="End with exit code 22 if this is so of the first bot, such as 'rating<-20', 'low<0', "
            "'first-places<45%', 'faults>0', 'p99>200'.",
            show_default=False,
        ),
    ] = None,
    stop_on_fault: Annotated[bool, Parameter(help="End after a game in which a bot fails, with exit code 1.")] = False,
    json_: Annotated[bool, Parameter(help="Print the report as JSON.")] = False,
) -> None:
    """Let bots play many games and rate them.

    Each of your bots is a process of its own. A fault of a bot costs it the game, and the match continues: to end or to
    answer what cannot be read (CRASHED), to take too long (FLAG), to choose what the rules forbid (ILLEGAL_MOVES).
    After 10 faults in a row it is out. Every deal is played in all rotations, and this block is the unit of all
    intervals.

    DIR/games.jsonl has each game that is over, and is all that --resume needs, after a crash as well. DIR/report.txt,
    report.json and report.html (if jinja2 is installed) are made of it in the end. DIR/faults has what failing bots
    printed. Without --out nothing is kept.

    Exit codes: 0 done, or H0 accepted; 1 failed; 2 wrong usage; 20 H1 accepted; 21 the test is undecided; 22 --fail-if;
    130 stopped by Ctrl-C.

    Examples: `referee match --bots mybot:choose,greedy --games 20`, `referee match --game kingdomino --seats 4 --bots
    builder,greedy,random --games 400 --out spring`
    """
    sys.path.insert(0, str(Path.cwd()))
    try:
        condition = None if fail_if is None else report.Condition.parse(fail_if)
        if folder.replay is not None:
            _replay(folder.out or folder.resume, folder.replay)
            return
        if folder.out is not None and folder.resume is not None:
            raise Failure("where? expected either --out DIR for a new match or --resume DIR", EXIT_USAGE)
        begin = Journal.passing if folder.out is None else partial(Journal.create, folder.out)
        if folder.resume is not None:
            _check_nothing_else(given)
            opened: Any = Journal.resume(folder.resume)
        elif folder.merge:
            _check_nothing_else(given)
            config, over = merged(folder.merge)
            opened = begin(config.to_json(), over)
        else:
            limits = Limits(
                _seconds("move-time", allowed.move_time),
                _seconds("game-time", allowed.game_time),
                _seconds("start-time", allowed.start_time),
                allowed.memory,
            )
            test = None if played.sprt is None else Sprt.parse(played.sprt)
            if Logs.parse(folder.logs).sample != 0 and folder.out is None:
                raise Failure(f"--logs {folder.logs}: without a folder nothing is kept; expected --out DIR", EXIT_USAGE)
            what = Match(played.game, _names(played.bots, played.game), played.seed, limits, allowed.in_process)
            part = bulk.shard_of(folder.shard)
            config = _checked(
                Config(
                    what, played.seats, played.games, played.schedule, test, folder.logs, _version(played.game), part
                )
            )
            _check_anchor(config, anchor)
            opened = begin(config.to_json())
        with opened as journal, ExitStack() as stack:
            if condition is not None:
                _check_condition(journal, condition)
            kept = folder.out or folder.resume
            place = stack.enter_context(dask(folder.on)) if folder.on else None
            done = _run(
                journal,
                processes,
                anchor,
                kept,
                place,
                is_resumed=folder.resume is not None,
                stop_on_fault=stop_on_fault,
            )
    except UnknownRules as error:
        raise _no_rules(error) from None
    except (InputError, UnknownBot, BadOption) as error:
        raise Failure(str(error), EXIT_USAGE) from None
    except (JournalError, LogError, WorkerDied, BulkError) as error:
        raise Failure(str(error), EXIT_FAILED) from None
    output.write(json.dumps(as_json(done)) + "\n" if json_ else report.text(done))
    if condition is not None and condition.holds(done):
        raise Failure(f"--fail-if {condition.text}: it is so", EXIT_FAIL_IF)
    if done.config.sprt is not None and done.course.verdict is not Verdict.H0:
        raise Exit(EXIT_H1 if done.course.verdict is Verdict.H1 else EXIT_UNDECIDED)


def _run(
    journal: Journal,
    processes: int | None,
    anchor: str | None,
    folder: Path | None,
    place: Place | None,
    *,
    is_resumed: bool,
    stop_on_fault: bool,
) -> Statistics:
    """Play what is missing, and write the reports to the folder, if the match is kept."""
    config = config_of(journal)
    if place is not None and (config.schedule is Kind.SWISS or config.sprt is not None):
        raise Failure("--on: a Swiss and --sprt need all games before; expected neither", EXIT_USAGE)
    if config.rules_version != (here := _version(config.match.game)):
        found = f"version {config.rules_version} of {config.match.game}"
        raise JournalError(f"{journal.path}: {found}; expected {here}, by which games are played here")
    of_anchor = _check_anchor(config, anchor)
    course = Course(config)
    go_on = f"resume it with: referee match --resume {folder}" if folder else "nothing is kept without --out DIR"
    resumed(course, journal)
    if is_resumed and course.next is not None:
        _probe(config)
    cores = bulk.processors()
    processes = processes or cores
    if processes > cores:
        _say(f"{processes} games at one time, and {cores} processors: times of moves are longer than they need be")
    try:
        with _Shown.of(course) as shown:
            faulty = play(
                course,
                journal,
                processes,
                on_game=shown.game,
                on_look=shown.look,
                stop_on_fault=stop_on_fault,
                place=place,
            )
    except KeyboardInterrupt:
        raise Failure(f"stopped after {len(course.games)} games; {go_on}", 130) from None
    except OSError as error:
        raise Failure(f"{journal.path}: {error.strerror}; {go_on}") from None
    done = statistics(course, of_anchor)
    if folder is not None:
        (folder / "report.txt").write_text(report.text(done), encoding="utf-8")
        (folder / "report.json").write_text(json.dumps(as_json(done), indent=1) + "\n", encoding="utf-8")
        with suppress(ModuleNotFoundError):
            (folder / "report.html").write_text(report.page(done), encoding="utf-8")
    if faulty is not None:
        where = f"game {faulty.task.block}/{faulty.task.rotation}"
        left = "it was the last game" if course.next is None else go_on
        raise Failure(f"a bot failed in {where}{f', see {folder / FAULTS}' if folder else ''}; {left}")
    return done


# --- options -------------------------------------------------------------------------------------------------


def _names(bots: str | None, game: str) -> tuple[str, ...]:
    """Return the bots. Raise ``Failure``, ``UnknownRules``."""
    if bots is None:
        return our_names(game, slow=False)[::-1]
    found = tuple(name for word in bots.split(",") if (name := word.strip()))
    if not found:
        raise Failure("--bots: none; expected names such as builder,greedy", EXIT_USAGE)
    if len(found) > _MOST_BOTS:
        raise Failure(f"--bots: {len(found)}; expected at most {_MOST_BOTS}", EXIT_USAGE)
    return found


def _no_rules(error: UnknownRules) -> Failure:
    return Failure(f"{error}; expected one of {', '.join(registry.names())}", EXIT_USAGE)


def _version(game: str) -> int:
    found: int = registry.get(game).version
    return found


def _checked(config: Config) -> Config:
    """Return the configuration if a match can be played so. Raise ``Failure``, ``UnknownBot``, ``UnknownRules``."""
    what, count = config.match, len(config.match.bots)
    rules = registry.get(what.game)
    if not rules.min_seats <= config.seats <= rules.max_seats:
        raise Failure(f"--seats {config.seats}: {what.game} has {rules.min_seats} to {rules.max_seats}", EXIT_USAGE)
    if count < 2 <= config.seats:
        raise Failure("--bots: one alone; expected at least two, the same one twice if need be", EXIT_USAGE)
    if config.seats == 1 and (config.schedule in (Kind.SWISS, Kind.GAUNTLET) or config.sprt is not None):
        what_else = "--sprt" if config.sprt is not None else f"--schedule {config.schedule}"
        raise Failure(f"{what_else}: with one seat no bot meets another one; expected --seats 2 or more", EXIT_USAGE)
    if config.schedule in (Kind.SWISS, Kind.ROUND_ROBIN) and count < config.seats:
        raise Failure(f"--schedule {config.schedule}: {count} bots; expected at least as many as seats", EXIT_USAGE)
    if config.schedule is Kind.ROUND_ROBIN:
        tables = possible(config.schedule, count, config.seats)
        if tables > _MOST_GROUPS:
            raise Failure(
                f"--schedule round-robin: {tables} tables are possible; expected at most {_MOST_GROUPS}; "
                "--schedule tables has every pair equally often",
                EXIT_USAGE,
            )
        if config.blocks % tables:
            per = tables * config.seats
            raise Failure(
                f"--games {config.games}: a round-robin has {per} games (tables {tables}, rotations {config.seats}); "
                f"expected a multiple, such as {-(-config.games // per) * per}",
                EXIT_USAGE,
            )
    if config.shard.count > 1 and (config.schedule is Kind.SWISS or config.sprt is not None):
        raise Failure("--shard: a Swiss and --sprt need all games before; expected neither", EXIT_USAGE)
    if config.sprt is not None and config.schedule is Kind.SWISS:
        raise Failure("--sprt: a Swiss pairs by the standing; expected another --schedule", EXIT_USAGE)
    _probe(config)
    return config


def _probe(config: Config) -> None:
    """Raise ``UnknownBot`` for a bot that is not there, from where the command is called."""
    for name in dict.fromkeys(config.match.bots):
        probe(name, config.match.game, config.match.limits)


def _check_nothing_else(given: ArgumentCollection) -> None:
    """Raise ``Failure`` for options that the match has from its beginning."""
    for name in options_typed(given):
        if name not in _OF_ANY:
            raise Failure(f"{name}: a match that is there keeps its options; leave this option out", EXIT_USAGE)


def _check_anchor(config: Config, anchor: str | None) -> int | None:
    names = named(config.match.bots)
    if anchor is None:
        return None
    if anchor not in names:
        raise Failure(f"--anchor {printable(anchor)}: no such bot; expected one of {', '.join(names)}", EXIT_USAGE)
    return names.index(anchor)


def _check_condition(journal: Journal, condition: report.Condition) -> None:
    if journal.config["seats"] == 1 and condition.what not in {"points", "faults", "p99"}:
        why = "with one seat no bot meets another one; expected points, faults or p99"
        raise Failure(f"--fail-if {condition.text}: {why}", EXIT_USAGE)


def _seconds(word: str, text: str) -> float:
    found = milliseconds(word, text) / 1000
    if not found:
        raise Failure(f"--{word} {text}: no bot is so fast; expected a longer time", EXIT_USAGE)
    return found


def _replay(folder: Path | None, text: str) -> None:
    if folder is None:
        raise Failure("--replay: of which match? expected --out DIR", EXIT_USAGE)
    block, _, rotation = text.partition("/")
    if not (block.isdecimal() and rotation.isdecimal()):
        raise Failure(f"--replay {printable(text)}: expected BLOCK/ROT, such as 12/1", EXIT_USAGE)
    config_json, games = read(folder)
    config = Config.from_json(config_json)
    wanted = (int(block), int(rotation))
    game: Game | None = next((each for each in games if (each.task.block, each.task.rotation) == wanted), None)
    if game is None:
        raise Failure(f"--replay {text}: the match in {folder} has no such game", EXIT_USAGE)
    names = named(config.match.bots)
    lines = [f"player {seat + 1}: {printable(names[bot])}" for seat, bot in enumerate(game.task.seats)]
    lines += trace(config.match, game, names)
    lines.append(f"{game.ending.words}: scores {list(game.scores)}, places {list(game.places)}")
    keys = Keys(folder)
    path = keep(folder, config.match, game, keys)
    lines.append(f"log: {path} (referee audit {path} --key {folder / VERIFIER})")
    output.write("\n".join(lines) + "\n")


# --- by another word -----------------------------------------------------------------------------------------


def arena(
    *,
    game: Annotated[str, Parameter(help=f"One of {', '.join(registry.names())}.")] = "alhambra",
    games: Annotated[
        int, Parameter(help="Games of each group of bots, rounded up to whole blocks.", validator=Number(gte=1))
    ] = 200,
    bots: Annotated[
        str | None, Parameter(help="Bots, as for `match`.", show_default="all bots of the game but sampler")
    ] = None,
    seats: Annotated[int, Parameter(help="Seats at a table.", validator=Number(gte=1))] = 2,
    seed: Annotated[int, Parameter(help="Seed, as for `match`.", validator=Number(gte=0))] = 1,
    processes: Annotated[
        int | None, Parameter(help="As for `match`.", show_default=False, validator=Number(gte=1))
    ] = None,
    shard: Annotated[str | None, Parameter(show=False)] = None,
    resume: Annotated[Path | None, Parameter(show=False)] = None,
    merge: Annotated[list[Path] | None, Parameter(show=False)] = None,
    on: Annotated[str | None, Parameter(show=False)] = None,
) -> None:
    """Let bots play each other: a way of `referee match`, whose words it prints.

    Every group of bots plays the same number of games, and the first fault of a bot ends the match. Exit codes are
    those of `referee match`.
    """
    try:
        entrants = _names(bots, game) * (seats if bots and "," not in bots else 1)
    except UnknownRules as error:
        raise _no_rules(error) from None
    tables = possible(Kind.TABLES, len(entrants), seats)
    wanted: dict[str, Any] = {
        "game": game, "bots": list(entrants), "games": tables * -(-games // seats) * seats, "seats": seats, "seed": seed
    }  # fmt: skip
    if merge:
        words = [word for each in merge for word in ("--merge", str(each))]
    elif resume is not None and resume.exists():
        _check_terms(resume, wanted)
        words = ["--resume", str(resume), "--stop-on-fault"]
    else:
        every = {**wanted, "bots": ",".join(entrants), "shard": shard, "out": resume}
        words = [word for name, value in every.items() if value is not None for word in (f"--{name}", str(value))]
        words += ["--schedule", "round-robin"] if tables > 1 else []
        words += ["--stop-on-fault"]
    words += [] if processes is None else ["--processes", str(processes)]
    words += [] if on is None else ["--on", on]
    _say(printable(f"arena is a way of match: {shlex.join(['referee', 'match', *words])}"))
    from referee.cli import run  # noqa: PLC0415 - which imports the commands

    run(["match", *words])


def _check_terms(folder: Path, wanted: Mapping[str, Any]) -> None:
    """Raise ``Failure`` if the match in the folder is another one."""
    try:
        found, _ = read(folder)
    except JournalError as error:
        raise Failure(str(error)) from None
    for name, value in wanted.items():
        if found[name] != value:
            what = f"--{name}: the match in {folder} has {found[name]}"
            raise Failure(f"{what}; expected the same, or a new folder", EXIT_USAGE)


# --- while it runs -------------------------------------------------------------------------------------------


def _say(words: str) -> None:
    Console(stderr=True).print(words, highlight=False, markup=False, soft_wrap=True)


class _Shown:
    """The display on standard error: a bar at a terminal, a line now and then elsewhere; and each fault."""

    def __init__(self, course: Course, console: Console, progress: Progress | None) -> None:
        self._course = course
        self._console = console
        self._progress = progress
        self._start_s = self._rated_s = self._line_s = time.monotonic()
        self._before = len(course.games)
        self._evidence = Evidence()
        self._logs: Sequence[float] | None = None
        self._names = named(course.config.match.bots)
        self._out: set[int] = set(course.out)
        for game in course.games:
            self._note(game)
        if progress is not None:
            total = course.config.due
            self._task = progress.add_task("", total=total, completed=self._before, words="")

    @classmethod
    @contextmanager
    def of(cls, course: Course) -> Iterator[_Shown]:
        console = Console(stderr=True)
        if not console.is_terminal:
            yield cls(course, console, None)
            return
        columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[words]}"), TimeRemainingColumn())
        with Progress(*columns, console=console, transient=True) as progress:
            yield cls(course, console, progress)

    def _note(self, game: Game) -> None:
        for placing in placings([game]):
            self._evidence.add(placing)

    def game(self, played: Played) -> None:
        """Take note of a game that counts."""
        self._note(Game.of(played.task, played.outcome))
        for trouble in played.troubles:
            where = f"game {played.task.block}/{played.task.rotation}"
            self._print(f"{where}: {self._names[trouble.bot]}: {trouble.fault.ending.name}: {trouble.fault.why}")
        for bot in self._course.out.keys() - self._out:
            self._out.add(bot)
            self._print(f"{self._names[bot]} is out: 10 faults in a row")

    def _print(self, words: str) -> None:
        self._console.print(printable(words), highlight=False, markup=False, soft_wrap=True)

    def look(self) -> None:
        """Show where the match is, if that is long ago."""
        now = time.monotonic()
        if self._progress is not None:
            if now > self._rated_s + _RATINGS_S:
                self._progress.update(self._task, words=self._words())
            self._progress.update(self._task, completed=len(self._course.games))
        elif now > self._line_s + _LINE_S:
            self._line_s = now
            self._print(f"{len(self._course.games)} of {self._course.config.due} games, {self._words()}")

    def _words(self) -> str:
        now = time.monotonic()
        self._rated_s = now
        pace = (len(self._course.games) - self._before) / max(1e-9, now - self._start_s)
        bots = len(self._names)
        self._logs = strengths(self._evidence, bots, self._logs)
        mean = sum(self._logs) / bots
        best = sorted(range(bots), key=lambda bot: -self._logs[bot])[:_SHOWN]  # type: ignore[index]
        shown = ", ".join(f"{printable(self._names[bot])} {SCALE * (self._logs[bot] - mean):+.0f}" for bot in best)
        more = "" if bots <= _SHOWN else ", …"
        test = "" if self._course.test is None else f"; SPRT {self._course.test.ratio():+.2f}"
        return f"{pace:.1f} games/s: {shown}{more}{test}"
