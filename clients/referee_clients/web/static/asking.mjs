// Asking the gateway: one question at a time, the newest next.

import { SPOKEN } from "./gateway.mjs";

/** How long an answer is waited for: longer than the gateway waits. */
const ANSWER_MS = 40_000;
/** How long an older question is still waited for when there is a newer one. */
const PATIENCE_MS = 1_000;
/** When to ask again, where nobody says it. */
const AGAIN_S = 3;

/** The answer to a question; or `{error, reason, again}`: in words, as the gateway's reason, and in how many seconds to
 * ask again, if that can help. Without a reason nobody answered.
 */
export const ask = async (where, question, { signal, headers = {} } = {}) => {
  try {
    const response = await fetch(`/api/v1/${where}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...SPOKEN, ...headers },
      body: JSON.stringify(question),
      signal,
    });
    const found = await response.json();
    if (response.ok) return found;
    return { error: found.message, reason: found.reason, again: Number(response.headers.get("Retry-After")) || null };
  } catch {
    return { error: null, reason: null, again: AGAIN_S };
  }
};

/** A function that does `work` for its newest call: while one runs the next waits, and those between are left out.
 * `work` gets a signal that says when it is given up.
 */
export const newest = (work) => {
  let running = null;
  let isNext = false;
  return async () => {
    if (running) {
      if (!isNext) setTimeout((older) => older.abort(), PATIENCE_MS, running);
      isNext = true;
      return;
    }
    do {
      isNext = false;
      running = new AbortController();
      const late = setTimeout((mine) => mine.abort(), ANSWER_MS, running);
      await work(running.signal);
      clearTimeout(late);
    } while (isNext);
    running = null;
  };
};
