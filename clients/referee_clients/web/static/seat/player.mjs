// One seat of a game: what it signs, keeps, and sends. Knows how the game stands, not how it is shown.
//
// A signed act is kept before it leaves, and is sent again unchanged until the referee has answered: the same bytes get the
// first answer again, so that no break of the way makes two acts of one.

import { Lie } from "../feed.mjs";
import { Refused, pause } from "../gateway.mjs";
import { post } from "../sending.mjs";
import { Refusal, equal, fromBase64, sha256, utf8 } from "../verify/bytes.mjs";
import { seatCommitment } from "../verify/deck.mjs";
import { openCheckpoint } from "../verify/note.mjs";
import { Intent } from "../verify/schema.mjs";
import { SubmitActRequest, SubmitIntentRequest, encode } from "./encode.mjs";
import { sign } from "./keys.mjs";
import * as vault from "./vault.mjs";

const REMARK = "tile-referee/v1/remark\0";
const SALT_BYTES = 16;
/** Another entry came first: what was signed for its place is void, and nothing happened. */
const VOID = new Set(["STALE_HEAD", "GAME_OVER"]);

/** Refusals that say nothing of the act. */
const FAULTS = new Set(["INTERNAL", "BAD_ANSWER", "BAD_REQUEST"]);

/** So often an act that is meant wherever the game stands is signed again, while others play on. */
const TRIES = 8;

/** This page has the seat no more. */
export class Stopped extends Error {}

/** The act did not become an entry, and never will. `violations`: the rules that it breaks; or `refused`: the referee's reason. */
export class NotEntered extends Error {
  constructor({ violations = [], refused = null, recorded = null }) {
    super(refused?.message ?? violations.map(({ text, english }) => text || english).join(" "));
    Object.assign(this, { name: "NotEntered", violations, refused, recorded });
  }
}

/** Whether the browser's key is one that can sign for the seat; a seat that nobody took waits for any. */
export const fits = (game, { seat, publicKey, next }) => {
  const keys = game.keysOf(seat);
  return !keys.length || keys.some((key) => equal(key, publicKey) || (next && equal(key, next.publicKey)));
};

export class Player {
  #working = Promise.resolve();
  #storing = Promise.resolve();
  #waiting = [];
  /** Entries that the newest checkpoint covers that was kept since the page was opened. */
  #seen = 0;
  isStopped = false;

  /**
   * `kept`: the seat, as the vault has it. `on.waiting(error)`: the way is broken, and it is tried again; `on.sent()`: no more.
   */
  constructor(game, kept, on) {
    Object.assign(this, { game, kept, on });
  }

  get seat() {
    return this.kept.seat;
  }

  /** An act is on its way. */
  get isPending() {
    return this.kept.pending !== null;
  }

  /** Signs, keeps and sends nothing any more: what is asked for is answered Stopped. */
  stop() {
    this.isStopped = true;
  }

  async join() {
    const { publicKey, share } = this.kept;
    const { gameId } = this.#place();
    const commitment = this.game.opened.dealt ? await seatCommitment(gameId, this.seat, share) : null;
    return this.#anywhere("acts", { join: { key: publicKey, commitment } });
  }

  async reveal() {
    return this.#anywhere("acts", { reveal: { seed: this.kept.share } });
  }

  /**
   * `move`: exact bytes; `size`: of how many entries it was chosen after; `thoughtMs`: since the turn was there, null if that
   * is not known. Returns null if another entry came first: then it is void.
   */
  async move(move, size, thoughtMs) {
    return this.#act("acts", { move }, { thought_ms: thoughtMs === null ? null : Math.max(0, Math.round(thoughtMs)) }, size);
  }

  /** An act of the table: `name` as in Intent, with its fields; `text` goes with it in words. */
  async act(name, fields, text = "") {
    if (!text) return this.#anywhere("table", { [name]: fields });
    const salt = crypto.getRandomValues(new Uint8Array(SALT_BYTES));
    const remark = await sha256(utf8(REMARK), salt, utf8(text));
    return this.#anywhere("table", { [name]: { ...fields, remark } }, { words: { salt, text } });
  }

  /** Names a new key, `{key, publicKey}`, which signs from the next act on. */
  async changeKey(next) {
    await this.#keep({ next });
    return this.act("change_key", { key: next.publicKey });
  }

  /** Sends again what may not have arrived. Throws NotEntered. */
  async resume() {
    await this.settle();
    await this.#serially(() => this.#finish());
  }

  /** Finds out from the entries what became of the act that is on its way. */
  async settle() {
    const { pending, next } = this.kept;
    // Why the referee refused it, only the answer says.
    if (pending && this.game.last >= pending.seq && !this.#isRefused(pending)) {
      this.#seen = this.game.head.size;
      await this.#keep({ pending: null, receipts: [this.game.head.checkpoint] });
    }
    for (const go of this.#waiting.splice(0)) go();
    // Named and used: the old key has ended.
    const newest = this.game.keysOf(this.seat).at(-1);
    if (next && newest && equal(newest, next.publicKey) && this.game.keysOf(this.seat).length === 1) {
      await this.#keep({ ...next, next: null });
    }
  }

  /** Everything that signs waits for what was signed before it. */
  #serially(work) {
    const done = this.#working.then(work);
    this.#working = done.catch(() => {});
    return done;
  }

  #place() {
    const { size, leaf } = this.game.head;
    return { gameId: this.game.gameId, size, leaf };
  }

  /** Does what is meant wherever the game stands: if another entry comes first, it is signed again after that one. Done when
   * its entry is there. */
  async #anywhere(path, act, more) {
    for (let tries = 1; ; tries++) {
      const { size } = this.game.head;
      const moved = this.#moved();
      const accepted = await this.#act(path, act, more);
      if (accepted) {
        while (this.game.last < accepted.seq) await this.#moved();
        return accepted;
      }
      if (this.game.isOver || tries === TRIES) throw new NotEntered({});
      if (this.game.head.size === size) await moved;
    }
  }

  /** Resolves with the next entry. */
  #moved() {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Resolves when the entries say what became of the act. */
  async #told(pending) {
    while (this.kept.pending === pending) await this.#moved();
  }

  /** `at`: after how many entries it is meant, if not wherever the game stands. */
  #act(path, act, more = {}, at = null) {
    return this.#serially(async () => {
      await this.#finish();
      const { gameId, size, leaf } = this.#place();
      if (at !== null && at !== size) return null;
      const intent = encode(Intent, { game_id: gameId, seq: size, prev: leaf, seat: this.seat, ...act });
      const signature = await sign(this.#signer(), intent);
      const schema = path === "acts" ? SubmitIntentRequest : SubmitActRequest;
      const body = encode(schema, { game_id: this.game.id, intent, signature, ...more });
      const pending = { seq: size, path, intent, body };
      // With the act: whatever becomes of this browser and the referee, one of them knows this head.
      const receipts = size > this.#seen ? [this.game.head.checkpoint] : this.kept.receipts;
      await this.#keep({ pending, receipts });
      return this.#send(pending);
    });
  }

  /** What was kept is sent before anything is signed after it. */
  async #finish() {
    const { pending } = this.kept;
    if (pending) await this.#send(pending);
  }

  /** The newest key that counts. */
  #signer() {
    const { next } = this.kept;
    const newest = this.game.keysOf(this.seat).at(-1);
    return next && newest && equal(newest, next.publicKey) ? next : this.kept;
  }

  /** Sends what is pending until it is answered; returns what was accepted. Throws NotEntered. */
  async #send(pending) {
    const told = this.#told(pending); // the stream may say what the answer did not
    for (let tries = 0; this.kept.pending === pending; tries++) {
      if (this.isStopped) throw new Stopped();
      const answer = await Promise.race([this.#attempt(pending), told]);
      if (answer) {
        this.on.sent();
        return this.#answered(pending, answer);
      }
      await Promise.race([pause(tries, this.leastMs), told]);
    }
    this.on.sent();
    return this.#isEntered(pending) || null; // null: another entry came first
  }

  #isEntered({ seq, intent }) {
    return equal(this.game.entries[seq].signed?.intent ?? new Uint8Array(), intent);
  }

  #isRefused({ seq, intent }) {
    return equal(this.game.entries[seq].refused?.intent ?? new Uint8Array(), intent);
  }

  /** The answer, or null if there is to be another attempt. */
  async #attempt({ path, body }) {
    try {
      return await post(`/games/${this.game.id}/${path}`, body, this.kept.token);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      // Only the referee's own refusal is an answer. Something on the way may say anything, and a fault says nothing of the act.
      if (!error.passes && error.reason && !FAULTS.has(error.reason)) return { failed: error };
      this.leastMs = error.waitMs;
      this.on.waiting(error);
      return null;
    }
  }

  async #answered(pending, { accepted, refused, failed }) {
    const isEntered = !failed && (!refused || refused.recorded);
    const receipts = isEntered ? [await this.#receipt(accepted ?? refused?.recorded, pending)] : this.kept.receipts;
    if (this.kept.pending === pending) await this.#keep({ pending: null, receipts });
    if (failed && VOID.has(failed.reason)) return null;
    if (failed) throw new NotEntered({ refused: failed });
    if (refused) throw new NotEntered(refused);
    return accepted;
  }

  /**
   * The checkpoint in an answer, as bytes: the referee's own, over the act. It is kept, and every history that is shown here
   * later has to contain it. Throws a Lie.
   */
  async #receipt(accepted, { seq, body }) {
    const bytes = fromBase64(accepted?.checkpoint ?? "") ?? new Uint8Array();
    try {
      const head = await openCheckpoint(bytes, await this.game.verifier());
      if (head.gameId !== this.game.id) throw new Refusal("WRONG_GAME", "an answer with a checkpoint of another game");
      if (Number(head.size) <= seq) throw new Refusal("CHECKPOINT", "an answer with a checkpoint that is older than the act");
      this.#seen = Number(head.size);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      throw new Lie(error, seq, { checkpoint: bytes, sent: body });
    }
    return bytes;
  }

  /** Changes what is kept; done when it is on the disk, in the order of the changes. */
  #keep(changes) {
    if (this.isStopped) throw new Stopped();
    this.kept = { ...this.kept, ...changes };
    const { kept } = this;
    this.#storing = this.#storing.then(() => vault.put(kept));
    return this.#storing;
  }
}
