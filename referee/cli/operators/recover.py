"""``referee recover``: games that the referee cannot continue."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from referee.cli.shared.failure import EXIT_FAILED, EXIT_USAGE, Exit, Failure
from referee.cli.shared.remote_games import check_id, the_one
from referee.log.engines import installed
from referee.log.intent import parse_game_id
from referee.server.live import recovery, restoration
from referee.server.live.context import Context
from referee.server.service import logs
from referee.server.service.data import Data, DataError, no_upgrade, open_data, origin_of, take_marks
from referee.server.service.files import CLUSTER_MARK_FILE, STORE_ADDRESS_FILE, STORE_FILE
from referee.server.store.store import StoreFailed, Upgrade
from referee.text.notation.outcomes import counted
from referee.text.notation.times import moment_utc


def recover(
    games: Annotated[
        list[str] | None,
        Parameter(name="GAME", help="A game's id, or its first 8 or more digits. Without it, list the games."),
    ] = None,
    /,
    *,
    data: Annotated[Path, Parameter(metavar="DIR", help="The referee's data directory.")] = Path("referee-data"),
    copy: Annotated[
        Path | None,
        Parameter(
            name="--from",
            metavar="FILE",
            help="Restore what is lost or damaged from this game file.",
            show_default=False,
        ),
    ] = None,
    go_on: Annotated[
        bool, Parameter(name="--continue", help="Continue without the lost entries; a new entry says so.")
    ] = False,
    end: Annotated[bool, Parameter(help="End the game without the lost entries, through the referee's fault.")] = False,
    give_up: Annotated[bool, Parameter(help="Give up a game that cannot be saved otherwise.")] = False,
    accept_rollback: Annotated[
        bool,
        Parameter(
            help="Let one of several referees use a database that went back, after a look at what it lacks.",
        ),
    ] = False,
    marks: Annotated[
        list[Path] | None,
        Parameter(
            metavar="FILE",
            help="As `referee serve` takes it. Repeat it with copies of the marks of other nodes: what they know of is "
            "missed as well, from then on.",
            show_default=False,
        ),
    ] = None,
    seal_key: Annotated[
        Path | None, Parameter(metavar="FILE", help="As `referee serve` takes it.", show_default=False)
    ] = None,
    new_marks: Annotated[
        bool,
        Parameter(
            help="Rebuild the lost marks file from the database. Nothing shows which entries the database lacks, so "
            "every open game is in doubt.",
        ),
    ] = False,
    new_seal: Annotated[
        bool,
        Parameter(
            help="Make a new seal key in place of the lost one. Dealt games in play can then only be "
            "ended (--end) without disclosing their decks; the others continue.",
        ),
    ] = False,
) -> None:
    """List the games that a stopped referee cannot continue, why, and what you can decide; or repair these games.

    Games that are over are read, too, and listed if they are damaged.

    A referee keeps the newest head that it signed for every game apart from its database. If the database is rolled
    back, to a backup for example, entries are missing for which players hold receipts. The best repair is `--from` with
    a player's copy, or one that `referee fetch` made: nothing is lost. With `--continue` the log says how many entries
    are lost, and anyone who has a receipt for them can show it: an audit with that receipt says LOSS.

    After `referee restore`, or when the marks are lost as well (`--new-marks`), every open game is in doubt: which
    entries it lacks is not known. Then `--continue` and `--end` without a game decide about all of them. `--continue`
    leaves out games whose players may have seen draws that would come again; name such games to continue them all the
    same.

    A database of an earlier program is only listed by that program; a repair copies it first, then upgrades it.

    Exit codes: 0 done, or no such games; 1 there are such games, or the repair failed; 2 wrong usage.

    Examples: `referee recover`, `referee recover 0197a1cb1db4c9da428632ae52ec26d7 --from alice.gamelog`
    """
    chosen = [copy is not None, go_on, end, give_up].count(True)
    for_all = not games and (go_on or end)
    _check_words(games or [], {"--from": copy is not None, "--continue": go_on, "--end": end, "--give-up": give_up})
    if not ((data / STORE_FILE).exists() or (data / STORE_ADDRESS_FILE).exists()):
        raise Failure(f"{data / STORE_FILE}: No such file; expected --data with a referee's directory")
    logs.configure("text", "critical")  # the command prints what would be logged
    try:
        opened = open_data(
            data,
            origin_of(data, None),
            marks=marks[0] if marks else None,
            seal_key=seal_key,
            new_marks=new_marks,
            new_seal=new_seal,
            alone=True,
            on_upgrade=_say if chosen or new_marks or new_seal else no_upgrade,
        )
    except DataError as error:
        raise Failure(str(error)) from None
    if new_marks:
        print(f"{opened.marks_path}: rebuilt; only the lost marks knew whether the database lacks signed entries")
    if new_seal:
        print(f"{opened.seal_path}: made; secrets sealed with the old key can no longer be opened")

    _heed_rollback(opened, accept=accept_rollback)
    for path in (marks or [])[1:]:
        try:
            newer = take_marks(opened, path)
        except DataError as error:
            raise Failure(f"--marks {error}") from None
        found = f"newer heads of {'one game' if newer == 1 else f'{newer} games'}" if newer else "nothing newer"
        print(f"{path}: knows {found}")

    lines = list[str]()

    async def run() -> bool:
        context = Context(opened.store, opened.signer, installed(), time=opened.time)
        try:
            if for_all:
                return await _decide(context, data, lines, end=end)
            if not games:
                return await _look(context, data, lines)
            # Every game has a mark, also one that the database has lost.
            known = [identity.hex() for identity in opened.store.marks.all()]
            like = {game: [each for each in known if each.startswith(game)] for game in games}
            meant = [game if parse_game_id(game) else the_one(game, like[game]) for game in games]
            for game in meant:
                try:
                    lines.extend(await _recover(context, bytes.fromhex(game), copy, end=end, give_up=give_up))
                except recovery.CannotRecover as error:
                    print("".join(f"{line}\n" for line in lines), end="")
                    raise Failure(f"game {game}: {error}") from None
            return False
        finally:
            await opened.close()

    try:
        is_left = asyncio.run(run())
    except StoreFailed as error:
        raise Failure(str(error)) from None
    except OSError as error:
        raise Failure(f"{copy}: {error.strerror}") from None
    print("\n".join(lines) or "every game can continue")
    if is_left:
        raise Exit(EXIT_FAILED)


def _heed_rollback(opened: Data, *, accept: bool) -> None:
    """Say in what way the database of several referees went back; if that is accepted, open games are in doubt.

    This directory may not know that it went back: its machine is new, or was off when the lost entries were written.
    """
    shared: Any = opened.store
    went_back: str = getattr(shared, "went_back", "")
    if accept and getattr(shared, "organiser", None) is None:
        what = "is for several referees on one PostgreSQL database, and this one is alone"
        raise Failure(f"--accept-rollback {what}; expected referee restore, or --new-marks if the marks are lost")
    mark = opened.path / CLUSTER_MARK_FILE
    if went_back:
        print(went_back if not accept else f"{opened.path}: continues with the database as it is")
    try:
        if accept and (done_ms := shared.doubt_all()):
            print(f"every open game was put in doubt at {moment_utc(done_ms)}, and is not again now")
            print("if the database was put back once more after that, repeat this command")
        if accept:
            mark.unlink(missing_ok=True)
    except (OSError, StoreFailed) as error:
        raise Failure(str(error)) from None


async def _look(context: Context, data: Path, lines: list[str]) -> bool:
    """Add a line for each game that cannot continue or is in doubt; return whether there are any."""
    doubts = await recovery.in_doubt(context)
    unsound, ways = await _unsound(context)
    lines += [*unsound, *in_doubt_words(doubts, data, ways)]
    return bool(lines)


async def _unsound(context: Context) -> tuple[list[str], set[recovery.Way]]:
    """Return the games that cannot continue, in words, and all decisions that are possible about one of them."""
    lines, possible = list[str](), set[recovery.Way]()
    for error in sorted(await recovery.find(context), key=lambda error: error.game_id):
        ways = await recovery.ways(context, error.game_id)
        possible |= {*ways}
        lines.append(f"{error}; expected {_either(ways)}")
    return lines, possible


def _either(ways: Sequence[recovery.Way]) -> str:
    *others, last = ways
    return f"{', '.join(others)} or {last}" if others else last


def _check_words(games: Sequence[str], ways: Mapping[str, bool]) -> None:
    """Raise ``Failure`` unless there are games and one way, or no game and --continue, --end or nothing."""
    chosen = [way for way, is_chosen in ways.items() if is_chosen]
    if len(chosen) > 1:
        raise Failure(f"{' and '.join(chosen)}: a game is decided about in one way; choose one of them", EXIT_USAGE)
    if games and not chosen:
        raise Failure(f"how is {games[0]} decided about? expected one of {', '.join(ways)}", EXIT_USAGE)
    if not games and chosen and chosen[0] in {"--from", "--give-up"}:
        raise Failure(f"{chosen[0]} is for one game; expected GAME, and recover alone lists them", EXIT_USAGE)
    if len(games) > 1 and chosen[0] == "--from":
        raise Failure("--from FILE: a file is of one game; expected one GAME with it", EXIT_USAGE)
    for game in games:
        check_id(game)


def _say(upgrade: Upgrade) -> None:
    kept = f"kept as {upgrade.copy} and " if upgrade.copy is not None else ""
    print(f"{upgrade.path}: of an earlier program; {kept}brought up to date")


async def _decide(context: Context, data: Path, lines: list[str], *, end: bool) -> bool:
    """Decide about all games in doubt, but those that may only be continued by name. Return whether games are left."""
    left = list[recovery.Doubt]()
    for doubt in await recovery.in_doubt(context):
        if doubt.shows_more and not end:
            left.append(doubt)
            continue
        try:
            lines += decided(doubt.game_id, await recovery.go_on(context, doubt.game_id, end=end), "")
        except recovery.CannotRecover as error:
            lines.append(f"game {doubt.game_id.hex()}: {error}")
    unsound, ways = await _unsound(context)
    if not lines and not left:
        lines.append("no game is in doubt")
    if unsound:
        lines += ["these games lack signed entries, or are damaged: name each of them", *unsound]
    lines += in_doubt_words(left, data, ways)
    return bool(left or unsound)


_MEANINGS = {
    recovery.Way.RESTORE: ("--from FILE", "takes what is lost from a player's file"),
    recovery.Way.END: ("--end", "ends it through the referee's fault"),
    recovery.Way.CONTINUE: ("--continue", "continues, and the log says that entries may be lost"),
    recovery.Way.GIVE_UP: ("--give-up", "gives it up: the referee has it no more"),
}


def in_doubt_words(doubts: Sequence[recovery.Doubt], data: Path, ways: Iterable[recovery.Way] = ()) -> Iterator[str]:
    """Yield a line for each game in doubt, and what can be done. ``ways``: for games that were named before these."""
    for doubt in doubts:
        when = moment_utc(doubt.copied_ms)
        deck = " and a deck" if doubt.shows_more else ""
        kind = f"{doubt.rules_id} with {counted(doubt.seats, 'seat')}{deck}" if doubt.seats else "a tournament"
        what = f"{kind}, {counted(doubt.size, 'entry', 'entries')}"
        less = "" if recovery.Way.CONTINUE in doubt.ways else f"; expected {_either(doubt.ways)}"
        yield f"game {doubt.game_id.hex()}: in doubt: {what}; it may lack entries that were signed after {when}{less}"
    possible = {*ways, *(way for doubt in doubts for way in doubt.ways)}
    if possible:
        for_all = "; --end and --continue without GAME are for all that are in doubt" if doubts else ""
        yield f"decide about each{for_all}:"
    for way, (option, meaning) in _MEANINGS.items():
        if way in possible:
            yield f"  referee recover GAME {option:<11} --data {data}   {meaning}"
    with_deck = [doubt for doubt in doubts if doubt.shows_more and recovery.Way.CONTINUE in doubt.ways]
    if with_deck:
        yield "--continue without GAME leaves out games with a deck: their players may have seen what is drawn next"
        yield "to continue these all the same, name them:"
        yield f"  referee recover {' '.join(doubt.game_id.hex() for doubt in with_deck)} --continue --data {data}"


def decided(game_id: bytes, done: recovery.Recovered, what: str) -> list[str]:
    """Return the decision about a game, in words. ``what``: an earlier event, if there was one."""
    said = f"the log says that entries signed after {moment_utc(done.copied_ms)} may be lost" if done.copied_ms else ""
    state = "can continue"
    if done.ended:
        is_stuck = bool(what and done.copied_ms and done.entries)
        lost = "the secret that it deals from is lost, so audits say UNDISCLOSED"
        state = f"was ended through the referee's fault: {lost}" if is_stuck else "is over"
    parts = [what or ("ended" if done.ended else "continues"), *([said] if said else [])]
    lines = [f"game {game_id.hex()}: {'; '.join(parts)}", f"it has {done.size} entries and {state}"]
    lines += [f"a new token for {whose}: {token}" for whose, token in done.tokens]
    if done.tokens:
        where = f"ADDRESS:PORT/{game_id.hex()}/SEAT#TOKEN"
        lines.append(f"a seat's join string is {where}; its player continues with the same key file")
    return lines


async def _recover(context: Context, game_id: bytes, copy: Path | None, *, end: bool, give_up: bool) -> list[str]:
    """Return what was done, in words."""
    if give_up:
        mark = await recovery.give_up(context, game_id)
        return [f"game {game_id.hex()}: given up; the signed head of {mark.size} entries is on record as lost"]
    if copy is not None:
        with copy.open("rb") as stream:
            done = await restoration.restore(context, game_id, stream)
        what = f"{entries_words(done.entries)} restored"
        return decided(game_id, done, what if done.copied_ms else f"{what}: nothing is lost")
    done = await recovery.go_on(context, game_id, end=end)
    begins = "ended" if done.ended else "continues"
    what = f"{begins} without {entries_words(done.entries)} that the referee had signed; the log says so"
    if done.copied_ms and not done.entries:
        return decided(game_id, done, begins)
    if not done.entries:
        whole = "with all its entries; its deck is not disclosed"
        what = f"ended through the referee's fault, {whole}" if end else "continues: its log declares what is lost"
    return decided(game_id, replace(done, copied_ms=0), what)


def entries_words(count: int) -> str:
    return "one entry" if count == 1 else f"{count} entries"
