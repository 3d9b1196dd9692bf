// Positions from their canonical bytes: which decoders there are, and what they have in common, big-endian bytes that are
// read strictly and to their end.

import { Refusal } from "../verify/bytes.mjs";

/** Bytes that are no position by the game's page. */
export class Malformed extends Refusal {
  constructor(message) {
    super("MALFORMED", message);
  }
}

const DECODED = new Set(["alhambra", "kingdomino", "rollwrite"]);

/**
 * What decodes positions of a game of these rules, loaded when it is needed: it throws Malformed. Throws a Refusal UNSUPPORTED
 * for rules that are not known here.
 */
export async function decoderOf(rulesId) {
  if (!DECODED.has(rulesId)) throw new Refusal("UNSUPPORTED", `positions of ${rulesId} are not read here`);
  return (await import(`./${rulesId}.mjs`)).decode;
}

/** Refuses unless the condition holds. */
export function need(condition, message) {
  if (!condition) throw new Malformed(message);
}

/** Refuses unless each value comes after the one before; `compare` as in Array.sort, by default of numbers. */
export function needAscending(what, values, compare = (a, b) => a - b) {
  need(values.every((value, at) => !at || compare(values[at - 1], value) < 0), `${what}: not ascending`);
}

const inRange = (what, value, from, to) => {
  need(value >= from && value <= to, `${what}: ${value} is not within ${from} to ${to}`);
  return value;
};

/** A list of `count` results. */
export const times = (count, make) => Array.from({ length: count }, (_, at) => make(at));

export class Reader {
  constructor(bytes) {
    need(bytes instanceof Uint8Array, "a position is bytes");
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = 0;
  }

  /** Moves on over so many bytes, and tells where they begin. */
  skip(length, what) {
    const from = this.at;
    need(this.view.byteLength - from >= length, `${what}: the bytes end before it`);
    this.at += length;
    return from;
  }

  magic(...expected) {
    for (const byte of expected) need(this.u8("magic") === byte, "another magic");
  }

  u8(what, from = 0, to = 0xff) {
    return inRange(what, this.view.getUint8(this.skip(1, what)), from, to);
  }

  i8(what) {
    return this.view.getInt8(this.skip(1, what));
  }

  u16(what) {
    return this.view.getUint16(this.skip(2, what));
  }

  i16(what, from) {
    return inRange(what, this.view.getInt16(this.skip(2, what)), from, 0x7fff);
  }

  /** The numbers of the bits that are set in `length` bytes (1 or 8), ascending; each within `from` to `to`. */
  bits(what, length, from, to) {
    const at = this.skip(length, what);
    const set = length === 1 ? BigInt(this.view.getUint8(at)) : this.view.getBigUint64(at);
    const numbers = times(8 * length, (bit) => bit).filter((bit) => (set >> BigInt(bit)) & 1n);
    return numbers.map((bit) => inRange(what, bit, from, to));
  }

  /** The name of the phase with this number. */
  phase(names) {
    return names[this.u8("phase", 0, names.length - 1)];
  }

  /** A number, or null for 255: none. */
  orNone(what, from, to) {
    const number = this.u8(what);
    return number === 0xff ? null : inRange(what, number, from, to);
  }

  end() {
    need(this.at === this.view.byteLength, "bytes after the end");
  }
}
