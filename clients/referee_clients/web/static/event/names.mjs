// Names of players, which the log does not have: a list that the organiser gives, checked against the log and kept in the page.

import { h } from "../dom.mjs";
import { fromHex } from "../verify/bytes.mjs";
import { fits } from "../players.mjs";
import { w } from "../words.mjs";

const MOST_BYTES = 1 << 20;
const ROW = /^(\d{1,5}),("(?:[^"]|"")*"|[^",]*),([0-9a-f]{32})\r?$/;

/** The rows `{number, name, salt}` of a list as the organiser's folder has it; lines that are none are left out. */
const rowsOf = (text) =>
  text.split("\n").flatMap((line) => {
    const [, number, name, salt] = ROW.exec(line) ?? [];
    const plain = name?.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name;
    return salt ? [{ number: Number(number), name: plain, salt: fromHex(salt) }] : [];
  });

/** The panel: its `element`, and `called(number)`. `state()`: of the event; `changed()`: there are other names now. */
export const names = (state, changed) => {
  let known = new Map();
  const said = h("p", { role: "status" });
  const input = h("input", { type: "file", accept: ".csv,text/csv" });

  const read = async () => {
    const [file] = input.files;
    if (!file) return;
    const found = new Map();
    const rows = file.size > MOST_BYTES ? [] : rowsOf(await file.text());
    for (const { number, name, salt } of rows) {
      const player = state().entrants.get(number)?.player;
      if (player && (await fits(player, name, salt))) found.set(number, name);
    }
    known = found;
    said.textContent = w(found.size ? "event.names.read" : "event.names.none", { n: found.size, all: state().entrants.size, other: rows.length - found.size });
    changed();
  };
  input.addEventListener("change", read);
  return {
    element: h("details", { class: "verdict" }, h("summary", {}, w("event.names")), h("p", {}, w("event.names.about")), h("label", { class: "above" }, w("event.names.file"), input), said),
    called: (number) => (known.has(number) ? w("event.named", { n: number, name: known.get(number) }) : w("event.number", { n: number })),
  };
};
