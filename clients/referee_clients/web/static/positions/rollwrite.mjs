// Positions of Alhambra Roll & Write: docs/rollwrite-state.md as a program.

import { Reader, need, needAscending, times } from "./reader.mjs";

export const PHASES = [
  "START_SEAT",
  "START_BUILDINGS",
  "VIRTUAL_START",
  "START_DICE",
  "ACTION",
  "SECOND",
  "DICE",
  "KEEP",
  "VIRTUAL",
  "OVER",
];

const CELLS = 36;
const FACES = 6;
const TYPES = 6;
const PLAYERS = 5;
const ROUNDS = 18;

/**
 * A position. Buildings are ascending numbers of cells, sets of players ascending numbers, `first` is { blue, yellow } or
 * null, `virtual` has the buildings by type of each virtual player. Throws Malformed.
 */
export function decode(bytes) {
  const read = new Reader(bytes);
  read.magic(0x52, 0x4e, 0x57, 0x01);
  const seats = read.u8("seats", 1, PLAYERS);
  const position = {
    phase: read.phase(PHASES),
    seat: read.u8("seat", 0, seats - 1),
    start: read.u8("start", 0, seats - 1),
    round: read.u8("round", 0, ROUNDS),
    turns: read.u16("turns"),
    changed: read.u8("changed", 0, 1) === 1,
    first: first(read),
    toRoll: read.u8("to roll", 0, 2),
    player: read.u8("player", 0, PLAYERS - 2),
    seats: times(seats, () => sheet(read)),
  };
  const virtual = read.u8("virtual players", 0, PLAYERS - seats);
  need(position.player < Math.max(virtual, 1), "player: no virtual player");
  position.virtual = times(virtual, () => times(TYPES, () => read.u8("virtual", 0, CELLS)));
  position.awards = times(read.u8("awards"), () => ({
    type: read.u8("type", 0, TYPES - 1),
    round: read.u8("round", 0, ROUNDS),
    seats: read.bits("seats", 1, 0, seats - 1),
    virtual: read.bits("virtual", 1, 0, virtual - 1),
  }));
  needAscending("awards", position.awards, (a, b) => a.round - b.round || a.type - b.type);
  read.end();
  return position;
}

function first(read) {
  const [blue, yellow] = [read.u8("first", 0, FACES), read.u8("first", 0, FACES)];
  need((blue === 0) === (yellow === 0), "first: half a pair");
  return blue ? { blue, yellow } : null;
}

/** What a seat has on its sheet. */
function sheet(read) {
  const built = read.bits("built", 8, 0, CELLS - 1);
  const coins = read.u8("coins");
  const circled = read.u8("circled");
  need(coins <= circled, "coins: more than were circled");
  const pairs = read.u8("pairs", 0, 2);
  const dice = (what) => {
    const values = times(pairs, () => read.u8(what, 1, FACES));
    need(values.every((value, at) => !at || values[at - 1] <= value), `${what}: not ascending`);
    return values;
  };
  return { built, coins, circled, pairs, blue: dice("blue"), yellow: dice("yellow") };
}
