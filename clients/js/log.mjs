// Signing, hashing and checking: docs/log-format.md as a program. Numbers in brackets are its sections.

import { createHash, createPublicKey, sign, verify } from "node:crypto";
import { decode, encode } from "./protocol.mjs";

/** The referee's log contradicts its signatures or itself. What was received is the evidence. */
export class Distrust extends Error {}

export const sha256 = (...parts) => createHash("sha256").update(Buffer.concat(parts.map((part) => Buffer.from(part)))).digest();
const leafHash = (entry) => sha256([0], entry);
const nodeHash = (left, right) => sha256([1], left, right);

// --- what a seat signs [2, 3, 6] ---------------------------------------------------------------------------

const INTENT_TYPE = "application/vnd.tile-referee.intent.v1+protobuf";

/** An Ed25519 public key's 32 bytes. */
export const publicBytes = (key) => Buffer.from(createPublicKey(key).export({ format: "jwk" }).x, "base64url");

/** DSSE's encoding of a body: these are the bytes that are signed. */
export const signedBytes = (body) =>
  Buffer.concat([Buffer.from(`DSSEv1 ${INTENT_TYPE.length} ${INTENT_TYPE} ${body.length} `), body]);

/**
 * One act of a seat, serialised once: these bytes are what counts, and what is sent again after a break.
 * place: {gameId, size, head}, the head that the act is made for; act: {join}, {reveal} or {move}.
 */
export function signedAct({ gameId, size, head }, seat, key, act) {
  const intent = encode("referee.log.v1.Intent", { game_id: gameId, seq: size, prev: head, seat, ...act });
  return { intent, signature: sign(null, signedBytes(intent), key) };
}

/** C_i: binds the seat to its p_i before anybody's is known. */
export const seatCommitment = (gameId, seat, seed) =>
  sha256(Buffer.from("tile-referee/v1/seat-commit\0"), gameId, [seat], seed);

// --- what the referee signs [4, 5] -------------------------------------------------------------------------

/** The tree head over entries that come one by one: the roots of the full subtrees, the largest first. */
class Tree {
  size = 0;
  #roots = [];

  push(leaf) {
    this.#roots.push(leaf);
    for (let size = ++this.size; size % 2 === 0; size /= 2) {
      const right = this.#roots.pop();
      this.#roots.push(nodeHash(this.#roots.pop(), right));
    }
  }

  root() {
    return this.#roots.length ? this.#roots.reduceRight((right, left) => nodeHash(left, right)) : sha256();
  }
}

/** A verifier key, name+hex(key id)+base64(0x01 || public key), as the referee hands it out. */
export function parseVerifier(text) {
  const [, name, id, encoded] = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+=*)$/.exec(text.trim()) ?? [];
  const value = Buffer.from(encoded ?? "", "base64");
  if (value.length !== 33 || value[0] !== 1 || sha256(Buffer.from(`${name}\n`), value).toString("hex", 0, 4) !== id)
    throw new Error("not a verifier key: expected name+id+base64, as in referee.vkey");
  const jwk = { kty: "OKP", crv: "Ed25519", x: value.subarray(1).toString("base64url") };
  return { name, id: Buffer.from(id, "hex"), key: createPublicKey({ key: jwk, format: "jwk" }) };
}

/** The size and root, in base64, of a note for this game whose signature is not looked at; null if it is none. */
function readCheckpoint(note, gameId) {
  const [origin, size, root, ...more] = note.toString().split("\n\n", 1)[0].split("\n");
  const isOne = origin.endsWith(`/g/${gameId.toString("hex")}`) && /^[1-9][0-9]{0,8}$/.test(size ?? "") && root && !more.length;
  return isOne ? { size: Number(size), root } : null;
}

/** The size and root, in base64, of a signed note. Throws Distrust unless this key signed it for this game. */
export function openCheckpoint(note, verifier, gameId) {
  const [text, signatures] = note.toString().split("\n\n", 2);
  const signed = Buffer.from(`${text}\n`);
  const line = (signatures ?? "").split("\n").find((line) => {
    const value = Buffer.from(line.split(" ")[2] ?? "", "base64");
    return line.startsWith(`— ${verifier.name} `) && value.subarray(0, 4).equals(verifier.id);
  });
  const signature = Buffer.from(line?.split(" ")[2] ?? "", "base64").subarray(4);
  if (!verify(null, signed, verifier.key, signature))
    throw new Distrust(`a checkpoint is not signed by ${verifier.name}`);
  const [origin, size, root, ...more] = text.split("\n");
  if (origin !== `${verifier.name}/g/${gameId.toString("hex")}` || more.length)
    throw new Distrust(`a checkpoint is of ${origin}`);
  return { size: Number(size), root };
}

/**
 * The log as this seat has seen it: every entry once, each bound to the one before, under the referee's signature if
 * its verifier key is known. It knows no rules and no other seats' signatures: the auditor does.
 */
export class Ledger {
  #tree = new Tree();
  #verifier;
  head = Buffer.alloc(32);
  dealt = true;
  /** GameEnd, when it has come. */
  end = null;
  /** The newest checkpoint, a signed note. */
  checkpoint = Buffer.alloc(0);
  /** What a checkpoint of before says, until the game is known to go on from it; null if there is none. */
  #before = null;
  #differs = true;
  #newest = Buffer.alloc(0);

  /** before: the newest checkpoint that was kept of this game. One that is damaged, or of another game, counts as none. */
  constructor(gameId, verifier, before = Buffer.alloc(0)) {
    this.gameId = gameId;
    this.#verifier = verifier;
    try {
      if (verifier && before.length) openCheckpoint(before, verifier, gameId);
      this.#before = readCheckpoint(before, gameId);
    } catch (error) {
      if (!(error instanceof Distrust)) throw error;
    }
    if (this.#before) this.checkpoint = before;
  }

  get size() {
    return this.#tree.size;
  }

  /** Takes the entries of a commit, whose last one has this seq, and returns them decoded. Throws Distrust. */
  take({ entries, checkpoint }, seq) {
    const taken = entries.map((bytes) => this.#take(bytes));
    if (this.size !== seq + 1) throw new Distrust(`entry ${this.size} is missing: the stream is at ${seq}`);
    if (this.#verifier) {
      const signed = openCheckpoint(checkpoint, this.#verifier, this.gameId);
      if (signed.size !== this.size || signed.root !== this.#tree.root().toString("base64"))
        throw new Distrust(`the checkpoint of ${signed.size} entries does not fit the ${this.size} that were sent`);
    }
    if (!this.#before) this.checkpoint = checkpoint;
    this.#newest = checkpoint;
    return taken;
  }

  /**
   * Everything has come that there is: it has to go on from what was kept, or to declare that lost. Throws Distrust: the
   * referee was set back behind what it had signed.
   */
  compare() {
    if (this.#before && this.#differs) {
      const { size } = this.#before;
      const found = size > this.size ? `has ${this.size} entries, and had signed ${size}` : `signed another history of ${size} entries before`;
      throw new Distrust(`the referee ${found}, and the log does not declare a loss; ask the organiser`);
    }
    this.#before = null;
    this.checkpoint = this.#newest;
  }

  /** Holds what was kept against the newest entry: a root that is there, or a loss that is declared (section 5). */
  #hold({ seq, recovered }) {
    const { size, root } = this.#before;
    if (this.size === size && this.#tree.root().toString("base64") === root) this.#differs = false;
    if (!recovered || seq >= size) return;
    const { lost_size: lost, lost_root: lostRoot } = recovered;
    if (!lost || lost > size || (lost === size && lostRoot.toString("base64") === root)) this.#differs = false;
  }

  #take(bytes) {
    let entry;
    try {
      entry = decode("referee.log.v1.Entry", bytes);
    } catch {
      throw new Distrust(`entry ${this.size} is none`);
    }
    if (entry.seq !== this.size || !entry.game_id.equals(this.gameId) || !entry.prev.equals(this.head))
      throw new Distrust(`entry ${this.size} does not follow the one before`);
    if (entry.seq === 0) {
      if (!sha256(entry.open).subarray(0, 16).equals(this.gameId)) throw new Distrust("entry 0 opens another game");
      this.dealt = decode("referee.log.v1.GameOpen", entry.open).chance === "dealt";
    }
    this.end = entry.end ?? this.end;
    this.head = leafHash(bytes);
    this.#tree.push(this.head);
    if (this.#before) this.#hold(entry);
    return entry;
  }
}
