// The public log: policies, cosigned checkpoints and proofs of heads. Ed25519 alone; witnesses with other keys are named.

import { Refusal, equal, fromBase64, fromHex, sha256, text, utf8 } from "./bytes.mjs";
import { isKey, verifies } from "./ed25519.mjs";
import { leafHash, nodeHash, parseCheckpoint, parseHead } from "./note.mjs";

const MAX_PROOF = 320 * 1024;
const COSIGNED = { bytes: 256 * 1024, signatures: 65 };
const LEAF = "tile-referee/v1/head\n";
const LOG_KEY = 1;
const COSIGNER = 4;
const ML_DSA_44 = 6;
const DECIMAL = /^(0|[1-9][0-9]{0,18})$/;

const unproved = (message) => new Refusal("UNLOGGED", message);

/** A verifier key of any type, as { name, id, type, key }. An Error says what is wrong with it. */
async function anyKey(line) {
  const [, name, digits, encoded] = /^([^+]+)\+([0-9a-f]{8})\+(.*)$/u.exec(line) ?? [];
  const bytes = encoded && fromBase64(encoded);
  if (!bytes || bytes.length < 2) throw new Error(`${line}: expected a verifier key`);
  const id = (await sha256(utf8(name), Uint8Array.of(0x0a), bytes)).subarray(0, 4);
  if (!equal(id, fromHex(digits))) throw new Error(`the key of ${name} has another key id than it states`);
  const [type, key] = [bytes[0], bytes.subarray(1)];
  if ([LOG_KEY, COSIGNER].includes(type) ? !isKey(key) : type !== ML_DSA_44) throw new Error(`the key of ${name} is of no use`);
  return { name, id, type, key };
}

/** A policy file (C2SP tlog-policy), as { logs, witnesses (a Map), groups (a Map), quorum }. An Error names the line. */
export async function parsePolicy(words) {
  const policy = { logs: [], witnesses: new Map(), groups: new Map(), quorum: null };
  const members = new Set();
  const known = (name) => policy.witnesses.has(name) || policy.groups.has(name);
  const add = async ([kind, ...rest]) => {
    if (kind === "log" && [1, 2].includes(rest.length)) policy.logs.push(await anyKey(rest[0]));
    else if (kind === "witness" && [2, 3].includes(rest.length) && rest[0] !== "none" && !known(rest[0])) {
      const key = await anyKey(rest[1]);
      if (key.type === LOG_KEY) throw new Error("a witness has a key of type 4 or 6");
      policy.witnesses.set(rest[0], key);
    } else if (kind === "group" && rest.length > 2 && rest[0] !== "none" && !known(rest[0])) {
      const [name, needs, ...names] = rest;
      if (!names.every((each) => known(each) && !members.has(each)) || new Set(names).size < names.length) throw new Error("a member is unknown, or a member already");
      const count = needs === "any" ? 1 : needs === "all" ? names.length : /^[1-9][0-9]{0,3}$/.test(needs) ? Number(needs) : 0;
      if (count < 1 || count > names.length) throw new Error(`${needs} of ${names.length} members`);
      for (const each of names) members.add(each);
      policy.groups.set(name, { count, names });
    } else if (kind === "quorum" && rest.length === 1 && policy.quorum === null && (rest[0] === "none" || known(rest[0]))) [policy.quorum] = rest;
    else throw new Error("expected log, witness, group or quorum, and what belongs to it");
  };
  for (const [at, line] of words.split("\n").entries()) {
    const parts = line.split(/[ \t]+/).filter(Boolean);
    if (!parts.length || parts[0].startsWith("#")) continue;
    await add(parts).catch((error) => {
      throw new Error(`policy, line ${at + 1}: ${error.message}`);
    });
  }
  if (policy.quorum === null) throw new Error("policy: no quorum line");
  const keys = [...policy.logs, ...policy.witnesses.values()].map(({ type, key }) => `${type === LOG_KEY} ${key}`);
  if (new Set(keys).size < keys.length) throw new Error("policy: a key stands there twice");
  return policy;
}

function isMet(policy, cosigned, name = policy.quorum) {
  const group = policy.groups.get(name);
  if (!group) return name === "none" || Object.hasOwn(cosigned, name);
  return group.names.filter((each) => isMet(policy, cosigned, each)).length >= group.count;
}

/** When those who had signed were a quorum; undefined if the policy asks for no witness, as it believes none. */
function quorumAt(policy, cosigned) {
  if (isMet(policy, {})) return undefined;
  const by = (now) => Object.fromEntries(Object.entries(cosigned).filter(([, time]) => time <= now));
  return Object.values(cosigned).sort((a, b) => a - b).find((now) => isMet(policy, by(now)));
}

async function cosignedAt(key, checkpoint) {
  const line = checkpoint.signatures.find(({ name, id }) => name === key.name && equal(id, key.id));
  if (!line) return null;
  const { signature } = line;
  const view = new DataView(signature.buffer, signature.byteOffset, signature.length);
  const time = signature.length === 72 ? view.getBigUint64(0) : -1n;
  const message = utf8(`cosignature/v1\ntime ${time}\n${text(checkpoint.signed)}`);
  if (time <= 0n || time >> 63n || !(await verifies(key.key, message, signature.subarray(8)))) throw unproved(`the cosignature of ${key.name} is wrong`);
  return Number(time);
}

/** The head of a log with a quorum, as parseHead has it, with `cosigned` (times by name) and `uncounted` (names). */
async function openLog(bytes, policy) {
  const head = parseHead(bytes, COSIGNED);
  const by = (key) => head.signatures.find(({ name, id }) => name === key.name && equal(id, key.id));
  const signers = policy.logs.filter((key) => key.name === head.origin && by(key));
  if (!signers.length) throw unproved(`the checkpoint of ${head.origin} is not signed by a log of the policy`);
  for (const key of signers) {
    if (key.type === ML_DSA_44) throw unproved(`${key.name} signs with ML-DSA, which is not checked here`);
    const holds = key.type === LOG_KEY ? by(key).signature.length === 64 && (await verifies(key.key, head.signed, by(key).signature)) : (await cosignedAt(key, head)) !== null;
    if (!holds) throw unproved(`the signature of ${key.name} does not verify`);
  }
  const cosigned = Object.create(null); // a witness may have the name of what objects inherit
  const uncounted = [];
  for (const [name, key] of policy.witnesses) {
    if (key.type === ML_DSA_44) {
      if (by(key)) uncounted.push(name);
      continue;
    }
    const time = await cosignedAt(key, head);
    if (time !== null) cosigned[name] = time;
  }
  if (!isMet(policy, cosigned)) {
    const more = uncounted.length ? `; ${uncounted.join(", ")} with ML-DSA, which is not counted here` : "";
    throw unproved(`cosigned by ${Object.keys(cosigned).join(", ") || "no witness"}, which is not the quorum ${policy.quorum}${more}`);
  }
  return { ...head, cosigned, uncounted };
}

/** A tlog-proof: { hasLeaf, head (the one that its leaf is of, or null), index, path, checkpoint (bytes) }. Refuses. */
function readProof(bytes) {
  if (bytes.length > MAX_PROOF) throw unproved("a proof of more than 320 KiB");
  const end = bytes.findIndex((byte, at) => byte === 10 && bytes[at + 1] === 10);
  let lines;
  try {
    lines = text(bytes.subarray(0, Math.max(end, 0))).split("\n");
  } catch {
    throw unproved("not UTF-8");
  }
  if (lines.shift() !== "c2sp.org/tlog-proof@v1") throw unproved("not a proof");
  const leaf = lines[0]?.startsWith("extra ") ? fromBase64(lines.shift().slice(6)) : undefined;
  const [, index] = /^index (\d+)$/.exec(lines.shift() ?? "") ?? [];
  const path = lines.map(fromBase64);
  if (leaf === null || !DECIMAL.test(index ?? "") || path.length > 64 || path.some((each) => each?.length !== 32)) throw unproved("a line of the proof is wrong");
  return { hasLeaf: leaf !== undefined, head: leaf ? headOf(leaf) : null, index: BigInt(index), path, checkpoint: bytes.subarray(end + 2) };
}

/** RFC 9162, section 2.1.3.2. */
async function isIncluded(leaf, index, size, path, root) {
  if (index >= size) return false;
  let [node, last, value] = [index, size - 1n, leaf];
  for (const sibling of path) {
    if (last === 0n) return false;
    if (node & 1n || node === last) {
      value = await nodeHash(sibling, value);
      while (!(node & 1n) && node) [node, last] = [node >> 1n, last >> 1n];
    } else value = await nodeHash(value, sibling);
    [node, last] = [node >> 1n, last >> 1n];
  }
  return last === 0n && equal(value, root);
}

/** The head that a leaf is of, as parseCheckpoint has it without signatures; null for another leaf. */
function headOf(leaf) {
  let words;
  try {
    words = text(leaf);
  } catch {
    return null;
  }
  // A checkpoint without a signature is none; this one is never looked at.
  return words.startsWith(LEAF) ? parseCheckpoint(utf8(`${words.slice(LEAF.length)}\n\u2014 none AAAAAAA=\n`)) : null;
}

const leafOf = (head) => leafHash(utf8(LEAF + text(head.signed)));

/** Where a proof shows this head to be: { head, index, origin, cosigned, uncounted }. Refuses. */
async function provedHead({ index, path, checkpoint }, policy, head) {
  const log = await openLog(checkpoint, policy);
  if (log.origin !== `${head.origin}/log`) throw unproved(`a proof from ${log.origin}, which is not the log of ${head.origin}`);
  if (!(await isIncluded(await leafOf(head), index, log.size, path, log.root))) throw unproved("the proof leads to another root");
  return { head, index: Number(index), origin: log.origin, cosigned: log.cosigned, quorumAt: quorumAt(policy, log.cosigned), uncounted: log.uncounted };
}

/** What proofs (bytes) from the public log show of one file. If it is required, it is the verdict that they show nothing. */
export class LogCheck {
  /** Why nothing shows that the log has the file's last head, if that is required. */
  lacks = null;
  #doubts = [];
  #bare = [];
  #proved = [];

  constructor(policy, proofs, required) {
    Object.assign(this, { policy, proofs, required });
  }

  /** Reads the proofs. Returns the heads of this game that those with a leaf show; what does not hold is a doubt. */
  async read(origin, gameId) {
    for (const bytes of this.proofs) {
      await this.#doubting(async () => {
        const proof = readProof(bytes);
        if (!proof.hasLeaf) return this.#bare.push(proof);
        const { head } = proof;
        if (!head || !gameId || head.origin !== origin || head.gameId !== gameId) throw unproved("a proof of another game, or of none");
        return this.#proved.push(await provedHead(proof, this.policy, head));
      });
    }
    return this.#proved.map(({ head }) => head);
  }

  /** Whether a file's last head (or null) is logged: remarks, or `lacks`. A file that receipts contradict has only that one. */
  async look(last, entries, isContradicted) {
    const logged = this.#proved.filter(({ head }) => !isContradicted && head.size <= BigInt(entries));
    for (const proof of this.#bare) {
      await this.#doubting(async () => {
        if (!last) throw unproved("the file has no signed head to look for");
        logged.push(await provedHead(proof, this.policy, last));
      });
    }
    const remarks = logged.map(({ head, origin, index, cosigned, quorumAt: at }) => {
      const by = Object.keys(cosigned).join(", ") || "no witness";
      const since = at < 2 ** 40 ? `, by a quorum at ${new Date(1000 * at).toISOString()}` : "";
      return `logged: ${head.size} entries as entry ${index} of ${origin}, cosigned by ${by}${since}`;
    });
    if (last && logged.some(({ head }) => head.size === last.size)) return remarks;
    const why = this.#doubts.join("; ") || (logged.length ? "only older heads are" : "no proof was given");
    const lacks = `nothing shows that the file's last head is in the public log: ${why}`;
    if (!this.required) return [...remarks, lacks];
    this.lacks = lacks;
    return remarks;
  }

  async #doubting(look) {
    try {
      await look();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.#doubts.push(error.message);
    }
  }
}
