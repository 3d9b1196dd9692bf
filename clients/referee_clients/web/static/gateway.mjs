// Requests to the gateway: JSON, bytes, and one stream of events in some games. Nothing of it is believed here.

export const API = "/api/v1";
const WAIT_MS = [500, 1000, 2000, 5000, 10000];
/** The gateway says something every 10 s. A phone that changed its network is told nothing of the old connection. */
const SILENCE_MS = 30000;
/** What the gateway says in words, it says in the page's language. */
export const SPOKEN = { "Accept-Language": document.documentElement.lang };
/** How long an answer is waited for: longer than the gateway waits. */
const ANSWER_MS = 60000;

/** The gateway refused, or did not answer: then `status` is 0. */
export class Refused extends Error {
  constructor(status, { reason, message, metadata = {} } = {}, waitMs = 0) {
    super(message ?? "");
    Object.assign(this, { name: "Refused", status, reason: reason ?? "", metadata, waitMs });
  }

  /** Whether the same question may be answered later. */
  get passes() {
    return this.status === 0 || (this.status === 429 && this.waitMs > 0) || this.status >= 502;
  }

  /** Whether what was asked for may have been done all the same: nobody said that it was not. */
  get isInDoubt() {
    return this.status === 0 || this.status === 500 || this.status >= 502;
  }
}

/** The answer to a question, or a Refused. `options`: as `fetch` has them. */
const ask = async (address, options) => {
  let response;
  try {
    response = await fetch(address, { signal: AbortSignal.timeout(ANSWER_MS), ...options, headers: { ...SPOKEN, ...options?.headers } });
  } catch {
    throw new Refused(0);
  }
  if (response.ok) return response;
  const said = await response.json().catch(() => ({}));
  throw new Refused(response.status, said, 1000 * Number(response.headers.get("retry-after") ?? 0));
};

/** The answer to a question, read as `how` says (a method of Response), or a Refused. */
export const read = async (address, how, options) => {
  const response = await ask(address, options);
  try {
    return await response[how]();
  } catch {
    throw new Refused(0);
  }
};

/** Begins a stream and leaves it at once. Throws nothing: it may be refused, or not be answered. */
export const touch = async (path, headers) => {
  const attempt = new AbortController();
  await ask(API + path, { signal: attempt.signal, headers }).catch(() => {});
  attempt.abort();
};

/** The answer to a question; with a token, or without one. */
export const json = (path, token = "") => read(API + path, "json", token ? { headers: { Authorization: `Bearer ${token}` } } : {});
export const bytes = async (path) => new Uint8Array(await read(API + path, "arrayBuffer"));
/** One of the gateway's own files, of JSON. */
export const file = (path) => read(`/static/${path}`, "json");

/** How long to wait before the nth attempt. */
export const pause = (tries, leastMs = 0) => new Promise((done) => setTimeout(done, Math.max(leastMs, WAIT_MS[Math.min(tries, WAIT_MS.length - 1)])));

/** `[kind, data]` of each event of a stream, as they come; ends with the stream. */
async function* events(response, alive) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    // A break is an end like any other: what follows is asked for anew.
    const { done, value } = await reader.read().catch(() => ({ done: true }));
    if (done) return;
    alive();
    const parts = (rest + value).split("\n\n");
    rest = parts.pop();
    for (const part of parts) {
      const [, kind, data] = /^event: (.*)\ndata: (.*)$/.exec(part) ?? [];
      if (kind) yield [kind, JSON.parse(data)];
    }
  }
}

const live = (places) => `/live?g=${places.map(([id, n]) => `${id}:${n}`).join(",")}`;

/**
 * Follows games on one stream, which goes on by itself after any break. A tab that nobody looks at has none, unless it
 * `stays`: browsers open only six connections to a server. `at(places)`, `headers`: of another stream than that for all.
 *
 * `places()`: the games to follow, each with the last entry that is known, as [[id, n]…]; none: nothing is followed.
 * `on.commit(data)`, `on.clock(data)`: what came, one after the other. `on.open()`, `on.cut()`: the stream is there, it broke.
 * `on.refused(error)`: the gateway does not give these games for a reason that does not pass; resolve to go on, or throw.
 * `on.failed(error)`: what one of these threw; nothing is followed any more.
 */
export const follow = (places, on, { stays = false, at = live, headers } = {}) => {
  let running = null;
  let tries = 0;

  const run = async (mine) => {
    while (running === mine && places().length) {
      let leastMs = 0;
      let timer;
      const attempt = new AbortController();
      const giveUp = () => attempt.abort();
      mine.signal.addEventListener("abort", giveUp);
      const alive = () => {
        clearTimeout(timer);
        timer = setTimeout(giveUp, SILENCE_MS);
      };
      try {
        alive();
        const response = await ask(API + at(places()), { signal: attempt.signal, headers });
        on.open();
        for await (const [kind, data] of events(response, alive)) {
          if (running !== mine) return;
          if (kind === "commit") await on.commit(data);
          else if (kind === "clock") on.clock(data);
          tries = 0;
        }
      } catch (error) {
        if (running !== mine) return;
        if (!(error instanceof Refused)) throw error;
        leastMs = error.waitMs;
        if (!error.passes) await on.refused(error);
      } finally {
        clearTimeout(timer);
        mine.signal.removeEventListener("abort", giveUp);
        giveUp();
      }
      if (running !== mine || !places().length) return;
      on.cut();
      await pause(tries++, leastMs);
    }
  };

  const stop = () => {
    running?.abort();
    running = null;
  };
  const start = () => {
    if (running || (document.hidden && !stays) || !places().length) return;
    running = new AbortController();
    const mine = running;
    run(mine).catch(on.failed).finally(() => running === mine && stop());
  };
  document.addEventListener("visibilitychange", () => (document.hidden && !stays ? stop() : start()));
  return { start, stop };
};
