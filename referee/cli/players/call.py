"""``referee call``: a seat, a scribe or the organiser wants an arbiter at a game."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from referee.cli.players.seat_acts import Joined
from referee.cli.shared.acting import called, composed
from referee.cli.shared.failure import EXIT_USAGE, Failure
from referee.cli.shared.finding import whole_id
from referee.server.live.calls import TEXT_EXPECTED, is_text
from referee.v1 import arbiter_service_pb2 as pb
from referee_clients.sdk.arbiter import arbiter
from referee_clients.status import call_words


def _call(
    text: Annotated[
        str,
        typer.Argument(metavar="TEXT", help="Why you call, on one line of at most 200 characters.", show_default=False),
    ],
) -> str:
    """Call an arbiter to a game, as its seat, its scribe or the organiser. The clocks go on.

    The call is not in the log. The arbiters see it at `referee arbiter`, in `referee docket` and in `referee status`
    until one of them answers it; a referee that is started again has forgotten it. Anyone who reads the docket can read
    the text. You can have one open call in a game.

    Exit codes: 0 the arbiters see the call; 1 the referee cannot be reached or refuses; 2 wrong usage.

    Example: `referee call @blue.join "the line of dominoes is wrong"`
    """
    return text


def _run(words: Joined, own: dict[str, Any]) -> None:
    text = own["text"]
    if not is_text(text):
        raise Failure(f"TEXT: a referee does not take this text; expected {TEXT_EXPECTED}", EXIT_USAGE)
    words, token, _ = words.admitted()
    secured = words.secured(token)
    game = whole_id(words.server, secured, words.game)

    async def ask() -> pb.Call:
        async with arbiter(words.server, game, token, secured) as calls:
            return await calls.call(text)

    found = called(words.server, ask)
    print(call_words(found))
    print("the arbiters see this until one of them answers it; `referee docket` shows whether it is still open")


call = composed(Joined, _call, _run)
