#!/usr/bin/env node
// A bot that plays at random, and all that it takes to be another one: replace choose.

import { generateKeyPairSync, createPrivateKey } from "node:crypto";
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, statSync, writeFileSync, writeSync } from "node:fs";
import { parseArgs } from "node:util";
import grpc from "@grpc/grpc-js";
import { Distrust, parseVerifier } from "./log.mjs";
import { addressesOf, isHere } from "./protocol.mjs";
import { Denied, Seat } from "./seat.mjs";

const USAGE = `node bot.mjs --join STRING [options]

  --join STRING     address/game/seat#token, as the organiser gave it; - for standard input, @FILE for a file,
                    or the variable REFEREE_JOIN: then the token does not stand in the process list
  --key FILE        keep the seat's private key here: with it a bot that was stopped goes on with its game; beside it,
                    as FILE.checkpoint, the newest signed checkpoint, which a referee that was set back is shown
  --verifier VKEY   the referee's verifier key, a file or its text: checks every checkpoint
  --seed N          play the same game again
  --tls-ca FILE     of a grpcs:// address: who vouches for the referee (PEM), if it is none that Node knows
  --tls-cert FILE, --tls-key FILE   our own certificate (PEM), for a referee that admits by certificate
  --insecure        send the token to another machine without TLS, too
  --patience S      give up when the referee is away for so long (300)

Exit codes: 0 the game is over; 1 not admitted, or no referee; 2 wrong usage; 4 the referee's log contradicts itself.`;

/** A generator of choices (mulberry32): the same for the same seed. */
function chooser(seed) {
  let state = seed >>> 0;
  const random = () => {
    let z = (state = (state + 0x6d2b79f5) | 0);
    z = Math.imul(z ^ (z >>> 15), z | 1);
    z ^= z + Math.imul(z ^ (z >>> 7), z | 61);
    return ((z ^ (z >>> 14)) >>> 0) / 2 ** 32;
  };
  // To see what a move is: decode("referee.kingdomino.v1.Move", move), from protocol.mjs. A second argument has leftMs.
  return (moves) => moves[Math.floor(random() * moves.length)];
}

class Usage extends Error {}

function parseJoin(text) {
  const found = /^(?<address>(grpcs:\/\/)?[^\s/]+:[0-9]+)\/(?<gameId>[0-9a-f]{32})\/(?<seat>[0-9])#(?<token>[!-~]+)$/.exec(text.trim());
  if (!found) throw new Usage("not a join string: expected address:port/game/seat#token, as you got it from the organiser");
  return { ...found.groups, seat: Number(found.groups.seat) };
}

/** A number that is not negative, or what stands for none. */
function number(name, text, otherwise) {
  if (text === undefined) return otherwise;
  if (!/^[0-9]+(\.[0-9]+)?$/.test(text)) throw new Usage(`--${name} ${text}: expected a number`);
  return Number(text);
}

function read(name, file) {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new Usage(`--${name}: ${error.message}`);
  }
}

function loadKey(file) {
  if (file && existsSync(file)) {
    if (statSync(file).mode & 0o077) throw new Usage(`--key ${file}: others may use this key; expected mode 0600`);
    try {
      return createPrivateKey(read("key", file));
    } catch {
      throw new Usage(`--key ${file}: not a private key; expected Ed25519, PKCS #8 in PEM`);
    }
  }
  const { privateKey } = generateKeyPairSync("ed25519");
  if (file) writeFileSync(file, privateKey.export({ type: "pkcs8", format: "pem" }), { flag: "wx", mode: 0o600 });
  return privateKey;
}

const MOST_KEPT = 4096;

/** The newest checkpoint of the game, in a file beside the key. A disk that fails stops no game: then nothing is kept. */
function keptBeside(key) {
  const file = `${key}.checkpoint`;
  let checkpoint = Buffer.alloc(0);
  try {
    const found = statSync(file);
    if (found.isFile() && found.size <= MOST_KEPT) checkpoint = readFileSync(file);
  } catch {}
  const keep = (newest) => {
    try {
      const beside = openSync(`${file}.new`, "w", 0o600);
      try {
        writeSync(beside, newest);
        fsyncSync(beside);
      } finally {
        closeSync(beside);
      }
      renameSync(`${file}.new`, file);
    } catch {}
  };
  return { checkpoint, keep };
}

function options() {
  const names = ["join", "key", "verifier", "seed", "tls-ca", "tls-cert", "tls-key", "patience"];
  const flags = Object.fromEntries(names.map((name) => [name, { type: "string" }]));
  try {
    return parseArgs({ options: { ...flags, insecure: { type: "boolean" }, help: { type: "boolean" } } }).values;
  } catch (error) {
    throw new Usage(error.message);
  }
}

/** A grpcs:// address asks for TLS. Without it the token stays on this machine: whoever is on the way could read it. */
function credentials(address, given) {
  const [ca, cert, key] = ["ca", "cert", "key"].map((name) => {
    const file = given[`tls-${name}`] ?? process.env[`REFEREE_TLS_${name.toUpperCase()}`];
    return file ? read(`tls-${name}`, file) : null;
  });
  const addresses = addressesOf(address);
  if (address.startsWith("grpcs://")) {
    if (!cert !== !key) throw new Usage("--tls-cert and --tls-key go together");
    return grpc.credentials.createSsl(ca, key, cert);
  }
  if (addresses.some((each) => each.startsWith("grpcs://")))
    throw new Usage(`${address}: expected grpcs:// before the first, for all of them`);
  if (!addresses.every(isHere) && !given.insecure && process.env.REFEREE_INSECURE !== "1")
    throw new Usage(`${address}: a token must not be sent there without TLS; expected grpcs://${address}, or --insecure`);
  return grpc.credentials.createInsecure();
}

function verifierOf(given) {
  if (!given) return undefined;
  try {
    return parseVerifier(existsSync(given) ? readFileSync(given, "utf8") : given);
  } catch (error) {
    throw new Usage(`--verifier: ${error.message}`);
  }
}

async function main() {
  const given = options();
  if (given.help) return console.log(USAGE);
  let join = given.join ?? process.env.REFEREE_JOIN;
  if (!join) throw new Usage("expected --join STRING; --help tells more");
  if (join === "-") join = readFileSync(0, "utf8");
  else if (join.startsWith("@")) join = read("join", join.slice(1)).toString();
  const place = parseJoin(join);
  const seat = new Seat(
    place,
    loadKey(given.key),
    chooser(number("seed", given.seed, Math.random() * 2 ** 32)),
    {
      verifier: verifierOf(given.verifier),
      kept: given.key && keptBeside(given.key),
      credentials: credentials(place.address, given),
      patienceMs: 1000 * number("patience", given.patience, 300),
    },
  );
  const end = await seat.play();
  const { ending, scores, places } = end;
  console.log(JSON.stringify({ seat: place.seat, ending, scores, places, entries: seat.ledger.size }));
}

try {
  await main();
} catch (error) {
  const code = error instanceof Usage ? 2 : error instanceof Denied ? 1 : error instanceof Distrust ? 4 : 0;
  if (!code) throw error; // a mistake in the bot is shown with its place
  console.error(error.message);
  process.exitCode = code;
}
