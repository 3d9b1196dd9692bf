// The deck of section 6: commitments, key, streams. What a game deals from them is its rules'.

import { equal, hmac, playerAt, sha256, u32, utf8 } from "./bytes.mjs";

export const refereeCommitment = (seed) => sha256(utf8("tile-referee/v1/ref-commit\0"), seed);

export const seatCommitment = (gameId, seat, seed) =>
  sha256(utf8("tile-referee/v1/seat-commit\0"), gameId, Uint8Array.of(seat), seed);

/** Whether the seeds of a dealt game open their commitments; ask of every entry that could be read, in their order. */
export class Seeds {
  constructor(open, gameId) {
    Object.assign(this, { open, gameId, commitments: new Map() });
  }

  copy() {
    return Object.assign(new Seeds(this.open, this.gameId), { commitments: new Map(this.commitments) });
  }

  /** What is wrong with the seed in an entry, [code, message, facts], or null. */
  async fault({ signed, intent, disclose }) {
    if (!this.open.dealt) return null;
    if (signed && intent.join && !this.commitments.has(intent.seat)) this.commitments.set(intent.seat, intent.join.commitment);
    const seed = signed && intent.reveal?.seed;
    const committed = this.commitments.get(intent?.seat);
    if (seed && committed && !equal(committed, await seatCommitment(this.gameId, intent.seat, seed))) {
      return ["DECK", `the seed of ${playerAt(intent.seat)} is not the one it committed to`, { seat: intent.seat }];
    }
    if (disclose && !equal(this.open.dealt.commitment, await refereeCommitment(disclose.seed))) {
      return ["DECK", "the referee's seed is not the one it committed to"];
    }
    return null;
  }
}

/** K, of r and the p_i of the seats that joined, in their order. */
export async function deckKey(seed, gameId, seats) {
  return hmac(seed, await sha256(utf8("tile-referee/v1/deck-key\0"), gameId, ...seats));
}

/** The words of one label, from its block 0 on. */
export class Stream {
  constructor(key, label) {
    Object.assign(this, { key, label, blocks: 0n, words: [] });
  }

  async word() {
    if (!this.words.length) {
      const message = utf8(`tile-referee/v1/${this.label}\0${"\0".repeat(8)}`);
      new DataView(message.buffer).setBigUint64(message.length - 8, this.blocks++);
      const block = await hmac(this.key, message);
      for (let at = 0; at < 32; at += 4) this.words.push(u32(block, at));
    }
    return this.words.shift();
  }

  async uniform(n) {
    let word;
    do word = await this.word();
    while (word >= 2 ** 32 - (2 ** 32 % n));
    return word % n;
  }

  async permutation(n) {
    const list = Array.from({ length: n }, (_, index) => index);
    for (let i = n - 1; i > 0; i--) {
      const j = await this.uniform(i + 1);
      [list[i], list[j]] = [list[j], list[i]];
    }
    return list;
  }
}
