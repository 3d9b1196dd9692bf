// The part of a live game that the browser believes. The server may lie: nothing counts that the referee did not sign.

import { Audit, Losses } from "./verify/audit.mjs";
import { Refusal, equal, hex, sha256 } from "./verify/bytes.mjs";
import { isOffered, linkFault, readActs } from "./verify/entries.mjs";
import { CHECKPOINT, ENTRY, MAX_ENTRIES, MAX_ENTRY, OLDER } from "./verify/frames.mjs";
import { Tree, leafHash, openCheckpoint, roots, verifierKey } from "./verify/note.mjs";
import { Entry } from "./verify/schema.mjs";
import { decode } from "./verify/wire.mjs";
import { decoderOf } from "./positions/reader.mjs";

/**
 * What was delivered contradicts the referee's signature, itself, or what was seen before. `reason` is a code of
 * docs/log-format.md, section 8, `facts` what the message names; `entry` the number of the entry or null; `evidence` what was
 * delivered, to be kept.
 */
export class Lie extends Error {
  /** `refusal`: a Refusal. */
  constructor({ code, message, facts }, entry, evidence) {
    super(message);
    Object.assign(this, { name: "Lie", reason: code, facts, entry, evidence });
  }
}

/** A Refusal with the number of its entry. */
const refusal = (code, entry, message, facts) => Object.assign(new Refusal(code, message, facts), { entry });

/** Everything known of a game at one of its heads. What follows makes a new one: a lie leaves no half of itself behind. */
class Known {
  constructor(fields) {
    Object.assign(this, fields);
  }

  copy() {
    const { entries, leaves, tree, authors, seeds, positions } = this;
    const own = { entries: [...entries], leaves: [...leaves], positions: new Map(positions), followed: this.followed?.copy() };
    return new Known({ ...this, ...own, tree: tree.copy(), authors: authors.copy(), seeds: seeds.copy() });
  }

  get size() {
    return this.entries.length;
  }

  async root(size = this.size) {
    return size === this.size ? this.tree.root() : (await roots(this.leaves, new Set([size]))).get(size);
  }

  /** Adds the next entry. Throws a Refusal. */
  async append(bytes) {
    const n = this.size;
    const fail = (fault) => {
      if (fault) throw refusal(fault[0], n, fault[1], fault[2]);
    };
    if (n === MAX_ENTRIES) fail(["LIMIT", `more than ${MAX_ENTRIES} entries`, { limit: MAX_ENTRIES }]);
    if (bytes.length > MAX_ENTRY) fail(["LIMIT", `an entry of ${bytes.length} bytes`, { bytes: bytes.length }]);
    let entry;
    try {
      entry = readActs(decode(Entry, bytes), this);
    } catch (error) {
      throw error instanceof Refusal ? Object.assign(error, { entry: n }) : error;
    }
    fail(linkFault(entry, { gameId: this.gameId, seq: n, prev: this.leaves[n - 1] }));
    fail(await this.authors.take(n, entry));
    fail(await this.seeds.fault(entry));
    if (!isOffered(entry, this.open)) fail(["UNSUPPORTED", "an act or an event that is not offered in this game"]);
    const broken = await this.followed?.take(entry);
    if (broken) fail([broken.code, broken.message, broken.facts]);
    const leaf = await leafHash(bytes);
    this.entries.push(entry);
    this.leaves.push(leaf);
    await this.tree.push(leaf);
  }

  /** Takes a checkpoint that the key signed over everything that is known. Throws a Refusal. */
  async sign(bytes, key, before) {
    const head = await openCheckpoint(bytes, key);
    if (head.gameId !== hex(this.gameId)) throw refusal("WRONG_GAME", null, "a checkpoint of another game");
    const size = Number(head.size);
    if (size <= before && !equal(head.root, await this.root(size))) {
      throw refusal("FORK", size - 1, "the referee signed another history of this game");
    }
    const sizes = { size, entries: this.size };
    if (size !== this.size) throw refusal("CHECKPOINT", null, `a checkpoint of ${size} entries, and there are ${this.size}`, sizes);
    if (!equal(head.root, await this.root())) throw refusal("CHECKPOINT", null, "a checkpoint with another root");
    this.checkpoint = bytes;
  }

  /** Takes the positions after the entries from `first` on, one for each. Throws a Refusal. */
  async show(first, positions) {
    if (this.followed) return; // it makes them itself
    if (positions.length !== this.size - first) {
      const found = { positions: positions.length, entries: this.size - first };
      throw refusal("DIGEST", null, `${positions.length} positions of ${this.size - first} entries`, found);
    }
    for (const [at, bytes] of positions.entries()) {
      const n = first + at;
      const digest = this.entries[n].state_digest;
      if (!equal(await sha256(bytes), digest)) throw refusal("DIGEST", n, "a position that the entry does not commit to");
      // Many entries leave the position as it was.
      if (this.positions.has(hex(digest))) continue;
      try {
        this.positions.set(hex(digest), this.position(bytes));
      } catch (error) {
        throw error instanceof Refusal ? Object.assign(error, { entry: n }) : error;
      }
    }
  }
}

/**
 * A game as it is watched or replayed. Each step either holds as a whole, or throws a Lie and leaves the feed as it was;
 * after a Lie it takes nothing more, and throws that Lie again.
 */
export class Feed {
  #line;
  #gameId;
  #receipts;
  #known = null;
  #lie = null;
  #busy = Promise.resolve();
  #audits;

  /**
   * verifierKey: the pinned key, name+id+base64; gameId: which game it has to be, in hexadecimal digits, if that is known;
   * receipts: checkpoints that were kept of this game, as bytes; audits: the class that audits, of those who follow its rules.
   */
  constructor({ verifierKey: line, gameId = null, receipts = [], audits = Audit }) {
    this.#audits = audits;
    this.#line = line;
    this.#gameId = gameId;
    this.#receipts = receipts;
  }

  /** Decoded, with their intents, as in verify/schema.mjs. */
  get entries() {
    return [...(this.#known?.entries ?? [])];
  }

  /** GameOpen decoded, or null. */
  get gameOpen() {
    return this.#known?.open ?? null;
  }

  /** The last head that holds: { gameId, size, leaf, checkpoint }, the last one to be kept as a receipt; or null. */
  get head() {
    if (!this.#known) return null;
    const { gameId, size, leaves, checkpoint } = this.#known;
    return { gameId: hex(gameId), size, leaf: leaves.at(-1), checkpoint };
  }

  /** The keys that can sign for a seat, of 32 bytes, the newest last; none before it joined. */
  keysOf(seat) {
    return this.#known?.authors.keys.get(seat) ?? [];
  }

  /** What follows its rules, as the audits have it. */
  get followed() {
    return this.#known?.followed;
  }

  /** The Lie that ended it, or null. */
  get lie() {
    return this.#lie;
  }

  /** The position after entry n, as positions/ decodes it; null if it was not delivered. */
  positionAt(n) {
    const entry = this.#known?.entries[n];
    return (entry && this.#known.positions.get(hex(entry.state_digest))) ?? null;
  }

  /**
   * Takes the game's file as it stands, whole or running. `positions`: of every entry, or none of any. Opened again after
   * a break, it has to go on from what is known.
   */
  open(log, positions = null) {
    return this.#step({ log, positions }, (key) => this.#opened(log, positions, key));
  }

  /** Takes what one commit added; `positions` has one for each entry, the one after it. */
  commit({ entries, checkpoint, positions }) {
    return this.#step({ entries, checkpoint, positions }, async (key) => {
      if (!this.#known) throw new Error("open comes first");
      const next = this.#known.copy();
      for (const entry of entries) await next.append(entry);
      await next.sign(checkpoint, key, this.#known.size);
      await next.show(this.#known.size, positions);
      return next;
    });
  }

  /** Takes a checkpoint of entries that are known, as it comes again after a break: it has to be of the same history. */
  again(checkpoint) {
    return this.#step({ checkpoint }, async (key) => {
      await goesOn(this.#known, key, checkpoint);
      return this.#known;
    });
  }

  /** One step after the other, however they are called. */
  #step(evidence, step) {
    const done = this.#busy.then(async () => {
      if (this.#lie) throw this.#lie;
      const key = await verifierKey(this.#line);
      try {
        this.#known = await step(key);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        const kept = { ...evidence, before: this.#known?.checkpoint ?? null };
        this.#lie = new Lie(error, error.entry ?? null, kept);
        throw this.#lie;
      }
    });
    this.#busy = done.catch(() => {});
    return done;
  }

  async #opened(log, positions, key) {
    const audit = new this.#audits({ key });
    const { failures, covered } = await audit.run(log);
    if (failures.length) throw refusal(failures[0].code, failures[0].entry, failures[0].message, failures[0].facts);
    if (audit.file.stop) throw refusal(audit.file.stop.code, null, audit.file.stop.message, audit.file.stop.facts);
    const { entries, leaves, open, game, gameId, keyring: authors, seeds, followed } = audit;
    const tree = new Tree();
    for (const leaf of leaves) await tree.push(leaf);
    if (!entries.length) throw refusal("CHECKPOINT", null, "a log without entries");
    const position = followed ? null : await decoderOf(open.rules_id);
    const known = new Known({ entries, leaves, open, game, gameId, authors, seeds, tree, position, positions: new Map(), followed });
    // The file of a running game ends with a checkpoint beside the entries, on which an audit only comments.
    const { frames } = audit.file;
    const isLast = ({ type }) => type === OLDER || type === ENTRY;
    const last = frames.find(({ type }) => type === CHECKPOINT) ?? frames.findLast(isLast);
    if (last.type === ENTRY) throw refusal("CHECKPOINT", covered, "no checkpoint covers the last entries");
    await known.sign(last.payload, key, 0);
    if (this.#gameId !== null && hex(known.gameId) !== this.#gameId) throw refusal("WRONG_GAME", null, "the file of another game");
    const losses = new Losses(known.entries);
    for (const receipt of this.#receipts) await goesOn(known, key, receipt, losses);
    if (this.#known) await goesOn(known, key, this.#known.checkpoint);
    for (const [digest, position] of this.#known?.positions ?? []) known.positions.set(digest, position);
    if (positions) await known.show(0, positions);
    return known;
  }
}

/** Refuses a history, signed as it is, that does not contain what this checkpoint is of, nor is among the losses that it declares. */
const goesOn = async (known, key, bytes, losses) => {
  const head = await openCheckpoint(bytes, key);
  const size = Number(head.size);
  if (head.gameId !== hex(known.gameId)) throw refusal("WRONG_GAME", null, "another game than was seen before");
  if (size <= known.size && equal(head.root, await known.root(size))) return;
  if (losses?.covering({ size, root: head.root }) !== undefined) return;
  const sizes = { seen: size, entries: known.size };
  if (size > known.size) throw refusal("STALE", null, `${size} entries were seen before, and now there are ${known.size}`, sizes);
  throw refusal("FORK", size - 1, "the referee signed another history of this game");
};
