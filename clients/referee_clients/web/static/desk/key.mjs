// The arbiter's key of this browser: made here, readable nowhere, and good for games that were opened with it.

import { h } from "../dom.mjs";
import { NoKey, sealed } from "../seat/keys.mjs";
import * as vault from "../seat/vault.mjs";
import { hex } from "../verify/bytes.mjs";
import { w } from "../words.mjs";
import { button } from "./form.mjs";

const ID = "arbiter";

/** The panel: its `element`, and `key()`, `{key, publicKey}` or null. `changed()`: it is another one, or none. */
export const browserKey = async (changed) => {
  let key = (await vault.getKey(ID).catch(() => null)) ?? null;
  const shown = h("div", { role: "status" });
  const problem = h("p", { class: "problem", role: "alert" });

  const keep = async (work) => {
    problem.textContent = "";
    try {
      key = await work();
      draw();
      changed();
    } catch (error) {
      problem.textContent = error instanceof NoKey ? w(`seat.key.${error.reason}`) : w("desk.key.no_vault");
    }
  };
  const make = () =>
    keep(async () => {
      const made = { id: ID, ...(await sealed()) };
      await vault.putKey(made);
      return made;
    });
  const forget = () => keep(() => vault.removeKey(ID).then(() => null));

  const draw = () => {
    if (!key) return shown.replaceChildren(h("div", { class: "buttons" }, button("desk.key.make", make)));
    const sure = h("div", { class: "buttons" }, button("desk.key.forget", () => sure.replaceChildren(h("p", {}, w("desk.key.forget.about")), button("desk.key.forget.sure", forget))));
    return shown.replaceChildren(h("p", {}, w("desk.key.register")), h("code", { class: "key" }, hex(key.publicKey)), sure);
  };
  draw();
  return { element: h("div", {}, h("p", {}, w("desk.key.about")), shown, problem), key: () => key };
};
