// The strict encoding of section 3, written: the inverse of `decode` in verify/wire.mjs, with the same schemas.

import { join, utf8 } from "../verify/bytes.mjs";
import { message } from "../verify/wire.mjs";

const VARINT = 0;
const DELIMITED = 2;
const TEXTUAL = new Set(["bytes", "string"]);

const varint = (value) => {
  const bytes = [];
  let rest = BigInt(value);
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  return Uint8Array.from([...bytes, Number(rest)]);
};

const number = (field, value) => (field.type === "sint32" ? varint(value < 0 ? -2 * value - 1 : 2 * value) : varint(value));

const delimited = (field, value) => {
  const bytes = field.message ? encode(field.message, value) : typeof value === "string" ? utf8(value) : value;
  return join(varint(bytes.length), bytes);
};

const isDefault = (value) => (typeof value === "object" || typeof value === "string" ? !value.length : !value);

/** The bytes of a message: `fields` by name, as `decode` gives them; what is not there, null or undefined, is left out. */
export function encode(schema, fields) {
  const parts = [];
  for (const [n, field] of schema.fields) {
    const value = fields[field.name];
    if (value === undefined || value === null) continue;
    const isNumber = !field.message && !TEXTUAL.has(field.type);
    const put = (wire, bytes) => parts.push(varint(n * 8 + wire), bytes);
    if (field.repeated && isNumber) {
      const packed = join(...value.map((each) => number(field, each)));
      if (packed.length) put(DELIMITED, join(varint(packed.length), packed));
    } else if (field.repeated) for (const each of value) put(DELIMITED, delimited(field, each));
    else if (!field.presence && isDefault(value)) continue;
    else if (isNumber) put(VARINT, number(field, value));
    else put(DELIMITED, delimited(field, value));
  }
  return join(...parts);
}

// These messages are the API's, not the log's: they carry a signed act to the referee.

export const SubmitIntentRequest = message("SubmitIntentRequest", `
  1 string game_id
  2 bytes intent
  3 bytes signature
  4 uint32 thought_ms optional`);
const Words = message("Words", `
  1 bytes salt
  2 string text`);
export const SubmitActRequest = message("SubmitActRequest", `
  1 string game_id
  2 bytes intent
  3 bytes signature
  4 Words words`, { Words });
