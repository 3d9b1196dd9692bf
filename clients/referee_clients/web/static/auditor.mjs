// The worker that checks files: one file in, one report out.

import { audit } from "./verify/audit.mjs";
import { MAX_FILE } from "./verify/frames.mjs";
import { verifierKey } from "./verify/note.mjs";
import { pinnedKeys } from "./verify/report.mjs";

const MAX_RECEIPT = 64 * 1024;

/** The bytes of a file. It may be as long as it likes: the size is looked at before anything is read. */
const bytesOf = async (file, most) => {
  if (file.size > most) throw new Error(`${file.name} has ${file.size} bytes; expected at most ${most}`);
  return new Uint8Array(await file.arrayBuffer());
};

self.onmessage = async ({ data: { file, key, seats, receipts } }) => {
  try {
    const pins = {
      key: key ? await verifierKey(key) : null,
      seatKeys: pinnedKeys(seats.split(/\s+/).filter(Boolean)),
      receipts: await Promise.all(receipts.map((each) => bytesOf(each, MAX_RECEIPT))),
    };
    const { verdict, code, message, entry, offset, rules, entries, covered, remarks } = await audit(await bytesOf(file, MAX_FILE), pins);
    self.postMessage({ report: { verdict, code, message, entry, offset, rules, entries, covered, remarks } });
  } catch (error) {
    self.postMessage({ error: error.name === "NotSupportedError" ? "this browser has no Ed25519" : error.message });
  }
};
