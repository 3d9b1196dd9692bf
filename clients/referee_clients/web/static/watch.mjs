// A game, live or entry by entry. A board is drawn only from bytes whose hash is in the log that the referee signed.

import { h } from "./dom.mjs";
import { entryWords } from "./entry_words.mjs";
import { Feed, Lie } from "./feed.mjs";
import { alhambra } from "./games/alhambra.mjs";
import { kingdomino } from "./games/kingdomino.mjs";
import { rollwrite } from "./games/rollwrite.mjs";
import { grid } from "./grid.mjs";
import { GAMES } from "./verify/schema.mjs";
import { decodeBody } from "./verify/wire.mjs";
import { w } from "./words.mjs";

const WATCHED = { alhambra, kingdomino, rollwrite };
const WAIT_MS = [500, 1000, 2000, 5000, 10000];

const id = location.pathname.split("/").at(-1);
const app = document.getElementById("app");
const state = document.getElementById("state");

/** What stops the page: nothing that it shows may be wrong. */
class Stop extends Error {}

const json = async (path) => {
  const response = await fetch(`/api/v1${path}`);
  const found = await response.json();
  if (!response.ok) throw Object.assign(new Error(found.message), { retry: response.status === 503 || response.status === 429 });
  return found;
};
const bytes = async (path) => {
  const response = await fetch(`/api/v1${path}`);
  if (!response.ok) throw Object.assign(new Error((await response.json()).message), { retry: response.status === 503 || response.status === 429 });
  return new Uint8Array(await response.arrayBuffer());
};
const fromBase64 = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

/** Every position of the game so far, each after four bytes of its length. */
const positionsOf = async (size) => {
  const found = [];
  while (found.length < size) {
    const data = await bytes(`/games/${id}/positions?from=${found.length}`);
    const before = found.length;
    for (let at = 0; at < data.length && found.length < size; ) {
      const length = new DataView(data.buffer, at).getUint32(0);
      found.push(data.subarray(at + 4, at + 4 + length));
      at += 4 + length;
    }
    if (found.length === before) break;
  }
  return found;
};

let feed;
let rules;
let game;
let shown = 0;
let isLive = true;
let stream = null;
let tries = 0;
let isOver = false;
let boards = [];

const stop = (headline, message) => {
  stream?.close();
  stream = null;
  state.textContent = headline;
  state.className = "problem";
  app.prepend(h("p", { role: "alert" }, message));
};

/** Open the game from its beginning, or again after a break: then it has to go on from what was seen. */
const open = async () => {
  const log = await bytes(`/games/${id}/log`);
  const isFirst = !feed;
  if (isFirst) {
    const { verifier_key: key } = await json("/key");
    const pinned = localStorage.getItem("verifier-key");
    if (pinned && pinned !== key) throw new Stop(w("watch.other_key", { pinned, key }));
    localStorage.setItem("verifier-key", key);
    feed = new Feed({ verifierKey: key });
  }
  await feed.open(log);
  const size = feed.head.size;
  await feed.open(log, await positionsOf(size));
  if (isFirst) {
    const { rules_id: name, rules_version: version, tables } = feed.gameOpen;
    rules = GAMES[name][version];
    const components = await (await fetch("/static/components.json")).json();
    game = WATCHED[name](decodeBody(rules.tables, tables), components[name]);
    document.getElementById("title").textContent = w("watch.title", { game: w(`game.${name}`), id: id.slice(0, 8) });
    document.title = `${w("watch.title", { game: w(`game.${name}`), id: id.slice(0, 8) })} – ${w("site")}`;
    build(feed.gameOpen.seats.length);
  }
};

const list = h("ol", { class: "entries", start: 0 });
const told = h("p", { class: "told", "aria-live": "polite" });
const at = h("span", {});
const table = h("dl", { class: "facts" });
const seats = h("div", { class: "boards" });
const key = (label, step) => h("button", { type: "button", "aria-label": w(label), onclick: step }, { "watch.first": "|◀", "watch.back_one": "◀", "watch.on_one": "▶", "watch.live": "▶|" }[label]);

const build = (count) => {
  boards = Array.from({ length: count }, (_, seat) => {
    const title = h("h2", {}, w("position.player", { n: seat }));
    const facts = h("dl", { class: "facts" });
    const board = grid(w("watch.board", { n: seat }), () => {});
    seats.append(h("section", { "aria-label": w("position.player", { n: seat }) }, title, h("div", { class: "scroll" }, board.element), facts));
    return { title, facts, board };
  });
  app.replaceChildren(
    h(
      "div",
      { class: "buttons", role: "group", "aria-label": w("watch.steps") },
      key("watch.first", () => go(0)),
      key("watch.back_one", () => go(shown - 1)),
      key("watch.on_one", () => go(shown + 1)),
      key("watch.live", () => go(feed.entries.length - 1)),
      at,
    ),
    told,
    seats,
    h("h2", {}, w("watch.table")),
    table,
    h("h2", {}, w("watch.entries")),
    list,
  );
};

const facts = (pairs) => pairs.flatMap(([label, value]) => [h("dt", {}, label), h("dd", {}, value)]);
const sentence = ({ who, what }) => (who ? w("entry.by", { who, what }) : what);

/** Show the position after an entry. */
const go = (n, follow = true) => {
  const last = feed.entries.length - 1;
  shown = Math.max(0, Math.min(last, n));
  isLive = shown === last;
  if (follow) history.replaceState(null, "", isLive ? location.pathname : `#e=${shown}`);
  draw();
};

const draw = () => {
  const entries = feed.entries;
  const position = feed.positionAt(shown);
  at.textContent = w("watch.of", { n: shown, all: entries.length - 1 });
  told.textContent = sentence(entryWords(entries[shown], rules, game));
  for (let n = list.children.length; n < entries.length; n++)
    list.append(h("li", { id: `entry-${n}` }, h("a", { href: `#e=${n}` }, sentence(entryWords(entries[n], rules, game)))));
  list.querySelector("[aria-current]")?.removeAttribute("aria-current");
  list.children[shown].firstChild.setAttribute("aria-current", "true");
  if (!position) return;
  table.replaceChildren(...facts(game.ofTable(position)));
  boards.forEach(({ board, facts: own, title }, seat) => {
    const { cells, cell, tight } = game.board(position, seat);
    const all = cells.map((each) => each.split(",").map(Number));
    const [xs, ys] = [all.map(([x]) => x), all.map(([, y]) => y)];
    const room = tight ? 0 : 1;
    const [left, top] = [Math.min(...xs) - room, Math.min(...ys) - room];
    board.show({ left, top, columns: Math.max(...xs) + room - left + 1, rows: Math.max(...ys) + room - top + 1, cell });
    own.replaceChildren(...facts(game.ofSeat(position, seat)));
    title.classList.toggle("turn", position.seat === seat && position.phase !== "OVER");
  });
  isOver = entries.some(({ event }) => event === "disclose" || event === "end");
  state.textContent = isOver ? w("watch.over") : isLive ? w("watch.is_live") : w("watch.replay");
  state.className = "";
};

/** Take what the referee commits from now on. A tab that nobody looks at has no stream. */
const follow = () => {
  if (stream || document.hidden || feed.lie) return;
  stream = new EventSource(`/api/v1/live?g=${id}:${feed.head.size - 1}`);
  stream.addEventListener("commit", async ({ data }) => {
    const { seq, entries, checkpoint, positions } = JSON.parse(data);
    if (seq + 1 <= feed.head.size) return;
    try {
      await feed.commit({ entries: entries.map(fromBase64), checkpoint: fromBase64(checkpoint), positions: positions.map(fromBase64) });
    } catch (error) {
      return failed(error);
    }
    tries = 0;
    if (isLive) go(feed.entries.length - 1, false);
    else draw();
  });
  stream.addEventListener("closing", ({ data }) => {
    const { reason } = JSON.parse(data);
    stream?.close();
    stream = null;
    if (reason !== "GAME_OVER") later();
  });
  // A stream that begins again by itself would begin where it began, and not where it broke off.
  stream.onerror = () => {
    stream?.close();
    stream = null;
    state.textContent = w("watch.broken");
    later();
  };
};

const later = () => {
  const wait = WAIT_MS[Math.min(tries++, WAIT_MS.length - 1)];
  setTimeout(follow, wait);
};

const failed = (error) => {
  if (error instanceof Lie) return stop(w("watch.lie"), w("watch.lie_why", { code: error.reason, entry: error.entry ?? "–", message: error.message }));
  if (error instanceof Stop) return stop(w("watch.lie"), error.message);
  stop(w("watch.failed"), error.message);
};

const start = async () => {
  if (!globalThis.crypto?.subtle) return stop(w("watch.stopped"), w("watch.insecure"));
  try {
    await open();
  } catch (error) {
    if (!error.retry) return failed(error);
    state.textContent = w("watch.broken");
    return void setTimeout(start, WAIT_MS[Math.min(tries++, WAIT_MS.length - 1)]);
  }
  const [, n] = /^#e=(\d{1,5})$/.exec(location.hash) ?? [];
  go(n === undefined ? feed.entries.length - 1 : Number(n), false);
  if (!isOver) follow();
};

addEventListener("hashchange", () => {
  const [, n] = /^#e=(\d{1,5})$/.exec(location.hash) ?? [];
  if (n !== undefined && feed?.head) go(Number(n), false);
});
addEventListener("keydown", (event) => {
  if (!feed?.head || event.target.closest("[role=grid], input") || event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.key === "ArrowLeft") go(shown - 1);
  else if (event.key === "ArrowRight") go(shown + 1);
  else return;
  event.preventDefault();
});
document.addEventListener("visibilitychange", () => {
  if (document.hidden) {
    stream?.close();
    stream = null;
  } else if (feed?.head && !isOver) follow();
});
start();
