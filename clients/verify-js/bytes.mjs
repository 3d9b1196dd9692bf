// Bytes, text and hashes. Everything else is built on these.

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
