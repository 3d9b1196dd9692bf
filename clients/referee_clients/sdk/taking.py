"""Taking a seat: what a seat owes a game before play, and whether its key plays it. Knows no network and no bot."""

from __future__ import annotations

from referee.log import deck, intent
from referee.log.game import Phase
from referee.log.intent import Author, Role, SignedIntent
from referee.log.keys import PrivateKey, PublicKey
from referee.log.replay import Record
from referee_clients.sdk.errors import Denied


def owed(record: Record, seat: int, key: PrivateKey) -> SignedIntent | None:
    """Return the Join or the Reveal that the game waits for from this seat; None if it waits for neither."""
    game = record.game
    if seat not in game.missing():
        return None
    seed = deck.own_seed(key, record.game_id)
    if game.phase is Phase.JOINING:
        return intent.join(record.place, seat, key, seed if game.deal.is_dealt else None)
    return intent.reveal(record.place, seat, key, seed)


def check_seat(record: Record, seat: int, key: PublicKey) -> None:
    """Raise ``Denied`` if the seat is not there to be taken, or another key plays it."""
    if seat >= len(record.opened.seats) or record.opened.seats[seat].scribed:
        raise Denied(f"seat {seat} cannot be taken: the game does not have it, or a scribe enters its moves")
    author = Author(Role.SEAT, seat)
    if seat in record.game.joins and (misfit := record.keyring.misfit(author, key)):
        newest = record.keyring.keys_of(author)[-1].raw.hex()
        raise Denied(f"{misfit}; expected the private key of {newest[:16]}…")
