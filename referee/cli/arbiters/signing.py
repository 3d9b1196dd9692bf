"""``referee rule sign``: an arbiter signs a ruling that was prepared elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from referee.cli.shared.acting import Admitted, ArbiterKey, Yes, called, composed, confirm, signer
from referee.cli.shared.failure import EXIT_USAGE, Failure
from referee.log.entry import decode_entry
from referee.log.events import Act, KeyChanged, Ruled
from referee.telling.words import act_words, quoted
from referee_clients.rulings import MOST_BYTES, Look, NotPrepared, Prepared, check_signed, look_at, told
from referee_clients.sdk.arbiter import arbiter


@dataclass(frozen=True, kw_only=True, slots=True)
class _Words(Admitted):
    """What it takes to sign a ruling in a file."""

    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="The ruling, as the page /desk saves it.", show_default=False)
    ]
    key: ArbiterKey
    yes: Yes = False


def _sign() -> None:
    """Sign a ruling that was prepared on the page /desk, and enter it: `referee rule --sign FILE` does the same.

    The command shows what the bytes say that it is going to sign; nothing else in the file counts. A ruling is for one
    place in the game: if the game went on meanwhile, nothing is signed, and the ruling has to be prepared again. Pause
    the game first if it goes on while you rule.

    Exit codes: 0 entered; 1 not allowed now, the game went on, the referee cannot be reached or refuses, or you did not
    confirm; 2 wrong usage, or not the file of a ruling.

    Example: `referee rule sign ruling.json --key arbiter.pem --token-file arbiter.token`
    """


def _sign_file(words: _Words, _: dict[str, Any]) -> None:
    prepared = _read(words.file)
    game = prepared.place.game_id.hex()
    token = words.token()
    secured = words.secured(token)

    async def run() -> None:
        async with arbiter(words.server, game, token, secured) as calls:
            look = await look_at(calls)
            _check_place(prepared, look)
            signed = prepared.signed(signer(look.record, prepared.author, words.key))
            said = check_signed(look.record, signed)
            first, *about = told(look, said) if isinstance(said, Ruled) else [key_told(said)]
            reason = [f"reason: {quoted(prepared.words.text)}"] if prepared.words is not None else []
            confirm([f"game {game}", first, *reason, *about], sure=words.yes)
            print(f"entered as entry {(await calls.submit(signed, prepared.words)).seq}")

    called(words.server, run)


def key_told(said: Act) -> str:
    """Return in words that an arbiter changes a key."""
    assert isinstance(said, KeyChanged)  # noqa: S101 - what was asked about
    return f"{said.author}: {act_words(said)}"


def _read(path: Path) -> Prepared:
    try:
        with path.open("rb") as file:
            return Prepared.read(file.read(MOST_BYTES + 1))
    except OSError as error:
        raise Failure(f"{path}: {error.strerror}", EXIT_USAGE) from None
    except NotPrepared as error:
        raise Failure(f"{path}: nothing was signed: {error}", EXIT_USAGE) from None


def _check_place(prepared: Prepared, look: Look) -> None:
    """Raise ``Failure`` unless the ruling is for the game as it is now."""
    place, now = prepared.place, look.record.place
    if place == now:
        return
    if place.seq < now.seq:
        if decode_entry(look.entries[place.seq]).signed.intent == prepared.body:
            raise Failure(f"nothing was sent: this ruling is entry {place.seq} of the game already")
        went = f"the game went on, to entry {now.seq - 1}"
    else:
        went = "the game has another history" if place.seq == now.seq else f"the game has only {now.seq} entries"
    raise Failure(
        f"nothing was signed: the ruling is for entry {place.seq}, and {went}; expected it prepared again, after a "
        "pause if the game goes on meanwhile"
    )


sign = composed(_Words, _sign, _sign_file)
