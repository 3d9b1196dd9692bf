// What an auditor's report means, in words.

import { w } from "./words.mjs";

// Nothing here is green: that is for what keeps all of the rules, too.
const TONES = { COMPLETE: "open", PREFIX: "open", UNTRUSTED_KEY: "open", UNSUPPORTED: "open", UNDISCLOSED: "open" };
/** Verdicts that mean more where the rules were looked at, as those of events are. */
const BY_RULES = new Set(["COMPLETE", "PREFIX", "RULES", "PAIRING", "STANDINGS"]);

/** `{tone, headline, lines}` of a report on the file of that name. `hasKey`: the reader gave a verifier key. */
export const verdictWords = (name, found, hasKey) => {
  const { verdict, entries, covered, isFollowed } = found;
  const headline =
    verdict === "UNTRUSTED_KEY" && !hasKey
      ? w("verify.no_key")
      : verdict === "PREFIX" && entries === 0
        ? w("verify.empty")
        : isFollowed && BY_RULES.has(verdict)
          ? w(`verify.event.${verdict}`, { entries, covered })
          : w(`verify.verdict.${verdict}`, { entries, covered });
  const where = [
    found.entry !== null && w("verify.entry", { n: found.entry }),
    found.offset !== null && w("verify.byte", { n: found.offset }),
  ].filter(Boolean);
  const lines = [
    ...(verdict === "COMPLETE" ? [] : [[found.message, ...where].join(", ")]),
    w("verify.what", { name, rules: found.rules ?? "?", entries, covered }),
    ...found.remarks,
  ];
  return { tone: TONES[verdict] ?? "bad", headline, lines };
};
