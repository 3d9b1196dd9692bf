// The file of section 7: magic, frames in their order, END.

import { Refusal, crc32, crcOfPieces, equal, fromHex, sha256, u32 } from "./bytes.mjs";
import { End } from "./schema.mjs";
import { decode } from "./wire.mjs";

export const MAX_FILE = 64 * 1024 * 1024;
export const MAX_ENTRIES = 65536;
const MAX_SKIPPED = 65536;
const MAGIC = fromHex("89544c520d0a1a0a0001");
const AROUND = 9;

export const HEADER = 0x01;
export const ENTRY = 0x02;
export const CHECKPOINT = 0x03;
const KEYSET = 0x04;
const END = 0x05;
export const OLDER = 0x80;
export const PROOF = 0x81;
export const WORDS = 0x82;
const FIRST_SKIPPED = 0x80;

const KIB = 1024;
export const MAX_ENTRY = 32 * KIB;
const LONGEST = { [HEADER]: 256 * KIB, [ENTRY]: MAX_ENTRY, [CHECKPOINT]: 16 * KIB, [KEYSET]: 64 * KIB, [END]: 64 };

/** The longest payload of a type; 0 if it is critical and not known. */
const longest = (type) => (type >= FIRST_SKIPPED ? 64 * KIB : (LONGEST[type] ?? 0));

/** After which critical type each critical type may stand. */
const PLACE = {
  [HEADER]: [0],
  [ENTRY]: [HEADER, ENTRY],
  [CHECKPOINT]: [ENTRY],
  [KEYSET]: [HEADER, ENTRY, CHECKPOINT],
  [END]: [CHECKPOINT],
};

/** Whether the bytes, from a plausible frame's head on, were cut off; otherwise a length was altered. */
function torn(rest) {
  const crc = crcOfPieces(rest);
  for (let at = 1; at + AROUND < rest.length; at++) {
    const end = at + 5 + u32(rest, at);
    const plausible = u32(rest, at) > 0 && u32(rest, at) <= longest(rest[at + 4]);
    if (plausible && end + 4 <= rest.length && crc(at, end) === u32(rest, end)) return false;
  }
  if (rest.length <= AROUND) return true;
  const whole = rest.slice();
  new DataView(whole.buffer).setUint32(0, rest.length - AROUND);
  return crc32(whole.subarray(0, -4)) !== u32(whole, whole.length - 4);
}

async function checkEnd(payload, file, frames) {
  const entries = frames.filter((frame) => frame.type === ENTRY).length;
  const end = decode(End, payload);
  if (end.count !== entries) throw new Refusal("FRAME", `END counts ${end.count} entries, there are ${entries}`, { size: end.count, entries });
  const critical = frames.filter((frame) => frame.type < FIRST_SKIPPED).map((frame) => file.subarray(frame.offset, frame.end));
  if (!equal(end.frames_hash, await sha256(...critical))) throw new Refusal("FRAME", "END has the hash of other frames");
}

/**
 * The whole frames of a file up to where it ends or is refused: `frames` with type, offset, end, payload (and `entries`, those
 * before it); `closed`, whether END is there and holds; `stop`, a Refusal (TORN if it was only cut) or null; `offset` of it.
 */
export async function readFrames(file) {
  const frames = [];
  let offset = 0;
  let [last, entries, skipped, older] = [0, 0, 0, 0];
  const result = (stop) => ({ frames, entries, closed: !stop && last === END, stop, offset });
  const start = file.subarray(0, MAGIC.length);
  if (!equal(start, MAGIC.subarray(0, start.length))) return result(new Refusal("FRAME", "not the file of a game"));
  if (start.length < MAGIC.length) return result(new Refusal("TORN", "ends inside the magic"));
  for (offset = MAGIC.length; offset < file.length; offset = frames.at(-1).end) {
    const rest = file.subarray(offset);
    const refuse = (message, code = "FRAME", facts = {}) => result(new Refusal(code, message, facts));
    if (last === END) return refuse("bytes after END");
    if (rest.length < 5) return refuse("ends inside a frame", "TORN");
    const [length, type] = [u32(rest, 0), rest[4]];
    if (longest(type) === 0) return refuse(`unknown critical type ${type}`);
    if (length === 0 || length > longest(type)) return refuse(`a frame of type ${type} and ${length} bytes`);
    if (rest.length < length + AROUND) {
      return torn(rest) ? refuse("ends inside a frame", "TORN") : refuse("a frame's length was altered");
    }
    if (crc32(rest.subarray(0, length + 5)) !== u32(rest, length + 5)) return refuse("wrong CRC");
    if (type >= FIRST_SKIPPED ? last === 0 : !PLACE[type].includes(last)) return refuse(`a frame of type ${type} out of place`);
    if (type === KEYSET) return refuse("a key set", "UNSUPPORTED");
    if (type === ENTRY && entries === MAX_ENTRIES) return refuse(`more than ${MAX_ENTRIES} entries`, "LIMIT", { limit: MAX_ENTRIES });
    if (type >= FIRST_SKIPPED && ++skipped > MAX_SKIPPED) return refuse("too many frames beside the entries", "LIMIT");
    if (type === OLDER && ++older > entries) return refuse("more older checkpoints than entries", "LIMIT");
    const frame = { type, offset, end: offset + length + AROUND, payload: rest.subarray(5, 5 + length), entries };
    if (type === END) {
      try {
        await checkEnd(frame.payload, file, frames);
      } catch (error) {
        if (error instanceof Refusal) return result(error);
        throw error;
      }
    }
    if (type < FIRST_SKIPPED) last = type;
    if (type === ENTRY) entries++;
    frames.push(frame);
  }
  return result(null);
}
