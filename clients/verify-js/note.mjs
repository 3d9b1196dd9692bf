// Signed notes and checkpoints of section 5, and the tree that they are heads of.

import { Refusal, equal, fromBase64, fromHex, hex, sha256, text, utf8 } from "./bytes.mjs";
import { isKey, verifies } from "./ed25519.mjs";

const MAX_NOTE = 16 * 1024;
const MAX_SIGNATURES = 16;
const MAX_SIZE = (1n << 63n) - 1n;
const NAME = /^[!-*,-~]+$/;
const LINES = "expected three lines, an empty one, and signatures";

const bad = (message) => new Refusal("NOTE", message);

const idOf = async (name, key) => (await sha256(utf8(name), Uint8Array.of(0x0a, 0x01), key)).subarray(0, 4);

/** A verifier key `name+hash+key`, as { name, id, key }; an Error says what is wrong with it. */
export async function verifierKey(line) {
  const [, name, digits, encoded] = /^([^+]*)\+([0-9a-f]{8})\+(.*)$/u.exec(line) ?? [];
  const bytes = encoded && fromBase64(encoded);
  if (!bytes || bytes.length !== 33 || bytes[0] !== 1 || !NAME.test(name)) {
    throw new Error("a verifier key has the form name+12345678+base64, of Ed25519");
  }
  const key = bytes.subarray(1);
  if (!isKey(key)) throw new Error(`the key of ${name} is weak or no point of the curve`);
  const id = await idOf(name, key);
  if (!equal(id, fromHex(digits))) throw new Error(`the key of ${name} has another key id than it states`);
  return { name, id, key };
}

/**
 * A signed tree head: { origin (the first line), size (BigInt), root, extensions (further lines, which other logs may
 * have), signed (the bytes), signatures }. Refuses with NOTE.
 */
export function parseHead(bytes, most = { bytes: MAX_NOTE, signatures: MAX_SIGNATURES }) {
  if (bytes.length > most.bytes) throw bad(`more than ${most.bytes} bytes`);
  let note;
  try {
    note = text(bytes);
  } catch {
    throw bad("not UTF-8");
  }
  if (/(?!\n)\p{Cc}/u.test(note)) throw bad("a control character");
  const parts = /^(([^\n]+)\n([^\n]+)\n([^\n]+)\n((?:[^\n]+\n)*))\n((?:[^\n]+\n)+)$/.exec(note);
  if (!parts) throw bad(LINES);
  const [, body, origin, second, third, extensions, lines] = parts;
  if (!/^(0|[1-9][0-9]{0,18})$/.test(second)) throw bad("the second line is no size");
  if (BigInt(second) > MAX_SIZE) throw bad("a size of 2^63 and more");
  const root = fromBase64(third);
  if (root?.length !== 32) throw bad("the third line is no root");
  const signatures = lines.slice(0, -1).split("\n").map(parseSignature);
  if (signatures.length > most.signatures) throw bad(`more than ${most.signatures} signatures`);
  const keys = new Set(signatures.map(({ name, id }) => `${name}+${hex(id)}`));
  if (keys.size < signatures.length) throw bad("two signatures of one key");
  return { origin, size: BigInt(second), root, extensions, signed: utf8(body), signatures };
}

/** A game's signed checkpoint, whose first line gives origin and `gameId`. Refuses with NOTE. */
export function parseCheckpoint(bytes) {
  const head = parseHead(bytes);
  if (head.extensions) throw bad(LINES);
  const [, origin, gameId] = /^(.+)\/g\/([0-9a-f]{32})$/u.exec(head.origin) ?? [];
  if (!origin || !NAME.test(origin)) throw bad("the first line names no game");
  return { ...head, origin, gameId };
}

function parseSignature(line) {
  const [, name, encoded] = /^\u2014 ([^ ]+) ([^ ]+)$/u.exec(line) ?? [];
  const bytes = encoded && fromBase64(encoded);
  if (!bytes || bytes.length < 5 || !NAME.test(name)) throw bad("a signature line has the form: em dash, name, base64");
  return { name, id: bytes.subarray(0, 4), signature: bytes.subarray(4) };
}

/** Refuses a checkpoint that the key did not sign: UNTRUSTED_KEY if its signature is not there, NOTE_SIGNATURE if it is wrong. */
export async function checkSigned(checkpoint, key) {
  const own = checkpoint.signatures.find(({ name, id }) => name === key.name && equal(id, key.id));
  if (!own) throw new Refusal("UNTRUSTED_KEY", `no signature of ${key.name} with the pinned key`, { key: key.name });
  if (own.signature.length !== 64 || !(await verifies(key.key, checkpoint.signed, own.signature))) {
    throw new Refusal("NOTE_SIGNATURE", `the signature of ${key.name} does not verify`, { key: key.name });
  }
  if (checkpoint.origin !== key.name) throw new Refusal("UNTRUSTED_KEY", `the origin is not ${key.name}`, { key: key.name });
}

/** A checkpoint that the key signed. Throws a Refusal. */
export async function openCheckpoint(bytes, key) {
  const checkpoint = parseCheckpoint(bytes);
  await checkSigned(checkpoint, key);
  return checkpoint;
}

export const leafHash = (entry) => sha256(Uint8Array.of(0), entry);

export const nodeHash = (left, right) => sha256(Uint8Array.of(1), left, right);

/** The tree over leaves that come one by one: the roots of its whole subtrees, the largest first. */
export class Tree {
  constructor(size = 0, peaks = []) {
    Object.assign(this, { size, peaks });
  }

  copy() {
    return new Tree(this.size, [...this.peaks]);
  }

  async push(leaf) {
    this.peaks.push(leaf);
    for (let rest = this.size++; rest & 1; rest >>= 1) this.peaks.push(await nodeHash(...this.peaks.splice(-2)));
  }

  /** RFC 6962, section 2.1. */
  async root() {
    let root = this.peaks.length ? this.peaks.at(-1) : await sha256();
    for (let at = this.peaks.length - 2; at >= 0; at--) root = await nodeHash(this.peaks[at], root);
    return root;
  }
}

/** The roots of the first n leaves for every n of `sizes` (a Set), by n. */
export async function roots(leaves, sizes) {
  const found = new Map();
  const tree = new Tree();
  for (let size = 0; size <= leaves.length; size++) {
    if (size) await tree.push(leaves[size - 1]);
    if (sizes.has(size)) found.set(size, await tree.root());
  }
  return found;
}
