// The signers of entries, section 2 and TBL-40: the keys of seats, scribes and arbiters, entry by entry.

import { equal, join, playerAt, sha256, utf8 } from "./bytes.mjs";
import { isKey, verifies } from "./ed25519.mjs";

const INTENT_TYPE = "application/vnd.tile-referee.intent.v1+protobuf";

/** What DSSE has an author sign. */
export const signedBytes = (body) => join(utf8(`DSSEv1 ${INTENT_TYPE.length} ${INTENT_TYPE} ${body.length} `), body);

/** The keys of one game; `take` every entry that could be read, in their order. */
export class Authors {
  constructor(open) {
    this.open = open;
    /** By seat: the keys that can sign for it, the newest last; and those that have, from entry n to entry until. */
    this.keys = new Map();
    this.used = new Map();
  }

  copy() {
    const copy = new Authors(this.open);
    for (const [seat, keys] of this.keys) copy.keys.set(seat, [...keys]);
    for (const [seat, used] of this.used) copy.used.set(seat, used.map((each) => ({ ...each })));
    return copy;
  }

  /** What is wrong with the author of entry n, [code, message, facts], or null. */
  async take(n, entry) {
    return entry.intent ? ((await this.fault(entry)) ?? this.note(n, entry)) : null;
  }

  async fault({ intent, signed, refused }) {
    const { intent: body, signature, key_id: keyId } = signed ?? refused;
    const index = intent[intent.author];
    const who = intent.author === "seat" ? playerAt(index) : `${intent.author} ${index}`;
    const wrong = (code, message) => [code, message, { [intent.author]: index }];
    const known = intent.author === "seat" ? this.keys.get(index) : [this.open[`${intent.author}_keys`][index]];
    let candidates = known?.filter(Boolean) ?? [];
    if (intent.join) {
      if (intent.author !== "seat" || !this.open.seats[index]) return wrong("AUTHOR", `no ${who} to join`);
      candidates = [intent.join.key];
      if (!isKey(intent.join.key)) return wrong("KEY", `${who} joins with a weak key`);
    }
    if (!candidates.length) return wrong("AUTHOR", `${who} has no key`);
    const key = await withId(candidates, keyId);
    if (!key) return wrong("AUTHOR_SIGNATURE", `${who}: the key id of another key`);
    if (!(await verifies(key, signedBytes(body), signature))) return wrong("AUTHOR_SIGNATURE", `the signature of ${who} is wrong`);
    return null;
  }

  /** What an act makes of the keys of seats (TBL-40). */
  async note(n, { intent, signed, refused }) {
    const { keys, used } = this;
    const { author, seat } = intent;
    /** From this entry on these keys of a seat count, and no others. */
    const count = (whose, those) => {
      keys.set(whose, those);
      for (const each of used.get(whose)) if (!those.some((key) => equal(key, each.key))) each.until ??= n - 1;
    };
    if (intent.join) {
      if (used.has(seat)) return null;
      keys.set(seat, [intent.join.key]);
      used.set(seat, [{ n, key: intent.join.key }]);
      return null;
    }
    if (author === "seat") {
      const newest = keys.get(seat).at(-1);
      if (await withId([newest], (signed ?? refused).key_id)) {
        count(seat, [newest]);
        if (!equal(used.get(seat).at(-1).key, newest)) used.get(seat).push({ n, key: newest });
      }
    }
    if (!intent.change_key || author === "scribe" || !(this.open.terms?.table_rules > 1)) return null;
    const whose = author === "seat" ? seat : intent.change_key.seat;
    if (!used.has(whose)) return null;
    if (!isKey(intent.change_key.key)) return ["KEY", `a weak key for ${playerAt(whose)}`, { seat: whose }];
    count(whose, [...(author === "seat" ? keys.get(seat).slice(0, 1) : []), intent.change_key.key]);
    return null;
  }
}

/** The key that has this id, or undefined. */
async function withId(keys, id) {
  for (const key of keys) if (equal(id, (await sha256(key)).subarray(0, 8))) return key;
  return undefined;
}
