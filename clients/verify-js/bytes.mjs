// Bytes, text, hashes and checksums. Everything else is built on these.

/** What is wrong with what was read: `code` as in section 8 of docs/log-format.md, `facts` what the message names, by name. */
export class Refusal extends Error {
  constructor(code, message, facts = {}) {
    super(message);
    Object.assign(this, { code, facts });
  }
}

const subtle = globalThis.crypto.subtle;
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export const utf8 = (text) => encoder.encode(text);

/** Text of strict UTF-8; a TypeError for anything else. */
export const text = (bytes) => decoder.decode(bytes);

export const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

export function fromHex(digits) {
  if (!/^([0-9a-f]{2})*$/.test(digits)) throw new Error("expected lower-case hexadecimal digits");
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

export const base64 = (bytes) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));

/** Bytes of canonical base64 with padding, or null. */
export function fromBase64(digits) {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(digits) || digits.length % 4) return null;
  const bytes = Uint8Array.from(atob(digits), (character) => character.charCodeAt(0));
  return base64(bytes) === digits ? bytes : null;
}

export function join(...parts) {
  const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

export const equal = (a, b) => a.length === b.length && a.every((byte, index) => byte === b[index]);

export const u32 = (bytes, at) => new DataView(bytes.buffer, bytes.byteOffset + at, 4).getUint32(0);

export async function sha256(...parts) {
  return new Uint8Array(await subtle.digest("SHA-256", join(...parts)));
}

export async function hmac(key, message) {
  const imported = await subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return new Uint8Array(await subtle.sign("HMAC", imported, message));
}

// CRC-32 of zlib and PNG: of one piece, and of every piece of a stretch of bytes at little cost each.

const POLYNOMIAL = 0xedb88320;

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  for (let bit = 0; bit < 8; bit++) byte = byte & 1 ? (byte >>> 1) ^ POLYNOMIAL : byte >>> 1;
  return byte;
});

const step = (state, byte) => TABLE[(state ^ byte) & 0xff] ^ (state >>> 8);

export function crc32(bytes) {
  let state = 0xffffffff;
  for (const byte of bytes) state = step(state, byte);
  return ~state >>> 0;
}

/** The product of two polynomials, modulo that of the CRC; the highest bit is the power 0. */
function product(a, b) {
  let result = 0;
  for (let bit = 31; bit >= 0; bit--) {
    if ((a >>> bit) & 1) result ^= b;
    b = b & 1 ? (b >>> 1) ^ POLYNOMIAL : b >>> 1;
  }
  return result;
}

// The effect of 2^k zero bytes on a state: a product with x^(8 * 2^k).
const ZEROS = [0x00800000];
while (ZEROS.length < 27) ZEROS.push(product(ZEROS.at(-1), ZEROS.at(-1)));

/**
 * A function (from, to) that gives the CRC of those of the bytes. A search for frames among hostile bytes asks for as many
 * CRCs as there are bytes; computed one by one they would take time in the square of the length.
 */
export function crcOfPieces(bytes) {
  const states = new Uint32Array(bytes.length + 1);
  for (let at = 0; at < bytes.length; at++) states[at + 1] = step(states[at], bytes[at]);
  return (from, to) => {
    let state = states[from] ^ 0xffffffff;
    for (let length = to - from, k = 0; length; length >>>= 1, k++) if (length & 1) state = product(state, ZEROS[k]);
    return ~(state ^ states[to]) >>> 0;
  };
}

/** A player for people, from 1; files and facts name the seat, from 0. */
export const playerAt = (seat) => `player ${Number(seat) + 1}`;
