// The strict walk over protobuf's wire format of section 3: exactly one encoding of each value is read.

import { Refusal, text } from "./bytes.mjs";

const MAX_ELEMENTS = 512;
const MAX_BODY = 16 * 1024;
const WIRE = { varint: 0, fixed64: 1, delimited: 2, fixed32: 5 };
const SCALARS = new Set(["uint32", "uint64", "sint32", "bool", "enum"]);

/** `where`: the message or the field that is wrong, if it has a name. */
const malformed = (what, where = "") => new Refusal("MALFORMED", where ? `${where}: ${what}` : what, where ? { field: where } : {});

/**
 * A message by its fields, one a line: number, type, name, then what else is said of it:
 * `repeated`, `optional`, `in NAME` (a oneof's member), `needed`, `of 16` or `of 0,32` (lengths), `to 10` (an enum's last
 * number; all are without gaps from 0), `id` (of rules). A type in capitals is a message of `known`.
 * A last line `needs NAME ...` lists oneofs of which a member has to be there.
 */
export function message(name, lines, known = {}) {
  const fields = new Map();
  let needs = [];
  for (const line of lines.trim().split("\n")) {
    const [first, type, field, ...rest] = line.trim().split(/ +/);
    if (first === "needs") {
      needs = [type, field, ...rest].filter(Boolean);
      continue;
    }
    const after = (word) => (rest.includes(word) ? rest[rest.indexOf(word) + 1] : undefined);
    fields.set(Number(first), {
      name: field,
      type,
      message: /^[A-Z]/.test(type) ? known[type] : undefined,
      repeated: rest.includes("repeated"),
      presence: rest.includes("optional") || rest.includes("in") || /^[A-Z]/.test(type),
      oneof: after("in"),
      needed: rest.includes("needed"),
      lengths: after("of")?.split(",").map(Number),
      last: Number(after("to")),
      id: rest.includes("id"),
    });
  }
  return { name, fields, needs };
}

class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  get done() {
    return this.at === this.bytes.length;
  }

  /** An unsigned integer of 64 bits in its shortest form. */
  varint() {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      if (this.done) throw malformed("a varint without its end");
      const byte = this.bytes[this.at++];
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) {
        if (byte === 0 && shift > 0n) throw malformed("a varint that is not in its shortest form");
        if (value >= 2n ** 64n) throw malformed("a varint of more than 64 bits");
        return value;
      }
      if (shift === 63n) throw malformed("a varint of more than ten bytes");
    }
  }

  take(length) {
    if (length > BigInt(this.bytes.length - this.at)) throw malformed("a length beyond the end");
    const piece = this.bytes.subarray(this.at, this.at + Number(length));
    this.at += Number(length);
    return piece;
  }
}

function scalar(field, raw) {
  const bad = () => malformed(`${raw} is no ${field.type} of the schema`, field.name);
  if (field.type === "uint64") return raw;
  if (field.type === "enum" ? raw > BigInt(field.last) : raw >= (field.type === "bool" ? 2n : 2n ** 32n)) throw bad();
  if (field.type === "sint32") return Number(raw & 1n ? -(raw >> 1n) - 1n : raw >> 1n);
  return Number(raw);
}

function delimited(field, bytes) {
  if (field.message) return decode(field.message, bytes);
  if (field.lengths && !field.lengths.includes(bytes.length)) {
    throw malformed(`${bytes.length} bytes, expected ${field.lengths.join(" or ")}`, field.name);
  }
  if (field.type === "bytes") return bytes;
  let string;
  try {
    string = text(bytes);
  } catch {
    throw malformed("not UTF-8", field.name);
  }
  if (field.id && !/^[A-Za-z0-9._-]{1,64}$/.test(string)) throw malformed("not an id", field.name);
  return string;
}

function absent(field) {
  if (field.repeated) return [];
  if (field.presence) return undefined;
  if (field.type === "bytes") return new Uint8Array();
  return { string: "", uint64: 0n, bool: 0 }[field.type] ?? 0;
}

function count(field, values) {
  if (values.length > MAX_ELEMENTS) throw malformed(`more than ${MAX_ELEMENTS} elements`, field.name);
}

/**
 * The fields of one message by name: numbers, BigInts (uint64), strings, Uint8Arrays, objects, arrays; an absent field has its
 * default, or undefined where it has presence; a oneof has the name of its member. Refuses with MALFORMED.
 */
export function decode(schema, bytes) {
  const reader = new Reader(bytes);
  const found = {};
  let before = 0n;
  while (!reader.done) {
    const tag = reader.varint();
    const number = tag >> 3n;
    const field = tag < 2n ** 32n && schema.fields.get(Number(number));
    if (!field) throw malformed(`unknown field ${number}`, schema.name);
    const packed = field.repeated && SCALARS.has(field.type);
    const wire = SCALARS.has(field.type) && !packed ? WIRE.varint : WIRE.delimited;
    if (Number(tag & 7n) !== wire) throw malformed(`wire type ${tag & 7n}`, field.name);
    if (number < before) throw malformed("fields are not in ascending order", field.name);
    if (number === before && (!field.repeated || packed)) throw malformed("twice", field.name);
    before = number;
    if (packed) {
      const elements = new Reader(reader.take(reader.varint()));
      if (elements.done) throw malformed("packed, and empty", field.name);
      const values = (found[field.name] = []);
      for (; !elements.done; count(field, values)) values.push(scalar(field, elements.varint()));
      continue;
    }
    const raw = wire === WIRE.varint ? reader.varint() : reader.take(reader.varint());
    if (!field.presence && !field.repeated && (raw === 0n || raw.length === 0)) throw malformed("a default", field.name);
    const value = wire === WIRE.varint ? scalar(field, raw) : delimited(field, raw);
    if (field.repeated) {
      (found[field.name] ??= []).push(value);
      count(field, found[field.name]);
    } else found[field.name] = value;
    if (field.oneof) {
      if (found[field.oneof]) throw malformed(`two of ${field.oneof}`, schema.name);
      found[field.oneof] = field.name;
    }
  }
  for (const field of schema.fields.values()) {
    if (field.needed && found[field.name] === undefined) throw malformed(`${field.name} is not there`, schema.name);
    found[field.name] ??= absent(field);
  }
  for (const oneof of schema.needs) if (!found[oneof]) throw malformed(`no ${oneof}`, schema.name);
  return found;
}

/** As `decode`, of bytes that somebody signs or that are a game's own message: of 16 KiB at most. */
export function decodeBody(schema, bytes) {
  if (bytes.length > MAX_BODY) throw malformed("more than 16 KiB", schema.name);
  return decode(schema, bytes);
}

/** All fields of a message that any program may have serialised: [number, value], of varints (BigInt) and of bytes. */
function* loose(bytes) {
  const reader = new Reader(bytes);
  while (!reader.done) {
    const tag = reader.varint();
    const wire = Number(tag & 7n);
    if (wire === WIRE.varint) yield [Number(tag >> 3n), reader.varint()];
    else if (wire === WIRE.delimited) yield [Number(tag >> 3n), reader.take(reader.varint())];
    else if (wire === WIRE.fixed32 || wire === WIRE.fixed64) reader.take(wire === WIRE.fixed32 ? 4n : 8n);
    else throw malformed("a group");
  }
}

/** The payloads of a field of such a message. */
export function* records(bytes, wanted) {
  for (const [number, value] of loose(bytes)) if (number === wanted && typeof value !== "bigint") yield value;
}

/** The number in a field of such a message, or of one in it; undefined if there is none, or if it is no message. */
export function stated(bytes, wanted, ...inner) {
  try {
    const values = Array.from(loose(bytes)).flatMap(([number, value]) => (number === wanted ? [value] : []));
    const isNumber = (value) => typeof value === "bigint";
    if (!inner.length) return values.findLast(isNumber);
    const messages = values.filter((value) => value !== undefined && !isNumber(value));
    return messages.map((value) => stated(value, ...inner)).findLast((value) => value !== undefined);
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}
