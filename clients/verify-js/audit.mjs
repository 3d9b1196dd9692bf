// The layers of section 8 up to the deck, of which seeds alone are compared; of certificates the form. The rules of the
// games are not looked at.

import { Authors } from "./authors.mjs";
import { Refusal, equal, hex, playerAt, sha256, text, utf8 } from "./bytes.mjs";
import { Seeds } from "./deck.mjs";
import { isKey } from "./ed25519.mjs";
import { NO_PREV, gameOf, isOffered, linkFault, readActs, readOpen, readTables } from "./entries.mjs";
import { CHECKPOINT, ENTRY, HEADER, MAX_ENTRIES, MAX_FILE, OLDER, PROOF, WORDS, readFrames } from "./frames.mjs";
import { checkSigned, leafHash, openCheckpoint, parseCheckpoint, roots } from "./note.mjs";
import { Entry, Header, Proof, Remark } from "./schema.mjs";
import { decode, records } from "./wire.mjs";

const LAYERS = ["limits", "frames", "header", "decode", "chain", "tree", "log", "checkpoint", "receipts", "authors", "deck", "rules", "certificates"];

/** Verdicts by their exit codes. */
export const VERDICTS = {
  COMPLETE: 0,
  PREFIX: 3,
  CORRUPT: 4,
  UNTRUSTED_KEY: 5,
  STALE: 6,
  FORK: 7,
  RULES: 8,
  UNSUPPORTED: 9,
  UNDISCLOSED: 10,
  UNLOGGED: 13,
  LOSS: 14,
};

/** Layer and verdict of each code, where the place of the failure does not give it another layer. */
const CODES = {
  LIMIT: ["limits", "CORRUPT"],
  FRAME: ["frames", "CORRUPT"],
  HEADER: ["header", "CORRUPT"],
  MALFORMED: ["decode", "CORRUPT"],
  WRONG_GAME: ["chain", "CORRUPT"],
  STALE_HEAD: ["chain", "CORRUPT"],
  NOTE: ["tree", "CORRUPT"],
  CHECKPOINT: ["tree", "CORRUPT"],
  NOTE_SIGNATURE: ["checkpoint", "CORRUPT"],
  UNTRUSTED_KEY: ["checkpoint", "UNTRUSTED_KEY"],
  FORK: ["receipts", "FORK"],
  STALE: ["receipts", "STALE"],
  KEY: ["authors", "CORRUPT"],
  AUTHOR: ["authors", "CORRUPT"],
  AUTHOR_SIGNATURE: ["authors", "CORRUPT"],
  DECK: ["deck", "RULES"],
  NOT_AWAITED: ["rules", "RULES"],
  PROOF: ["certificates", "CORRUPT"],
  REMARK: ["certificates", "CORRUPT"],
  UNSUPPORTED: ["rules", "UNSUPPORTED"],
};

const NOTHING_WRONG =
  "nothing is wrong in what is checked here; not checked: the rules of the game, whether chance is the deck's, what certificates prove";
const IN_LOG = "head in the public log";
/** Games whose verdicts can have certificates. */
const PROVABLE = new Set(["alhambra", "kingdomino"]);
const MAX_CHARACTERS = 4000;
const SALT_BYTES = 16;
/** The end of the year 9999, in milliseconds since 1970. */
const LAST_MS = 253_402_300_799_999n;
export const HIDDEN = /[\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff\u{e0000}-\u{e0fff}]/u;
const WORDS_DOMAIN = utf8("tile-referee/v1/remark\0");
const LOG_FILE = "referee/log/v1/log.proto";
/** What may come before every seat has joined, by the version of the rules of the table. */
const BEFORE_ALL_JOINED_1 = new Set(["open", "join", "end", "disclose", "recovered"]);
const BEFORE_ALL_JOINED = new Set([...BEFORE_ALL_JOINED_1, "absent", "resign", "protest", "appeal", "rule"]);

/** One audit; what it has read stays in it, for a reader who goes on from there. */
export class Audit {
  constructor({ key = null, seatKeys = {}, scribeKeys = {}, receipts = [], log = null }) {
    Object.assign(this, { key, seatKeys, scribeKeys, receipts, log });
    /** The last checkpoint, if it holds. */
    this.head = null;
    this.failures = new Map();
    this.remarks = [];
    this.frames = [];
    /** Decoded, with their intents; null where that failed. */
    this.entries = [];
    this.open = null;
    /** Of a later version of the format, or of the rules of the table: what cannot be read of it is no failure. */
    this.isLater = false;
    this.gameId = null;
    this.covered = 0;
    /** The first signed head that an entry declares lost. */
    this.loss = null;
  }

  /** Keeps the first failure of a layer. */
  fail(code, message, { entry = null, offset = null, layer = CODES[code][0], facts = {} } = {}) {
    if (!this.failures.has(layer)) this.failures.set(layer, { layer, code, entry, offset, message, facts });
  }

  failAt(n, code, message, facts = {}, layer = undefined) {
    this.fail(code, message, { entry: n, offset: this.frames[n].offset, layer, facts });
  }

  /** Runs a step; a Refusal becomes the failure of entry n. */
  attempt(n, step) {
    try {
      return step();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (!this.isLater) this.failAt(n, error.code, error.message, error.facts);
      this.isLater ||= n === 0 && error.code === "UNSUPPORTED";
      return null;
    }
  }

  async run(file) {
    const receipts = await this.readReceipts();
    if (file.length > MAX_FILE) {
      this.fail("LIMIT", "a file of more than 64 MiB", { entry: 0 });
      return this.report();
    }
    this.file = await readFrames(file);
    const { stop, offset, entries } = this.file;
    this.frames = this.file.frames.filter((frame) => frame.type === ENTRY);
    if (stop && stop.code !== "TORN") this.fail(stop.code, stop.message, { entry: entries, offset, facts: stop.facts });
    this.leaves = await Promise.all(this.frames.map((frame) => leafHash(frame.payload)));
    for (const [n, frame] of this.frames.entries()) {
      this.entries.push(this.attempt(n, () => this.decodeEntry(n, frame.payload)));
    }
    if (this.openBytes) {
      this.gameId = (await sha256(this.openBytes)).subarray(0, 16);
      this.chain();
    }
    const logged = (await this.log?.read(this.key?.name, this.gameId && hex(this.gameId))) ?? [];
    await this.heads([...receipts, ...logged.map((head) => ({ what: IN_LOG, ...head }))]);
    this.remarks.push(...((await this.log?.look(this.head, this.leaves.length, this.failures.has("receipts"))) ?? []));
    if (this.open) {
      await this.header();
      await this.authors();
      await this.deck();
      await this.acts();
    }
    this.proofs();
    await this.words();
    return this.report();
  }

  // --- decode and header -----------------------------------------------------------------------------

  decodeEntry(n, payload) {
    const entry = decode(Entry, payload);
    if (n === 0) this.attempt(0, () => this.decodeOpen(entry));
    return readActs(entry, this);
  }

  decodeOpen(entry) {
    this.openBytes = entry.open ?? new Uint8Array();
    this.open = readOpen(entry);
    this.game = gameOf(this.open);
    if (this.game) readTables(this.open, this.game);
  }

  async header() {
    const { payload, offset } = this.file.frames.find(({ type }) => type === HEADER);
    const hash = await sha256(payload);
    const bad = (message) => new Refusal("HEADER", message);
    try {
      const header = decode(Header, payload);
      if (!equal(this.open.header_hash, hash)) throw bad("GameOpen has another header's hash");
      if (header.rules_id !== this.open.rules_id || header.rules_version !== this.open.rules_version) {
        throw bad("other rules than GameOpen names");
      }
      const names = describedFiles(header.descriptors);
      if (!names || new Set(names).size < names.length) throw bad("expected a FileDescriptorSet with each file once");
      for (const name of [LOG_FILE, this.game?.file]) if (name && !names.includes(name)) throw bad(`${name} is not described`);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.fail(error.code, error.message, { entry: 0, offset, facts: error.facts });
    }
  }

  // --- chain, tree, checkpoints ----------------------------------------------------------------------

  chain() {
    const far = this.entries.findIndex((entry) => entry && entry.referee_ms > LAST_MS);
    if (far >= 0) this.remarks.push(`entry ${far} is dated later than any clock shows`);
    for (const [n, entry] of this.entries.entries()) {
      const fault = entry && linkFault(entry, { gameId: this.gameId, seq: n, prev: n ? this.leaves[n - 1] : NO_PREV });
      if (fault) return this.failAt(n, ...fault);
    }
  }

  /** Checkpoints of the caller. Throws a Refusal for one that the pinned key did not sign. */
  async readReceipts() {
    if (this.receipts.length && !this.key) throw new Refusal("UNTRUSTED_KEY", "a receipt, and no verifier key");
    return Promise.all(this.receipts.map(async (bytes) => ({ what: "receipt", ...(await openCheckpoint(bytes, this.key)) })));
  }

  /** Older checkpoints in the file that can be compared; remarks on the others. */
  async readOlder() {
    const found = [];
    for (const { payload, offset, entries } of this.key ? this.file.frames.filter(({ type }) => type === OLDER) : []) {
      let why = "it comes late";
      try {
        const checkpoint = await openCheckpoint(payload, this.key);
        if (checkpoint.size >= entries) {
          found.push({ what: "checkpoint", ...checkpoint });
          continue;
        }
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        why = error.message;
      }
      this.remarks.push(`the older checkpoint at byte ${offset} is not compared: ${why}`);
    }
    return found;
  }

  /** Layers tree, checkpoint and receipts. */
  async heads(receipts) {
    const others = [...(await this.readOlder()), ...receipts];
    const size = BigInt(this.leaves.length);
    const known = await roots(this.leaves, new Set([...others.map((head) => Number(head.size)), Number(size)]));
    const ours = (head) => this.gameId !== null && head.gameId === hex(this.gameId);
    const fits = (head) => ours(head) && head.size <= size && equal(head.root, known.get(Number(head.size)));
    const last = this.file.frames.find(({ type }) => type === CHECKPOINT);
    let holds = false;
    if (last) {
      try {
        const head = parseCheckpoint(last.payload);
        if (!ours(head)) throw new Refusal("CHECKPOINT", "the last checkpoint is of another game");
        if (head.size !== size) throw new Refusal("CHECKPOINT", `the last checkpoint is of ${head.size} entries`, { size: Number(head.size), entries: Number(size) });
        if (!fits(head)) throw new Refusal("CHECKPOINT", "the last checkpoint has another root");
        if (!this.key) throw new Refusal("UNTRUSTED_KEY", "no verifier key was given");
        await checkSigned(head, this.key);
        holds = true;
        this.head = head;
        this.covered = this.leaves.length;
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        this.fail(error.code, error.message, { offset: last.offset, facts: error.facts });
      }
    } else if (!this.key) this.fail("UNTRUSTED_KEY", "no verifier key was given");
    const stale = others.filter((head) => head.size > size && (ours(head) || size === 0n));
    const losses = new Losses(this.entries);
    const lose = (head, seq) => (this.loss ??= { entry: seq, message: `a signed ${head.what} is of what entry ${seq} declares lost` });
    const compared = others.filter((head) => !stale.includes(head)).sort((a, b) => Number(a.size - b.size));
    const good = compared.filter((head) => fits(head) && head.what !== IN_LOG); // the log's signature is not the referee's under the game
    for (const head of good) this.covered = Math.max(this.covered, Number(head.size));
    for (const head of compared.filter((head) => !fits(head))) {
      const seq = losses.covering(head);
      if (!ours(head)) this.fail("CHECKPOINT", `a ${head.what} of another game`);
      else if (seq < this.covered) lose(head, seq); // the declaration is signed for
      else this.fail(holds ? "FORK" : "CHECKPOINT", `a signed ${head.what} has another root`, { entry: Number(head.size) - 1 });
    }
    for (const head of stale) {
      const seq = holds && (losses.naming(head) ?? (head.size > this.most() ? losses.covering(head) : undefined));
      if (seq) {
        lose(head, seq);
        continue;
      }
      this.fail("STALE", `a signed ${head.what} covers ${head.size} entries, the file ${size}`, { facts: { seen: Number(head.size), entries: Number(size) } });
    }
  }

  /** How many entries the game can have, once its end is there: in a dealt game the disclosure may follow. */
  most() {
    const end = this.entries.findLastIndex((entry) => entry?.event === "end");
    return end < 0 ? Infinity : end + 1 + Boolean(this.open?.dealt);
  }

  // --- authors, deck, acts ---------------------------------------------------------------------------

  async authors() {
    const { open } = this;
    if (![...open.arbiter_keys, ...open.scribe_keys].every(isKey)) return this.failAt(0, "KEY", "a weak key in GameOpen");
    const untrusted = (n, message, facts) => this.failAt(n, "UNTRUSTED_KEY", message, facts, "authors");
    for (const [index, key] of Object.entries(this.scribeKeys)) {
      if (!open.scribe_keys[index] || !equal(open.scribe_keys[index], key)) untrusted(0, `scribe ${index} has another key`, { scribe: index });
    }
    for (const seat of Object.keys(this.seatKeys)) {
      if (!open.seats[seat] || open.seats[seat].scribed) untrusted(0, `${playerAt(seat)} brings no key of its own`, { seat });
    }
    const authors = (this.keyring = new Authors(open));
    for (const [n, entry] of this.entries.entries()) {
      const fault = entry && (await authors.take(n, entry));
      if (fault) this.failAt(n, ...fault);
    }
    const { used } = authors;
    for (const [seat, pinned] of Object.entries(this.seatKeys)) {
      const had = used.get(Number(seat));
      const at = had?.findIndex(({ key }) => equal(key, pinned));
      if (at === -1) untrusted(had[0].n, `${playerAt(seat)} joins with another key`, { seat });
      if (!(at >= 0)) continue;
      const from = at ? ` from entry ${had[at].n}` : "";
      const until = had[at].until === undefined ? "" : ` up to entry ${had[at].until}`;
      if (from || until) this.remarks.push(`${playerAt(seat)}: the key that you gave holds${from}${until}`);
    }
    this.inTwoRoles(used);
    const beforePlay = open.terms?.table_rules > 1 ? BEFORE_ALL_JOINED : BEFORE_ALL_JOINED_1;
    const wentOn = this.entries.some((entry) => entry && !beforePlay.has(entry.intent?.act ?? entry.event));
    const putOut = new Set(this.entries.map((entry) => entry?.absent?.seat ?? entry?.intent?.rule?.forfeit?.seat));
    for (const seat of Object.keys(this.seatKeys)) {
      if (used.has(Number(seat)) || !open.seats[seat] || open.seats[seat].scribed) continue;
      const message = `${playerAt(seat)}, whose key you gave, never joined`;
      if (wentOn && !putOut.has(Number(seat))) this.fail("UNTRUSTED_KEY", message, { layer: "authors", facts: { seat } });
      else this.remarks.push(message);
    }
  }

  /** Players who hold an office in their game, one of each kind for a player; and one person as several players. */
  inTwoRoles(used) {
    const { open, remarks } = this;
    const holders = [["arbiter", open.arbiter_keys], ["scribe", open.scribe_keys]];
    for (const seat of open.seats.keys()) {
      const found = new Map();
      for (const { key } of used.get(seat) ?? []) {
        for (const [role, keys] of holders) {
          const index = keys.findIndex((each) => equal(each, key));
          if (index < 0) continue;
          if (!found.has(role)) found.set(role, `${playerAt(seat)} plays with the key of ${role} ${index}`);
          break;
        }
        if (this.key && equal(key, this.key.key)) found.set("", `${playerAt(seat)} plays with the referee's own key`);
      }
      remarks.push(...found.values());
    }
    const seats = new Map();
    for (const [number, { player: person }] of open.seats.entries()) {
      if (person?.length) seats.set(hex(person), [...(seats.get(hex(person)) ?? []), number + 1]);
    }
    for (const numbers of seats.values()) {
      if (numbers.length > 1) remarks.push(`the game was opened with one person as players ${numbers.join(", ")}`);
    }
  }

  async deck() {
    const seeds = (this.seeds = new Seeds(this.open, this.gameId));
    for (const [n, entry] of this.entries.entries()) {
      const fault = entry && (await seeds.fault(entry));
      if (fault) this.failAt(n, ...fault);
    }
  }

  /** What of the rules layer needs no rules: whether they, and every act and ending, are known. */
  acts() {
    const { rules_id: id, rules_version: version } = this.open;
    if (!this.game) this.failAt(0, "UNSUPPORTED", `rules ${id}, version ${version}: moves are not read`, { rules: id, version });
    const n = this.entries.findIndex((entry) => entry && !isOffered(entry, this.open));
    if (n >= 0) this.failAt(n, "UNSUPPORTED", "an act or an event that is not offered in this game");
  }

  /** Of certificates whether each is a Proof of an entry before it; not what it proves. */
  proofs() {
    if (!this.game || !PROVABLE.has(this.open.rules_id)) return;
    for (const { type, payload, offset, entries } of this.file.frames) {
      if (type !== PROOF) continue;
      let seq = null;
      try {
        const proof = decode(Proof, payload);
        if (proof.seq >= entries) throw new Refusal("PROOF", `a certificate for entry ${proof.seq}, which is not before it`);
        seq = Number(proof.seq);
        if (!equal(proof.leaf, this.leaves[seq])) throw new Refusal("PROOF", `a certificate for another leaf than entry ${seq} has`);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        return this.fail(error.code, error.message, { entry: seq, offset, layer: "certificates", facts: error.facts });
      }
    }
  }

  /** Texts beside the entries: each once, after its entry, and what that commits to. */
  async words() {
    const told = new Set();
    for (const { type, payload, offset, entries } of this.file.frames) {
      if (type !== WORDS) continue;
      let seq = null;
      try {
        const remark = decode(Remark, payload);
        seq = remark.seq < MAX_ENTRIES ? Number(remark.seq) : null;
        const length = [...remark.text].length;
        if (remark.salt.length !== SALT_BYTES) throw new Refusal("MALFORMED", `a text with a salt of ${remark.salt.length} bytes`);
        if (length < 1 || length > MAX_CHARACTERS) throw new Refusal("MALFORMED", `a text of ${length} characters`);
        if (HIDDEN.test(remark.text)) throw new Refusal("MALFORMED", "a text with characters that cannot be seen");
        const { signed, intent } = (seq !== null && seq < entries && this.entries[seq]) || {};
        const expected = signed ? (intent.rule ?? intent.protest ?? intent.appeal)?.remark : null;
        if (!expected?.length || told.has(seq)) throw new Refusal("REMARK", "a text for no entry that awaits one");
        if (!equal(expected, await sha256(WORDS_DOMAIN, remark.salt, utf8(remark.text)))) {
          throw new Refusal("REMARK", "a text that its entry does not commit to");
        }
        told.add(seq);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        return this.fail(error.code, error.message, { entry: seq, offset, layer: "certificates", facts: error.facts });
      }
    }
  }

  // --- the report ------------------------------------------------------------------------------------

  report() {
    const failures = LAYERS.flatMap((layer) => this.failures.get(layer) ?? []);
    const { verdict, ...first } = failures.length
      ? { verdict: CODES[failures[0].code][1], ...failures[0] }
      : { layer: null, entry: null, offset: null, ...this.shown() };
    const { covered, remarks } = this;
    const rules = this.open && `${this.open.rules_id} ${this.open.rules_version}`;
    const gameId = this.gameId && hex(this.gameId);
    return { verdict, exit: VERDICTS[verdict], ...first, failures, remarks, entries: this.frames.length, covered, gameId, rules };
  }

  /** The verdict if nothing fails. */
  shown() {
    if (this.loss) return { verdict: "LOSS", code: "LOSS", ...this.loss };
    const events = new Set(this.entries.map((entry) => entry.event));
    const { closed, stop } = this.file;
    if (closed && events.has("end") && this.open.dealt && !events.has("disclose")) {
      return { verdict: "UNDISCLOSED", code: "UNDISCLOSED", message: "r is not there" };
    }
    if (stop) return { verdict: "PREFIX", code: "TORN", message: stop.message, facts: stop.facts };
    if (!closed) return { verdict: "PREFIX", code: "INCOMPLETE", message: "END is not there" };
    if (!events.has("end")) return { verdict: "PREFIX", code: "INCOMPLETE", message: "the game has not ended" };
    if (this.log?.lacks) return { verdict: "UNLOGGED", code: "UNLOGGED", message: this.log.lacks };
    return { verdict: "COMPLETE", code: null, message: NOTHING_WRONG };
  }
}

/** What Recovered entries declare lost; a question costs the same however many there are. */
export class Losses {
  constructor(entries) {
    this.named = new Map();
    this.losses = [];
    for (const [seq, entry] of entries.entries()) {
      if (!entry?.recovered) continue;
      const { lost_size: size, lost_root: root } = entry.recovered;
      const loss = { seq, size: size || Infinity };
      const name = `${size} ${hex(root)}`;
      if (!this.named.has(name)) this.named.set(name, seq);
      // The first counts of those that reach as far; so these reach further and further.
      if (!this.losses.length || loss.size > this.losses.at(-1).size) this.losses.push(loss);
    }
  }

  /** The entry that declares this very head lost, or undefined. */
  naming(head) {
    return this.named.get(`${head.size} ${hex(head.root)}`);
  }

  /** The entry that declares a head lost which contradicts the log, or undefined. */
  covering(head) {
    const named = this.naming(head);
    if (named < head.size) return named;
    let [low, high] = [0, this.losses.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (head.size < this.losses[middle].size) high = middle;
      else low = middle + 1;
    }
    const seq = this.losses[low]?.seq;
    return seq < head.size ? seq : undefined;
  }
}

/** The names of the files of a FileDescriptorSet, or null if it is none. */
function describedFiles(descriptors) {
  try {
    return Array.from(records(descriptors, 1), (file) => text(Array.from(records(file, 1)).at(-1) ?? new Uint8Array()));
  } catch (error) {
    if (error instanceof Refusal || error instanceof TypeError) return null;
    throw error;
  }
}

/**
 * The report on a log's bytes. `pins`: key (of verifierKey), seatKeys and scribeKeys (32 bytes by number), receipts (bytes of
 * checkpoints), log (a LogCheck of log.mjs). Throws a Refusal for a receipt that the key did not sign, and for nothing that the log's bytes hold.
 */
export const audit = (file, pins = {}) => new Audit(pins).run(file);
