"""What the desk says of itself: its help, and what can be typed beside results and names, each with its line."""

from __future__ import annotations

from typing import Final

from referee_clients.terminal.desk.offers import Offer

HELP: Final = """\
The desk of an event

What you type stands in the line at the bottom. Below it you see what Enter
will do, or why that is not possible. What is refused stays in the line.

F2  Players. Type a name or a number: Enter checks the player in; Enter again
    notes that the player left, and once more that the player is back.
    Up and Down choose. A new player:       enter Anna
F3  Tables. The table, and places by seat:  4 2,1,3,3
    or points of the game:                  4 scores 41,38,52,12
    Seats that forfeited:                   4 2,1,3 forfeited 2
    A player who never came has place 0. The code on a slip can be scanned.
    Another result amends the first:        4 1,2,3,3 because misread
    Of an earlier round:                    round 1 table 4 1,2,3,3 because …
F4  Standings.
F5  Shows the next pairing with its reasons, before anything is entered.
    By hand:                    pair 1,4,2,7; 3,5,6 because they share a car
F6  Publishes the pairing.
F7  Everything else: late entries, absences, rulings, the end.

Tab completes a name. After each act the file is whole. While this desk is
open, no other desk or command can enter anything in this file."""

OFFERS: Final = (
    Offer("A player enters, late if round 1 is paired", "enter "),
    Offer("Everybody who is not there yet checks in", "checkin all"),
    Offer("A player leaves", "withdraw "),
    Offer("A player who left is back", "readmit "),
    Offer("A player misses the next round, or the round you name", "absent "),
    Offer("Two players should not meet; before round 1", "forbid "),
    Offer("Two players never meet; before round 1", "never "),
    Offer("All rounds that are left are planned, so that nobody meets twice", "plan"),
    Offer("The pairing is made again: a ruling; its results are gone", "reopen because "),
    Offer("You pair by hand: tables in the order of seats", "pair "),
    Offer("A table does not count: a ruling", "void "),
    Offer("A player is given points for a round: a ruling", "award "),
    Offer("A player is put out: a ruling", "expel "),
    Offer("Entries are closed and lots are drawn, before round 1", "draw"),
    Offer("The event is over, and the standings are final", "close"),
    Offer("The event ends here, though rounds are left", "abandon because "),
)
