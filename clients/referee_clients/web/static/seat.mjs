// The page of one seat: it is taken with a link, and played by hand. The key never leaves this browser but as a file.

import { forget as taken, isSeat, ofText, place } from "./seat/link.mjs";
import { chooserOf } from "./choosing/chooser.mjs";
import { h } from "./dom.mjs";
import { Lie } from "./feed.mjs";
import { Game, pinKey, showTrouble } from "./game.mjs";
import { Refused, follow, touch } from "./gateway.mjs";
import { NoKey } from "./seat/keys.mjs";
import { Table } from "./seat/playing.mjs";
import { fits } from "./seat/player.mjs";
import { base64 } from "./verify/bytes.mjs";
import { saveFile, taking } from "./seat/taking.mjs";
import * as vault from "./seat/vault.mjs";
import { naming, w } from "./words.mjs";

const app = document.getElementById("app");
const state = document.getElementById("state");
const title = document.getElementById("title");

const tell = (words, isProblem = false) => {
  if (state.textContent !== words) state.textContent = words;
  state.className = isProblem ? "problem" : "";
};

/** Nothing can go on: says why, and what to do. */
const stop = (key, places = {}) => {
  tell(w("seat.stopped"), true);
  document.getElementById("stopped").append(h("div", { class: "verdict", role: "alert" }, h("p", {}, w(key, places))));
};

// --- which seat --------------------------------------------------------------------------------------------------

/** Whoever comes without a link chooses among the seats of this browser, or gives a link. */
const choose = async () => {
  const kept = await vault.all();
  const link = ({ game, seat }) => h("a", { href: `#${game}/${seat}` }, w("seat.kept", { player: seat, id: game.slice(0, 8) }));
  const problem = h("p", { class: "problem", role: "alert" });
  const input = h("input", { type: "text", autocomplete: "off", spellcheck: "false" });
  const submit = (event) => {
    event.preventDefault();
    const place = ofText(input.value);
    if (!place) return (problem.textContent = w("seat.bad_link"));
    input.value = "";
    return enter(place);
  };
  tell("");
  app.replaceChildren(
    kept.length > 0 && h("section", {}, h("h2", {}, w("seat.yours")), h("ul", { class: "choices" }, kept.map((each) => h("li", {}, link(each))))),
    h("form", { onsubmit: submit }, h("label", { class: "above" }, w("seat.link"), input), h("button", { type: "submit" }, w("seat.go")), problem),
  );
};

// --- one tab a seat ----------------------------------------------------------------------------------------------

/** Runs while this tab has the seat; another one may take it over. `lost()`: it did. */
const alone = (id, run, lost) => {
  const hold = (steal) =>
    navigator.locks.request(`seat ${id}`, steal ? { steal: true } : { ifAvailable: true }, async (lock) => {
      if (!lock) return ask();
      await run();
      return new Promise(() => {}); // until the tab is closed
    }).catch((error) => (error.name === "AbortError" ? lost() : failed(error)));
  const ask = () => {
    tell(w("seat.elsewhere"), true);
    const here = () => {
      app.replaceChildren();
      hold(true);
    };
    app.replaceChildren(h("button", { type: "button", class: "primary", onclick: here }, w("seat.here")));
  };
  return hold(false);
};

// --- the game ----------------------------------------------------------------------------------------------------

let game = null;
let stream = null;
let table = null;
let isLost = false;
let isConnected = false;
/** The stream of the seat after an entry, and what it is asked with; there is none before the seat is known. */
let told = null;
/** Brings a page without a table up to date. */
let redraw = () => {};
const NOT_ADMITTED = new Set([401, 403]);

/** Nothing more is followed, signed or kept here. */
const leave = () => {
  isLost = true;
  stream?.stop();
  table?.stop();
  scrollTo(0, 0); // where it is said why
};

/** The referee may lack what it had signed: it is shown that, and stops the game for everybody if it does. */
const isSetBack = (error) => {
  if (error instanceof Refused) return error.reason === "SET_ASIDE";
  if (!(error instanceof Lie && ["STALE", "FORK"].includes(error.reason))) return false;
  if (told) void touch(told.at(-1), told.headers);
  return true;
};

const failed = (error) => {
  if (isLost) return;
  leave();
  if (error instanceof vault.NoVault) return stop("seat.no_vault");
  if (error instanceof NoKey) return stop(`seat.key.${error.reason}`);
  tell(showTrouble(error, game ?? { id: "", isOpen: false }, isSetBack(error) ? [w("seat.set_back")] : []), true);
};

const enter = async ({ game: id, seat, token }) => {
  history.replaceState(null, "", `${location.pathname}#${id}/${seat}`);
  await alone(
    vault.idOf(id, seat),
    () => open(id, seat, token),
    () => {
      leave();
      app.replaceChildren();
      stop("seat.lost");
    },
  );
};

const open = async (id, seat, token) => {
  let kept = await vault.get(vault.idOf(id, seat));
  if (kept && token && kept.token !== token) await vault.put((kept = { ...kept, token }));
  if (!kept && !token) return stop("seat.no_token");
  const newest = () => game.head?.checkpoint ?? kept?.receipts[0];
  const shown = () => (newest() ? `&checkpoint=${encodeURIComponent(base64(newest()))}` : "");
  told = { at: (n) => `/games/${id}/seat?after=${n}${shown()}`, headers: { Authorization: `Bearer ${token || kept.token}` } };
  game = new Game(id, kept?.receipts);
  await game.arrive(() => tell(w("watch.broken"), true));
  naming(game.called);
  title.textContent = w("seat.of", { player: seat, game: game.title });
  document.title = `${title.textContent} – ${w("site")}`;
  if (!game.opened.seats[seat]) return stop("seat.none", { player: seat });
  if (game.opened.seats[seat].scribed) return stop("seat.scribed", { player: seat });

  // Now, and not when the seat is taken: it can be taken while the gateway is away.
  const chooser = await chooserOf(game);
  const play = async (key, joins = false) => {
    const mine = { ...key, receipts: kept?.receipts ?? [] };
    await vault.put(mine);
    taken(mine);
    navigator.storage?.persist?.();
    const forget = async () => {
      await vault.remove(mine.id);
      location.assign(location.pathname);
    };
    table = new Table(game, mine, chooser, { tell, saveFile, failed, forget, misfit: () => ask(mine, seat, mine.token, play) });
    table.connected(isConnected);
    app.replaceChildren(table.element);
    await table.start(joins);
  };
  if (kept && fits(game, kept)) await play(kept);
  else ask(kept, seat, token || kept.token, play);
  stream = follow(
    () => (isLost || game.isOver ? [] : [[id, game.last]]),
    {
      open: () => {
        isConnected = true;
        table?.connected(true);
      },
      commit: async (data) => {
        const first = game.last + 1;
        await game.take(data);
        naming(game.called);
        if (table) await table.took(first);
        else redraw();
      },
      clock: (data) => {
        game.tell(data);
        table?.tick();
      },
      cut: () => {
        isConnected = false;
        game.forgetClocks();
        table?.connected(false);
      },
      refused: async (error) => {
        if (error.reason === "SET_ASIDE") throw error;
        if (!NOT_ADMITTED.has(error.status)) return game.open();
        leave();
        return stop("seat.not_admitted", { message: error.message });
      },
      failed,
    },
    // The referee then knows that the player is there.
    { stays: true, at: ([[, n]]) => told.at(n), headers: told.headers },
  );
  stream.start();
  setInterval(() => !isLost && table?.tick(), 500);
};

/** There is no key here that fits. */
const ask = (kept, seat, token, play) => {
  tell("");
  table?.stop();
  table = null;
  const isTaken = game.keysOf(seat).length > 0;
  redraw = () => game.keysOf(seat).length > 0 !== isTaken && ask(kept, seat, token, play); // somebody took it
  const misfit = (mine) => (fits(game, mine) ? null : w("seat.misfit"));
  const panel = taking({ game, seat, token }, { isTaken, misfit, done: (...key) => play(...key).catch(failed) });
  app.replaceChildren(panel);
};

const start = async () => {
  if (!globalThis.crypto?.subtle) return stop("seat.key.insecure");
  pinKey();
  if (place) await enter(place);
  else await choose();
};

addEventListener("hashchange", () => isSeat(location.hash) && location.reload());
start().catch(failed);
