// Positions of Kingdomino: docs/kingdomino-state.md as a program.

import { Reader, need, needAscending, times } from "./reader.mjs";

export const PHASES = ["CASTLE", "FIRST_ORDER", "LINE", "PLACE", "CHOOSE", "OVER"];

const DOMINOES = 48;

/** A position. Dominoes by number; `castle` is null where there is none in a fixed frame. Throws Malformed. */
export function decode(bytes) {
  const read = new Reader(bytes);
  read.magic(0x4b, 0x44, 0x4f, 0x01);
  const seats = read.u8("seats", 2, 4);
  const domino = (what) => read.u8(what, 1, DOMINOES);
  const seat = (what) => read.u8(what, 0, seats - 1);
  /** The elements of a list, of so many bytes each. */
  const list = (what, each, make) => {
    const length = read.u8(what);
    need(length % each === 0, `${what}: ${length} bytes`);
    return times(length / each, make);
  };
  const phase = read.phase(PHASES);
  const onTurn = seat("seat");
  const size = read.u8("size", 5, 7);
  need(size !== 6, "size: a frame of 6 cells");
  const position = {
    phase,
    seat: onTurn,
    size,
    lines: read.u8("lines"),
    turns: read.u16("turns"),
    linesInAll: read.u8("lines in all"),
    unseen: read.bits("unseen", 8, 1, DOMINOES),
    order: list("order", 1, () => seat("order")),
    kings: list("kings", 2, () => ({ domino: domino("kings"), seat: seat("kings") })),
    offer: list("offer", 2, () => ({ domino: domino("offer"), seat: read.orNone("offer", 0, seats - 1) })),
    removed: list("removed", 1, () => domino("removed")),
    seats: times(seats, () => ({
      castle: castle(read, size),
      placed: placed(read, domino),
      discarded: list("discarded", 1, () => domino("discarded")),
    })),
  };
  read.end();
  need(position.lines <= position.linesInAll, "lines: more than there are");
  for (const name of ["kings", "offer"]) needAscending(name, position[name], (a, b) => a.domino - b.domino);
  return position;
}

/** { column, row } in a fixed frame, or null. */
function castle(read, size) {
  const [column, row] = [read.orNone("castle", 0, size - 1), read.orNone("castle", 0, size - 1)];
  need((column === null) === (row === null), "castle: half a cell");
  return column === null ? null : { column, row };
}

/** { domino, left, right } with cells { x, y }, by domino. */
function placed(read, domino) {
  const cell = (what) => ({ x: read.i8(what), y: read.i8(what) });
  const count = read.u8("dominoes", 0, DOMINOES);
  const found = times(count, () => ({ domino: domino("placed"), left: cell("left"), right: cell("right") }));
  needAscending("placed", found, (a, b) => a.domino - b.domino);
  return found;
}
