// Every word that a reader sees, as the page holds those that it needs, in its language. Sentences have {places}; what is
// worded by a number has forms, by CLDR's plural categories, and names the place whose number decides.

const catalogue = JSON.parse(document.getElementById("words").textContent);
const plural = new Intl.PluralRules(document.documentElement.lang);

const upper = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** The names of the players by seat, empty where there is none. */
let named = [];

/** Says the names of a game's players: from now on, or while `draw` runs, whose result is returned. */
export const naming = (names, draw) => {
  const before = named;
  named = names;
  if (!draw) return undefined;
  try {
    return draw();
  } finally {
    named = before;
  }
};

/** A player as people say it: the name as it is, or "player 1" for seat 0. */
export const player = (seat, name = named[seat]) => name || w("player", { n: seat + 1 });

/** The same where a sentence or a line begins: a name stays as it is. */
export const firstPlayer = (seat, name = named[seat]) => name || upper(w("player", { n: seat + 1 }));

// Whom a text names is a seat, from 0, or a name.
const called = (who) => (typeof who === "number" ? player(who) : who);
const calledFirst = (who) => (typeof who === "number" ? firstPlayer(who) : who);

/** "Anna, player 2 and player 3", of seats or names. */
export const players = (some) => {
  const words = some.map(called);
  return words.length > 1 ? `${words.slice(0, -1).join(", ")}${w("and")}${words.at(-1)}` : words.join("");
};

const PEOPLE = {
  player: ({ player: who }) => who !== undefined && called(who),
  Player: ({ player: who }) => who !== undefined && calledFirst(who),
  players: ({ players: some }) => (Array.isArray(some) ? players(some) : some),
};

/** The words of a key, with its places filled. A key that does not exist is a mistake of ours, and throws. */
export const w = (key, places = {}) => {
  if (!(key in catalogue)) throw new Error(`no words for ${key}`);
  const words = catalogue[key];
  const text = typeof words === "string" ? words : words[plural.select(Number(places[words.of]))];
  return text.replace(/\{(\w+)\}/g, (_, name) => {
    if (!(name.toLowerCase() in places)) throw new Error(`${key} needs ${name}`);
    return String(name in PEOPLE ? PEOPLE[name](places) : places[name]);
  });
};
