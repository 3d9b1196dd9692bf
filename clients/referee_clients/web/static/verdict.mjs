// The meaning of an auditor's report, in words.

import { findingWords, inEnglish, isEnglish } from "./finding.mjs";
import { w } from "./words.mjs";

/** What is wrong, of a kind and in a place; in other languages the auditor's own words stand beside it. */
export const findingLines = (finding, message) => {
  const { entry, offset } = finding;
  const where = [entry !== null && w("verify.entry", { n: entry }), offset !== null && w("verify.byte", { n: offset })].filter(Boolean);
  return [[findingWords(finding, message), ...where].join(", "), !isEnglish && inEnglish(message)].filter(Boolean);
};

/** Why a worker said nothing of a file: what it lacks in the browser, or an error's own words. */
export const failureWords = ({ error, isOld }) => (isOld ? w("verify.no_ed25519") : error);

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
  const lines = [
    ...(verdict === "COMPLETE" ? [] : findingLines(found, found.message)),
    w("verify.what", { name, rules: found.rules ?? "?", entries, covered }),
    ...found.remarks.map(inEnglish),
  ];
  return { tone: TONES[verdict] ?? "bad", headline, lines };
};
