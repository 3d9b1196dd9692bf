// How somebody gets a key for a seat: a new one, saved as a file first; the file of before; or a new one for an arbiter to name.

import { h, saveFile as save } from "../dom.mjs";
import { Refused } from "../gateway.mjs";
import { post } from "../sending.mjs";
import { hex } from "../verify/bytes.mjs";
import { w } from "../words.mjs";
import { NoKey, locked, made, pemOf, readPem, shareOf } from "./keys.mjs";
import { termsOf } from "./terms.mjs";
import { idOf } from "./vault.mjs";

const MOST_FILE = 4096;

/** Gives a key to be saved as a file. */
export const saveFile = (name, text) => save(name, text, "application/x-pem-file");

/** A field that reads a key file; `read(pkcs8)` gets its bytes, or null if it is none. */
export const keyFile = (label, read) => {
  const bytesOf = async (file) => {
    try {
      return file.size > MOST_FILE ? null : readPem(await file.text());
    } catch (error) {
      if (error instanceof NoKey) return null;
      throw error;
    }
  };
  const chosen = async ({ target }) => {
    const [file] = target.files;
    if (file) await read(await bytesOf(file));
    target.value = "";
  };
  return h("label", { class: "above" }, w(label), h("input", { type: "file", accept: ".pem,.key", onchange: chosen }));
};

/** What the vault keeps of a seat, from the bytes of its key. */
const keptOf = async ({ game, seat, token }, pkcs8) => ({
  id: idOf(game.id, seat),
  game: game.id,
  seat,
  token,
  ...(await locked(pkcs8)),
  share: await shareOf(pkcs8, game.gameId),
  pending: null,
  next: null,
  receipts: [],
});

/** Somebody may be away for days, and browsers forget what was not visited for a week. */
const isLong = (game) => game.opened.terms?.clock?.control === "correspondence";

/** Keys can be changed: not before play, as a seat's share of the deck follows from its key (TBL-40). */
const isPlayed = (game) => !["joining", "revealing"].includes(game.standingAt(game.last).is);

/** Gives the referee a name for the seat that the token is for. Throws Refused. */
const ask = ({ game, seat, token }, name) => post(`/games/${game.id}/name`, { seat, name }, token);

/**
 * The panel for a seat, `{game, seat, token}`, that is free or `isTaken`. `done(kept, joins)`: there is a key, and
 * perhaps the wish to take the seat with it. `misfit(kept)`: why a key is not one of a taken seat, in words, or null.
 */
export const taking = (place, { isTaken, done, misfit }) => {
  const { game, seat } = place;
  const problem = h("p", { class: "problem", role: "alert" });
  const name = `seat-${game.id.slice(0, 8)}-${seat}.pem`;
  let fresh = null;
  let isBusy = false;

  /** One thing at a time, however quickly somebody taps. */
  const attempt = (work) => async (event) => {
    if (isBusy) return;
    isBusy = true;
    problem.textContent = "";
    try {
      await work(event);
    } catch (error) {
      if (!(error instanceof NoKey)) throw error;
      problem.textContent = w(`seat.key.${error.reason}`);
    } finally {
      isBusy = false;
    }
  };
  const button = (key, work, more = {}) => h("button", { type: "button", onclick: attempt(work), ...more }, w(key));

  const field = (key, opens) =>
    keyFile(
      key,
      attempt(async (pkcs8) => {
        if (!pkcs8) throw new NoKey("file");
        await opens(pkcs8);
      }),
    );
  const opened = field("seat.open", async (pkcs8) => {
    const kept = await keptOf(place, pkcs8);
    const why = misfit(kept);
    if (why) problem.textContent = why;
    else await done(kept);
  });

  // A free seat: save, prove it where days may pass, take.
  const called = h("input", { autocomplete: "name", maxlength: 80 });
  let warned = "";
  /** Tells the referee the name, if one is typed; false: it has to be thought over. */
  const named = async () => {
    const text = called.value.trim();
    if (!text || text === warned || game.names[seat]) return true;
    try {
      const { alike } = await ask(place, text);
      if (!alike.length) return true;
      problem.textContent = w("seat.name.alike", { player: alike[0] });
      warned = text;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      problem.textContent = error.message || w("seat.no_answer");
    }
    return false;
  };
  const take = button("seat.take", async () => (await named()) && done(await keptOf(place, fresh), true), { disabled: true, class: "primary" });
  const saved = h("p", { role: "status" });
  const proof = field("seat.prove", async (pkcs8) => {
    if (!fresh || hex(pkcs8) !== hex(fresh)) throw new NoKey("other");
    saved.textContent = w("seat.proven");
    take.disabled = false;
  });
  const make = button("seat.save", async () => {
    fresh ??= await made();
    saveFile(name, pemOf(fresh));
    saved.textContent = w("seat.saved", { name });
    proof.hidden = !isLong(game);
    take.disabled = isLong(game);
  });
  proof.hidden = true;
  const knownAs = game.names[seat];
  const free = [
    knownAs ? h("p", {}, w("seat.name.known", { player: knownAs.name })) : h("label", { class: "above" }, w("seat.name"), called),
    h("p", {}, w(isLong(game) ? "seat.take.long" : "seat.take.about")),
    h("ol", { class: "steps" }, h("li", {}, make, saved, proof), h("li", {}, take)),
    h("details", {}, h("summary", {}, w("seat.have_key")), opened),
  ];

  // A taken one: the file, or a new key that an arbiter has to name.
  const key = h("output", { class: "key" });
  const anew = button("seat.save_new", async () => {
    fresh ??= await made();
    saveFile(name, pemOf(fresh));
    key.textContent = hex((await locked(fresh)).publicKey);
    told.hidden = false;
  });
  const told = h("p", { hidden: true }, w("seat.new_key"), " ", key);
  const known = [
    h("p", {}, w("seat.taken.about")),
    opened,
    h(
      "details",
      {},
      h("summary", {}, w("seat.lost_key")),
      ...(isPlayed(game) ? [h("p", {}, w("seat.lost_key.about")), anew, told] : [h("p", {}, w("seat.lost_key.early"))]),
    ),
  ];

  return h(
    "section",
    { class: "verdict taking", "aria-labelledby": "taking-title" },
    h("h2", { id: "taking-title" }, w(isTaken ? "seat.taken" : "seat.title", { player: seat })),
    h("dl", { class: "facts" }, termsOf(game).flatMap(([label, value]) => [h("dt", {}, label), h("dd", {}, value)])),
    isTaken ? known : free,
    problem,
  );
};
