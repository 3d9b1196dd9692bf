// One seat of a game: what it signs, keeps, and sends. Knows how the game stands, not how it is shown.
//
// What is signed is kept before it leaves, and is sent again as it was until the referee has answered: the same bytes get the
// first answer again, so that no break of the way makes two acts of one.

import { Refused, pause, post } from "../gateway.mjs";
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

/** So often an act that is meant wherever the game stands is signed again, while others play on. */
const TRIES = 8;

/** The act did not become an entry, and never will. `violations`: the rules that it breaks; or `refused`: the referee's reason. */
export class NotEntered extends Error {
  constructor({ violations = [], refused = null, recorded = null }) {
    super(refused?.message ?? "");
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
  #settled = null;
  #storing = Promise.resolve();

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

  async join() {
    const { publicKey, share } = this.kept;
    const { gameId } = this.#place();
    const commitment = this.game.opened.dealt ? await seatCommitment(gameId, this.seat, share) : null;
    return this.#anywhere("acts", { join: { key: publicKey, commitment } });
  }

  async reveal() {
    return this.#anywhere("acts", { reveal: { seed: this.kept.share } });
  }

  /** `move`: exact bytes; `thoughtMs`: since the turn was there. Returns null if another entry came first: then it is void. */
  async move(move, thoughtMs) {
    return this.#act("acts", { move }, { thought_ms: Math.max(0, Math.round(thoughtMs)) });
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
    if (this.isPending) await this.#serially(() => this.#send());
  }

  /** Finds out from the entries what became of the act that is on its way. */
  async settle() {
    const { pending, next } = this.kept;
    if (pending && this.game.last >= pending.seq) await this.#keep({ pending: null });
    this.#settled?.();
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

  /** Does what is meant wherever the game stands: if another entry comes first, it is signed again after that one. */
  async #anywhere(path, act, more) {
    for (let tries = 1; ; tries++) {
      const { size } = this.game.head;
      const moved = this.#moved();
      const accepted = await this.#act(path, act, more);
      if (accepted) return accepted;
      if (this.game.isOver || tries === TRIES) throw new NotEntered({});
      if (this.game.head.size === size) await moved;
    }
  }

  /** Resolves with the next entry. */
  #moved() {
    return new Promise((resolve) => (this.#settled = resolve));
  }

  #act(path, act, more = {}) {
    return this.#serially(async () => {
      if (this.isPending) await this.#send();
      const { gameId, size, leaf } = this.#place();
      const intent = encode(Intent, { game_id: gameId, seq: size, prev: leaf, seat: this.seat, ...act });
      const signature = await sign(this.#signer(), intent);
      const schema = path === "acts" ? SubmitIntentRequest : SubmitActRequest;
      const body = encode(schema, { game_id: this.game.id, intent, signature, ...more });
      await this.#keep({ pending: { seq: size, path, intent, body } });
      return this.#send();
    });
  }

  /** The newest key that counts. */
  #signer() {
    const { next } = this.kept;
    const newest = this.game.keysOf(this.seat).at(-1);
    return next && newest && equal(newest, next.publicKey) ? next : this.kept;
  }

  /** Sends what is pending until it is answered; returns what was accepted. Throws NotEntered. */
  async #send() {
    const { pending } = this.kept;
    if (!pending) return null;
    for (let tries = 0; ; tries++) {
      const answer = await this.#attempt(pending);
      if (answer) {
        this.on.sent();
        return this.#answered(pending, answer);
      }
      await pause(tries, this.leastMs);
      // The stream may tell what the answer did not.
      if (this.kept.pending !== pending) return this.#became(pending);
    }
  }

  /** What was accepted as the entries have it: true, or null if another entry came first. */
  #became({ seq, intent }) {
    this.on.sent();
    const { signed, refused } = this.game.entries[seq];
    return equal((signed ?? refused)?.intent ?? new Uint8Array(), intent) || null;
  }

  /** The answer, or null if there is to be another attempt. */
  async #attempt({ path, body }) {
    try {
      return await post(`/games/${this.game.id}/${path}`, body, this.kept.token);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (!error.passes) return { failed: error };
      this.leastMs = error.waitMs;
      this.on.waiting(error);
      return null;
    }
  }

  async #answered(pending, { accepted, refused, failed }) {
    const receipt = accepted ?? refused?.recorded;
    if (receipt) await this.#receive(receipt);
    if (this.kept.pending === pending) await this.#keep({ pending: null });
    if (failed && VOID.has(failed.reason)) return null;
    if (failed) throw new NotEntered({ refused: failed });
    if (refused) throw new NotEntered(refused);
    return accepted;
  }

  /** Keeps the newest checkpoint over an act of this seat: every history that is shown here later has to contain it. */
  async #receive({ checkpoint }) {
    const bytes = fromBase64(checkpoint);
    try {
      await openCheckpoint(bytes, await this.game.verifier());
    } catch (error) {
      if (error instanceof Refusal) return; // the stream brings it as well, and there it ends the page
      throw error;
    }
    await this.#keep({ receipts: [bytes] });
  }

  /** Changes what is kept; done when it is on the disk, in the order of the changes. */
  #keep(changes) {
    this.kept = { ...this.kept, ...changes };
    const { kept } = this;
    this.#storing = this.#storing.then(() => vault.put(kept));
    return this.#storing;
  }
}
