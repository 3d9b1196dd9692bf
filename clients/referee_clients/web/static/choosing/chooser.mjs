// What a seat chooses its moves with: of each game a module, fetched when it is needed.

import { decodeBody } from "../verify/wire.mjs";

/** The chooser of a game that is open (game.mjs): `begin`, `groups`, `board`, `choose`, `move`, `hint`, `keys`. */
export const chooserOf = async ({ opened, rules, components }) => {
  const { rules_id: name, tables, options } = opened;
  const module = await import(`./${name}.mjs`);
  return module[name](decodeBody(rules.tables, tables), components, decodeBody(rules.options, options));
};
