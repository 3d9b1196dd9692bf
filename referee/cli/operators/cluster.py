"""``referee cluster``: several referees on one PostgreSQL database."""

from __future__ import annotations

import json
from pathlib import Path
from time import monotonic, sleep
from typing import Annotated, Any

from cyclopts import Parameter
from cyclopts.validators import Number
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from referee.cli.shared.commands import group
from referee.cli.shared.failure import EXIT_FAILED, EXIT_USAGE, Exit, Failure
from referee.console import printable
from referee.server.service.data import DataError, cluster_module, found_cluster, replace_organiser, store_address
from referee.server.service.files import CLUSTER_MARK_FILE, check_address
from referee.server.store.store import StoreFailed

_LOOK_S = 0.2
_LATE_MS = 3_000

cluster = group(
    "cluster",
    """Run several referees on one PostgreSQL database: each has some of the games.

    Exit codes: 0 done; 1 the database cannot be reached or used, or refuses; 2 wrong usage.
    """,
)
Directory = Annotated[Path, Parameter(name="--data", metavar="DIR", help="The data directory of a referee.")]
_DATA = Path("referee-data")
Address = Annotated[
    str | None,
    Parameter(
        name="--store", metavar="ADDRESS", help="The database, if it is not the one that DIR names.", show_default=False
    ),
]
AsJson = Annotated[bool, Parameter(name="--json", help="Print JSON.")]


@cluster.command
def init(*, data: Directory = _DATA, store: Address = None) -> None:
    """Let several referees run on the database of a stopped referee.

    From then on each referee that is started on it takes its part, if it has the same signing key and seal key. There
    is one organiser's token, that in DIR: a referee with another one is refused, and one without needs none. To have
    a new one see `referee cluster token`.

    Example: `referee cluster init --data club`
    """
    try:
        if store is not None:
            check_address(store)
        found_cluster(data, store)
    except ValueError as error:
        raise Failure(f"--store: {error}", EXIT_USAGE) from None
    except DataError as error:
        raise Failure(str(error)) from None
    print(f"{data}: its database takes several referees now")


@cluster.command
def token(*, data: Directory = _DATA, store: Address = None) -> None:
    """Make a new organiser's token in DIR, such as when the machine that had it is lost. Referees keep running.

    DIR is the directory of any referee of the cluster that has no such token. The token before is void at once: remove
    its file at another machine before its referee starts again.

    Example: `referee cluster token --data club`
    """
    try:
        if store is not None:
            check_address(store)
        file = replace_organiser(data, store)
    except ValueError as error:
        raise Failure(f"--store: {error}", EXIT_USAGE) from None
    except DataError as error:
        raise Failure(str(error)) from None
    print(f"organiser's token in {file}; the one before is void")


@cluster.command
def status(*, data: Directory = _DATA, store: Address = None, as_json: AsJson = False) -> None:
    """Show the referees that run, how many games each has, and the standby of the database.

    Exit code 1 as well if a game that is not over has no referee, or no referee has given a sign of life for 3 s.

    Example: `referee cluster status --data club`
    """
    found = _asked("state", _address(data, store))
    if as_json:
        print(json.dumps(_plain(found)))
    else:
        _show(found)
    is_late = all(node.silent_ms > _LATE_MS for node in found.nodes)
    if found.games_without_node or is_late:
        raise Exit(EXIT_FAILED)


@cluster.command
def drain(
    node: Annotated[
        int, Parameter(name="NODE", help="Its number in `referee cluster status`.", validator=Number(gte=1))
    ],
    /,
    *,
    data: Directory = _DATA,
    store: Address = None,
) -> None:
    """Have a referee hand its games over to the others, one by one, and wait until it has none.

    Streams of players end and begin anew with the other referee. Games that are opened meanwhile are handed over, too.
    Stop the referee then; one that is started again takes games as before. Ctrl-C ends the wait, not the handing over.

    Example: `referee cluster drain 3 --data club`
    """
    address = _address(data, store)
    _asked("drain", address, node)
    console, last, begun_s = Console(stderr=True), -1, monotonic()
    while (left := _left(_asked("state", address), node)) is not None and left:
        if left != last:
            console.print(f"{monotonic() - begun_s:6.1f} s  games left: {left}", highlight=False)
            last = left
        sleep(_LOOK_S)
    print(f"node {node} has no games" if left is not None else f"node {node} has stopped")


@cluster.command
def waive_standby(*, data: Directory = _DATA, store: Address = None) -> None:
    """Have referees with `--require-standby` continue without a standby, such as after the loss of the primary.

    They continue at once, without a restart. When a standby streams again for which commits wait, they require one
    again without a further command. The same holds if another server is promoted. Until then an act that is
    acknowledged is lost with the disk of the database. Refused if the database lacks something that the referee of DIR
    knows, if a standby streams, or if another server of the address takes writes, too.

    Example: `referee cluster waive-standby --data club`
    """
    names = _asked("waive", _address(data, store), data / CLUSTER_MARK_FILE)
    print(
        "referees continue without a standby, until one streams: acknowledged entries are lost with the database's disk"
    )
    if names:
        # A name could have a quote in it; nothing is run.
        print(f"PostgreSQL itself waits: synchronous_standby_names is {printable(names)}. As its administrator run:")
        print('  psql -c "ALTER SYSTEM SET synchronous_standby_names = \'\'" -c "SELECT pg_reload_conf()"')
        print("When a standby is back, set it again in the same way: as long as it is empty, no standby is required.")


def _left(found: Any, node: int) -> int | None:
    return next((each.games for each in found.nodes if each.id == node), None)


def _address(data: Path, store: str | None) -> str:
    try:
        if store is not None:
            check_address(store)
            return store
        address = store_address(data)
    except ValueError as error:
        raise Failure(f"--store: {error}", EXIT_USAGE) from None
    except (DataError, OSError) as error:
        raise Failure(str(error)) from None
    if address is None:
        raise Failure(f"{data}: no database is named there; expected --data with a referee's directory, or --store")
    return address


def _asked(what: str, *arguments: Any) -> Any:
    try:
        return getattr(cluster_module(), what)(*arguments)
    except (DataError, StoreFailed) as error:
        raise Failure(str(error)) from None


def _plain(found: Any) -> dict[str, Any]:
    parts = {"nodes": found.nodes, "standbys": found.standbys}
    return {**found._asdict(), **{name: [each._asdict() for each in part] for name, part in parts.items()}}


def _show(found: Any) -> None:
    console = Console()
    say = console.out
    say(f"games are signed by {printable(found.verifier)}", highlight=False)
    if not found.is_cluster:
        say("one referee at a time; for several see referee cluster init", highlight=False)
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for name, justify in (("node", "right"), ("games", "right"), ("sign of life", "right"), ("address", "left")):
        table.add_column(name, justify=justify, no_wrap=True)  # type: ignore[arg-type]
    table.add_column("machine", overflow="fold")
    for node in found.nodes:
        notes = [f"{node.silent_ms / 1000:.1f} s ago"]
        notes += ["draining"] if node.draining else []
        notes += [] if node.is_connected else ["not connected"]
        where = printable(node.address) or "does not serve yet"
        table.add_row(str(node.id), str(node.games), ", ".join(notes), where, printable(node.name))
    console.print(table if found.nodes else "no referee is running", highlight=False)
    if found.games_without_node:
        say(f"games without a referee: {found.games_without_node}", highlight=False)
    if found.standby_waived:
        say("standby: waived until one streams, by referee cluster waive-standby", highlight=False)
    if not found.standby_names:
        say("standby: none; acknowledged entries are lost with the database's disk", highlight=False)
        return
    say(f"standby: commits wait for {printable(found.standby_names)}", highlight=False)
    for each in found.standbys:
        how = ", ".join(printable(part) for part in (each.state, each.sync) if part)
        how = how or "connected; the role pg_monitor sees more"
        say(f"  {printable(each.name) or 'standby'}: {how}", highlight=False)
    if not found.standbys:
        say("  none is connected: every act waits", highlight=False)
