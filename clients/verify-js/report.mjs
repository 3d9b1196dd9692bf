// Texts that people write and read: pinned keys as NUMBER=HEX, a report as text.

import { fromHex } from "./bytes.mjs";
import { isKey } from "./ed25519.mjs";

/** Keys by number, of words like `0=HEX`. An Error says which word is none. */
export function pinnedKeys(words) {
  return Object.fromEntries(
    words.map((word) => {
      const [, number, digits] = /^(\d+)=([0-9a-f]{64})$/.exec(word) ?? [];
      if (!digits || !isKey(fromHex(digits))) throw new Error(`${word}: expected NUMBER=KEY, an Ed25519 key in 64 hexadecimal digits`);
      return [Number(number), fromHex(digits)];
    }),
  );
}

/** The report on the log of that name, in lines. */
export function describe(name, report) {
  const { verdict, code, layer, entry, offset, message, rules, entries, covered, isFollowed } = report;
  const where = [layer, entry !== null && `entry ${entry}`, offset !== null && `byte ${offset}`].filter(Boolean).join(", ");
  return [
    `${verdict}${verdict === "COMPLETE" && !isFollowed ? " (below the rules)" : ""} ${name}`,
    `  ${code ? `${code}: ` : ""}${message}${where && ` (${where})`}`,
    `  ${rules ?? "rules unknown"}, ${entries} entries, a signed checkpoint covers ${covered}`,
    ...report.remarks.map((remark) => `  comment: ${remark}`),
    "",
  ].join("\n");
}
