// The verifier as the tests use it: a question a line, an answer a line. node verifier.mjs FOLDER-OF-THE-VERIFIER

import assert from "node:assert/strict";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const at = pathToFileURL(`${process.argv[2]}/`);
const load = async (name) => import(new URL(`${name}.mjs`, at));
const answered = process.stdout.write.bind(process.stdout);
const AT_ONCE = 8;
let commands = 0;

/** Whether this node has what the verifier needs. */
async function able() {
  const knows = await crypto.subtle.generateKey({ name: "Ed25519" }, false, ["sign", "verify"]).then(() => true, () => false);
  return { version: process.version, ed25519: knows };
}

/** The verifier's reports on logs; while one waits for a signature, others go on. */
async function audits({ jobs }) {
  const { audit } = await load("audit");
  const { verifierKey } = await load("note");
  const { pinnedKeys } = await load("report");
  const bytes = (base64) => new Uint8Array(Buffer.from(base64, "base64"));
  const report = async ({ log, key, seats, scribes, receipts }) => {
    const pins = { seatKeys: pinnedKeys(seats), scribeKeys: pinnedKeys(scribes), receipts: receipts.map(bytes) };
    return audit(bytes(log), { key: key && (await verifierKey(key)), ...pins });
  };
  const found = [];
  const next = jobs.entries();
  const some = async () => {
    for (const [number, job] of next) found[number] = await report(job);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, some));
  return found;
}

/** What `node verify.mjs` with these words prints, and its exit code. */
async function command({ words }) {
  const done = { stdout: "", stderr: "" };
  const streams = ["stdout", "stderr"].map((name) => [name, process[name], process[name].write]);
  const argv = process.argv;
  process.argv = [argv[0], "verify.mjs", ...words];
  for (const [name, stream] of streams) {
    stream.write = (text) => {
      done[name] += text;
      return true;
    };
  }
  try {
    await import(new URL(`verify.mjs?${++commands}`, at));
    return { ...done, returncode: process.exitCode };
  } finally {
    for (const [, stream, write] of streams) stream.write = write;
    process.argv = argv;
    process.exitCode = 0;
  }
}

/** Of events: their digests, and which rules the acts asked about would break. */
async function events({ questions }) {
  const { fromHex, hex } = await load("bytes");
  const { EVENT_MESSAGES: { move, tables } } = await load("event_schema");
  const { EventState } = await load("event_state");
  const { brokenBy } = await load("event_rules");
  const { decodeBody } = await load("wire");
  const read = (schema, digits) => decodeBody(schema, fromHex(digits));
  const answers = [];
  for (const { terms, acts, asked } of questions) {
    const event = new EventState(read(tables, terms));
    for (const act of acts) await event.apply(read(move, act));
    const broken = [];
    for (const act of asked) broken.push((await brokenBy(event, read(move, act))).map(([rule]) => rule));
    answers.push({ digest: hex(await event.digest()), broken });
  }
  return answers;
}

/** The characters that a text must not have. */
async function hidden() {
  const { HIDDEN } = await load("audit");
  return Array.from({ length: 0x110000 }, (_, code) => code).filter((code) => HIDDEN.test(String.fromCodePoint(code)));
}

/** Which keys are keys, and which signatures of "anything" are right. */
async function keys({ raws, cases }) {
  const { isKey, verifies } = await load("ed25519");
  const { fromHex, utf8 } = await load("bytes");
  const signed = cases.map(([key, signature]) => verifies(fromHex(key), utf8("anything"), fromHex(signature)));
  return [raws.map((raw) => isKey(fromHex(raw))), await Promise.all(signed)];
}

/** The test vectors of docs/log-format.md; how many messages are refused that have more than one encoding. */
async function vectors(given) {
  const { check } = await import("./verify_vectors.mjs");
  return check(load, given);
}

const JOBS = { able, audits, command, events, hidden, keys, vectors };

for await (const line of createInterface({ input: process.stdin })) {
  const { job, ...given } = JSON.parse(line);
  assert(JOBS[job], `no such job: ${job}`);
  const answer = await JOBS[job](given).then((answer) => ({ answer }), (error) => ({ error: error.stack }));
  answered(`${JSON.stringify(answer)}\n`);
}
