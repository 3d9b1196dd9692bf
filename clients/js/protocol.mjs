// The messages, read from the .proto files when the program starts. Bytes are Buffers, enums their names, 64-bit
// numbers are numbers (none here exceeds 2^53); a message that is not there is null.

import { existsSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import grpc from "@grpc/grpc-js";
import loader from "@grpc/proto-loader";

const HERE = fileURLToPath(new URL(".", import.meta.url));
/** Copy the repository's proto folder along with these files, or say where it is. */
const PROTO = process.env.REFEREE_PROTO ?? fileURLToPath(new URL("../../proto", import.meta.url));
if (!existsSync(`${PROTO}/referee/v1/game_service.proto`))
  throw new Error(`no referee/v1/game_service.proto in ${PROTO}: set REFEREE_PROTO to the folder with the protocol`);

/** Of every game: what is signed and what lies in the log, referee.<game>.v1. */
const games = readdirSync(`${PROTO}/referee`)
  .map((name) => `referee/${name}/v1/${name}.proto`)
  .filter((file) => existsSync(`${PROTO}/${file}`));

const definition = loader.loadSync(
  ["referee/v1/game_service.proto", "google_rpc.proto", ...games],
  { includeDirs: [PROTO, HERE], keepCase: true, longs: Number, enums: String, defaults: true, oneofs: true },
);

/** The generation of the API that these files are written for, and how the referee names its own. */
export const GENERATION = "1";
const KEY = "referee-api";
/** Options of every channel: the user agent names the generation. */
export const CHANNEL = { "grpc.primary_user_agent": `tile-referee-api/${GENERATION}` };

/** What is wrong with the referee's generation, by the initial metadata of a stream; nothing if it names ours, or none. */
export function otherGeneration(metadata) {
  const [spoken] = metadata.get(KEY);
  if (spoken === undefined || spoken === GENERATION) return undefined;
  const mend = Number(spoken) > Number(GENERATION) ? "update the client" : "the organiser has to update the referee";
  return `this referee speaks version ${spoken} of its API, the client version ${GENERATION}: ${mend}`;
}

/** Each address of a list with commas between; grpcs:// before the first stands for all. */
export function addressesOf(list) {
  const scheme = list.startsWith("grpcs://") ? "grpcs://" : "";
  return list.split(",").map((address) => (address.startsWith("grpcs://") ? address : scheme + address));
}

/** Whether what is sent there stays on this machine. */
export const isHere = (address) => /^(localhost|127\.[0-9.]+|\[::1\]):/.test(address);

/** The stub's class. */
export const GameService = grpc.loadPackageDefinition(definition).referee.v1.GameService;

/** From bytes to an object, by the message's full name. */
export const decode = (name, bytes) => definition[name].deserialize(bytes);

/**
 * From an object to bytes, strictly as docs/log-format.md, section 3, wants it. The library writes fields in ascending
 * order and numbers in their shortest form, and every field that it is given: so give it none that has its default,
 * unless the field is optional or in a oneof, where a 0 has to be written.
 */
export const encode = (name, fields) => definition[name].serialize(fields);

/**
 * What a failed call says: the referee's reason (an ErrorReason without its prefix, "" if the referee did not speak)
 * and how long to wait before another attempt, in ms, where it says so.
 */
export function errorOf(failed) {
  const error = { reason: "", retryMs: 0, code: failed.code, message: failed.details ?? failed.message };
  const [data] = failed.metadata?.get("grpc-status-details-bin") ?? [];
  for (const { type_url, value } of data ? decode("google.rpc.Status", data).details : []) {
    if (type_url.endsWith("/google.rpc.ErrorInfo")) {
      const info = decode("google.rpc.ErrorInfo", value);
      if (info.domain === "referee.v1") error.reason = info.reason;
    } else if (type_url.endsWith("/google.rpc.RetryInfo")) {
      const delay = decode("google.rpc.RetryInfo", value).retry_delay;
      error.retryMs = delay ? delay.seconds * 1000 + delay.nanos / 1e6 : 0;
    }
  }
  return error;
}
