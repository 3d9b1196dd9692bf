// The position of any game from its canonical bytes.

import { Refusal } from "../verify/bytes.mjs";
import * as alhambra from "./alhambra.mjs";
import * as kingdomino from "./kingdomino.mjs";
import * as rollwrite from "./rollwrite.mjs";

export { Malformed } from "./reader.mjs";

const DECODERS = new Map(Object.entries({ alhambra, kingdomino, rollwrite }));

/** The position of a game of these rules. Throws Malformed; a Refusal UNSUPPORTED for rules that are not known here. */
export function decode(rulesId, bytes) {
  const decoder = DECODERS.get(rulesId);
  if (!decoder) throw new Refusal("UNSUPPORTED", `positions of ${rulesId} are not read here`);
  return decoder.decode(bytes);
}
