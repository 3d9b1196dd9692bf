// The open games, those first at which somebody waits for an arbiter. What a list says is not signed.

import { h } from "../dom.mjs";
import { json } from "../gateway.mjs";
import { clockWords, leftMs, whereWords } from "../standing.mjs";
import { player, w } from "../words.mjs";

const OPEN = ["joining", "revealing", "playing", "paused", "adjourned", "result_open"];
const OCCASIONS = { event: "event_id", round: "round", table: "table" };
const MOST_PAGES = 20;

/** All pages of one question, as a list. */
const pagesOf = async (path, token) => {
  const found = [];
  let page = "";
  for (let n = 0; n < MOST_PAGES; n++) {
    const answer = await json(`${path}page=${encodeURIComponent(page)}`, token);
    found.push(answer);
    page = answer.next_page;
    if (!page) break;
  }
  return found;
};

/** Every open game by its id, with what the token shows beside (`status`), and the referee's time, null without a token. */
export const openGames = async (token) => {
  const asked = OPEN.map((state) => pagesOf(`/games?state=${state}&`, ""));
  const [seen, ...listed] = await Promise.all([token ? pagesOf("/status?", token) : [], ...asked]);
  const games = new Map(listed.flat().flatMap((page) => page.games.map((game) => [game.id, { ...game, status: null }])));
  for (const { games: known } of seen) for (const status of known) if (games.has(status.id)) games.get(status.id).status = status;
  return { games, now: seen.length ? { ms: seen[0].now_ms, at: performance.now() } : null };
};

export const isWanted = ({ status, open_disputes: disputes }) => Boolean(status?.calls.length) || disputes.length > 0;

/** Whether a game is of the occasion that was typed; what is not typed is any. An event's number is text. */
export const isOf = (game, occasion) =>
  Object.entries(OCCASIONS).every(([name, field]) => occasion[name] === undefined || String(game[field]) === String(occasion[name]));

const seatWords = (game, now) => (seat) => {
  const { status, clocks } = game;
  const clock = clocks[seat];
  const left = clock && now && clockWords(leftMs(clock, now.ms, performance.now() - now.at));
  const isAway = status && !status.seats[seat]?.connected && !status.seats[seat]?.scribed;
  const more = [left, isAway && w("desk.away")].filter(Boolean).join(", ");
  return more ? w("desk.seat.more", { player: seat, more }) : player(seat);
};

const signsOf = (game) => {
  const calls = game.status?.calls.length ?? 0;
  return [calls && w("desk.calls", { n: calls }), game.open_disputes.length > 0 && w("desk.disputes", { n: game.open_disputes.length })].filter(Boolean);
};

/** A game in the list; the link chooses it. */
export const line = (game, now, chosen) => {
  const { id, rules_id: rules, state, awaited_seats: awaited } = game;
  const signs = signsOf(game);
  return h(
    "li",
    {},
    h(
      "a",
      { href: `#${id}`, "aria-current": id === chosen ? "true" : false },
      h("strong", {}, signs.length > 0 && "! ", rules ? w("watch.title", { game: w(`game.${rules}`), id: id.slice(0, 8) }) : w("wall.game", { id: id.slice(0, 8) })),
      signs.length > 0 && h("span", { class: "signs" }, signs.join(" ")),
      h("span", {}, [w(`home.state.${state.toLowerCase()}`), awaited.length > 0 && w("desk.awaited", { players: awaited.map(seatWords(game, now)).join("; ") })].filter(Boolean).join(" ")),
      h("span", { class: "source" }, whereWords(game)),
    ),
  );
};
