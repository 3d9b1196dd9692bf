// Positions of Alhambra: docs/alhambra-state.md as a program.

import { Reader, need, needAscending, times } from "./reader.mjs";

export const PHASES = [
  "NEUTRAL_START",
  "MARKET",
  "HAND",
  "FIRST_ROW",
  "ACTION",
  "PLACE",
  "ROW",
  "REFILL",
  "NEUTRAL",
  "HAND_OUT",
  "OVER",
];

const TILES = 54;
const CARDS = 36;
const SLOTS = 4;
const ROUNDS = 3;

/**
 * A position. Tiles and cards by number, card counts as 36 numbers, sets of tiles as ascending numbers; a free slot of the
 * market is null, `aAt` and `bAt` are null while their cards have not come. Throws Malformed.
 */
export function decode(bytes) {
  const read = new Reader(bytes);
  const tiles = (what) => read.bits(what, 8, 0, TILES - 1);
  const cards = (what) => times(CARDS, () => read.u8(what));
  const turned = (what) => {
    const number = read.i16(what, -1);
    return number < 0 ? null : number;
  };
  read.magic(0x41, 0x4c, 0x48, 0x01);
  const seats = read.u8("seats", 2, 6);
  const position = {
    phase: read.phase(PHASES),
    seat: read.u8("seat", 0, seats - 1),
    start: read.u8("start", 0, seats - 1),
    scorings: read.u8("scorings", 0, ROUNDS),
    toScore: read.bits("to score", 1, 1, ROUNDS - 1),
    turns: read.u16("turns"),
    stack: read.u16("stack"),
    turned: read.u16("turned"),
    aAt: turned("A at"),
    bAt: turned("B at"),
    market: times(SLOTS, () => read.orNone("market", 0, TILES - 1)),
    row: cards("row"),
    deck: cards("deck"),
    discards: cards("discards"),
    bag: tiles("bag"),
    bought: tiles("bought"),
    neutral: tiles("neutral"),
    seats: times(seats, () => ({
      hand: cards("hand"),
      score: read.u16("score"),
      reserve: tiles("reserve"),
      won: tiles("won"),
      cells: cells(read),
    })),
  };
  read.end();
  return position;
}

/** An Alhambra without its fountain: { x, y, tile }, by x, then y. */
function cells(read) {
  const count = read.u8("tiles", 0, TILES);
  const found = times(count, () => ({ x: read.i8("x"), y: read.i8("y"), tile: read.u8("tile", 0, TILES - 1) }));
  needAscending("cells", found, (a, b) => a.x - b.x || a.y - b.y);
  need(new Set(found.map(({ tile }) => tile)).size === count, "cells: a tile twice");
  return found;
}
