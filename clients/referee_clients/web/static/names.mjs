// The names of a game's players, as the referee tells them and entry 0 proves them.

import { h } from "./dom.mjs";
import { json } from "./gateway.mjs";
import { fromHex } from "./verify/bytes.mjs";
import { w } from "./words.mjs";

const NO_SALT = new Uint8Array(0);
const saltOf = (digits) => {
  try {
    return fromHex(digits);
  } catch {
    return NO_SALT;
  }
};

/** What the referee tells of the names of some games, by id: lists of `{seat, name, salt, source}`. No answer: no names. */
export const toldNames = async (ids) => {
  const found = await json(`/names?g=${ids.join(",")}`).catch(() => ({ games: {} }));
  return new Map(
    Object.entries(found.games).map(([id, names]) => [id, names.map(({ seat, name, salt, source }) => ({ seat, name, salt: saltOf(salt), source }))]),
  );
};

/** What stands beside a name that the opening does not prove. */
export const nameMark = (found) =>
  found && !found.confirmed && h("span", { class: "told-by" }, w(found.source === "PLAYER" ? "names.player" : "names.organiser"));
