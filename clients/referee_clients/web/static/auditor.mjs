// The worker that checks files: the bytes of one in, one report out.

import { audit } from "./verify/audit.mjs";
import { verifierKey } from "./verify/note.mjs";
import { pinnedKeys } from "./verify/report.mjs";

self.onmessage = async ({ data: { file, key, seats, receipts } }) => {
  try {
    const pins = { key: key ? await verifierKey(key) : null, seatKeys: pinnedKeys(seats.split(/\s+/).filter(Boolean)), receipts };
    const { verdict, code, message, entry, offset, rules, entries, covered, remarks } = await audit(file, pins);
    self.postMessage({ report: { verdict, code, message, entry, offset, rules, entries, covered, remarks } });
  } catch (error) {
    self.postMessage({ error: error.name === "NotSupportedError" ? "this browser has no Ed25519" : error.message });
  }
};
