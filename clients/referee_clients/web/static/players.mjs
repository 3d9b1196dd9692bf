// Names of players, which are told beside a game: what entry 0 commits to is proven, all else is told.

import { equal, sha256, utf8 } from "./verify/bytes.mjs";

const PLAYER_DOMAIN = "tile-referee/v1/player\0";
const PLAYER_SALT = 16;
const MOST_OF_NAME = 80;

/** Whether a name, with its salt, is what an opening or an entrant commits to by `player`. */
export const fits = async (player, name, salt) =>
  player.length === 32 && salt.length === PLAYER_SALT && equal(player, await sha256(utf8(PLAYER_DOMAIN), salt, utf8(name)));

const isName = (name) => typeof name === "string" && name.trim() !== "" && [...name].length <= MOST_OF_NAME && !/[\p{C}\u2028\u2029]/u.test(name);

/**
 * The names by seat, `{name, confirmed, source}` or null. `seats`: those of GameOpen, as they were checked; `told`: `{seat, name,
 * salt, source}` of each, by whomever. What is proven of one seat is shown at no other, whatever is told.
 */
export const namesOf = async (seats, told) => {
  const names = seats.map(() => null);
  const rest = [];
  for (const { seat, name, salt, source } of told) {
    if (!isName(name)) continue;
    const found = [];
    for (const [n, { player }] of seats.entries()) if (await fits(player, name, salt)) found.push(n);
    for (const n of found) names[n] = { name, confirmed: true, source };
    if (!found.length && seat in names) rest.push({ seat, name, source });
  }
  const proven = new Set(names.map((found) => found?.name));
  for (const { seat, name, source } of rest) if (!names[seat] && !proven.has(name)) names[seat] = { name, confirmed: false, source };
  return names;
};
