// Keys of people: made here, saved as a file, and used by this browser without ever being readable again.
//
// A key file is PKCS #8 in PEM (RFC 8410), as the commands and OpenSSL read it. It is all that is needed to come back: a
// seat's share of the deck follows from it, and not from a signature, as the signatures of some browsers are another one each time.

import { base64, fromBase64, hmac, join, utf8 } from "../verify/bytes.mjs";
import { signedBytes } from "../verify/authors.mjs";
import { verifies } from "../verify/ed25519.mjs";

const ED25519 = { name: "Ed25519" };
const PKCS8_BYTES = 48;
const SECRET_BYTES = 32;
const SHARE = "tile-referee/v1/client-seed\0";
const PEM = /-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\s]+)-----END PRIVATE KEY-----/;

/** Why there is no key: `reason` is a part of the words "seat.key.…". */
export class NoKey extends Error {
  constructor(reason) {
    super(reason);
    this.reason = reason;
  }
}

/** The bytes of a new private key, PKCS #8. Throws NoKey. */
export const made = async () => {
  if (!globalThis.crypto?.subtle) throw new NoKey("insecure");
  try {
    const { privateKey } = await crypto.subtle.generateKey(ED25519, true, ["sign", "verify"]);
    return new Uint8Array(await crypto.subtle.exportKey("pkcs8", privateKey));
  } catch {
    throw new NoKey("old");
  }
};

/** A new key that this browser alone can use, and nobody can read, `{key, publicKey}`: it is in no file. Throws NoKey. */
export const sealed = async () => {
  if (!globalThis.crypto?.subtle) throw new NoKey("insecure");
  try {
    const { privateKey, publicKey } = await crypto.subtle.generateKey(ED25519, false, ["sign", "verify"]);
    return { key: privateKey, publicKey: new Uint8Array(await crypto.subtle.exportKey("raw", publicKey)) };
  } catch {
    throw new NoKey("old");
  }
};

/** The text of a key file. */
export const pemOf = (pkcs8) => `-----BEGIN PRIVATE KEY-----\n${base64(pkcs8)}\n-----END PRIVATE KEY-----\n`;

/** The bytes of the private key in a key file. Throws NoKey. */
export const readPem = (text) => {
  const found = fromBase64((PEM.exec(text)?.[1] ?? "").replace(/\s/g, ""));
  if (found?.length !== PKCS8_BYTES) throw new NoKey("file");
  return found;
};

/** The key as this browser keeps it, `{key, publicKey}`: a CryptoKey that signs and cannot be read, and 32 bytes. Throws NoKey. */
export const locked = async (pkcs8) => {
  try {
    const open = await crypto.subtle.importKey("pkcs8", pkcs8, ED25519, true, ["sign"]);
    const { x } = await crypto.subtle.exportKey("jwk", open);
    const key = await crypto.subtle.importKey("pkcs8", pkcs8, ED25519, false, ["sign"]);
    const publicKey = fromBase64(`${x.replaceAll("-", "+").replaceAll("_", "/")}=`);
    return { key, publicKey };
  } catch {
    throw new NoKey(globalThis.crypto?.subtle ? "file" : "insecure");
  }
};

/** A seat's share of the deck, p_i, of 32 bytes. */
export const shareOf = (pkcs8, gameId) => hmac(pkcs8.slice(-SECRET_BYTES), join(utf8(SHARE), gameId));

/** The signature of an intent, 64 bytes. What this browser signs wrongly is thrown, and leaves it nowhere. */
export const sign = async ({ key, publicKey }, intent) => {
  const message = signedBytes(intent);
  const signature = new Uint8Array(await crypto.subtle.sign(ED25519, key, message));
  if (!(await verifies(publicKey, message, signature))) throw new NoKey("broken");
  return signature;
};
