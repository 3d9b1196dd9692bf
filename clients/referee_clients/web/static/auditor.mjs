// The worker that checks files, of games and of events: the bytes of one in, one report out.

import { auditAny } from "./verify/event_audit.mjs";
import { verifierKey } from "./verify/note.mjs";
import { pinnedKeys } from "./verify/report.mjs";

self.onmessage = async ({ data: { file, key, seats, receipts } }) => {
  try {
    const pins = { key: key ? await verifierKey(key) : null, seatKeys: pinnedKeys(seats.split(/\s+/).filter(Boolean)), receipts };
    self.postMessage({ report: await auditAny(file, pins) });
  } catch (error) {
    self.postMessage({ error: error.message, isOld: error.name === "NotSupportedError" });
  }
};
