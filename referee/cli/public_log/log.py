"""``referee log``: a public log. Its commands are in modules ``log_*``."""

from __future__ import annotations

import typer

from referee.cli.public_log import log_check, log_recover, log_watch

log = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown")


@log.callback()
def _log() -> None:
    """Watch, check and look after a public log: the heads of all games of a referee, which witnesses cosign.

    `docs/public-log.md` says what a log is for and how a club runs one.
    """


for _commands in (log_watch.COMMANDS, log_check.COMMANDS, log_recover.COMMANDS):
    for _name, _command in _commands.items():
        log.command(_name)(_command)
