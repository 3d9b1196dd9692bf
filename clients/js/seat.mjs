// One seat at the table, over PlayGame, from its Join to the end of the game: whatever happens to the way between.

import { createHmac } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import grpc from "@grpc/grpc-js";
import { Distrust, Ledger, publicBytes, seatCommitment, signedAct } from "./log.mjs";
import { CHANNEL, GameService, addressesOf, errorOf, isHere, otherGeneration } from "./protocol.mjs";

/** The seat cannot go on: the message says why. */
export class Denied extends Error {}
/** The way to the referee broke; another stream goes on. */
class Cut extends Error {
  constructor(message, retryMs = 0) {
    super(message);
    this.retryMs = retryMs;
  }
}

/** The referee sends a heartbeat every 10 s: a stream silent for so long is cut. */
const SILENCE_MS = 30_000;
/** An act without an answer for so long is sent again, on another stream. */
const ANSWER_MS = 10_000;
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 5_000;
/** Reasons that pass. LIMIT does if the referee says how long to wait. */
const PASSING = ["DRAINING", "NOT_OWNER", "STORE_FAILED", "DEADLINE"];
const { UNAVAILABLE, DEADLINE_EXCEEDED, CANCELLED, RESOURCE_EXHAUSTED, INTERNAL, UNKNOWN } = grpc.status;
/** What the network says of a call that a dying server, or a proxy, cut anywhere. */
const NETWORK = [UNAVAILABLE, DEADLINE_EXCEEDED, CANCELLED, RESOURCE_EXHAUSTED, INTERNAL, UNKNOWN];
const passes = ({ reason, code, retryMs }) =>
  reason ? PASSING.includes(reason) || retryMs > 0 : NETWORK.includes(code);

export class Seat {
  #pending = null; // the act that was sent and has no answer yet
  #acts = 0;
  #wait = FIRST_WAIT_MS;
  #heard = Date.now();
  #arrived = performance.now(); // when the message came that is read now, by a clock that nobody sets
  #addresses; // in the order in which they are tried
  #owner; // where the game is, if a referee has named that and it was not tried in vain since

  /**
   * join: {address, gameId (hex), seat, token}; address may be several, with commas between. key: an Ed25519 private
   * key (node:crypto); choose(moves) returns one of the moves, exact bytes of the game's Move, or a promise of one.
   * kept: {checkpoint, keep(checkpoint)}, the newest checkpoint of before, and what makes the next one durable.
   */
  constructor(
    join,
    key,
    choose,
    { verifier, kept, credentials = grpc.credentials.createInsecure(), patienceMs = 300_000 } = {},
  ) {
    this.join = join;
    this.key = key;
    this.choose = choose;
    this.credentials = credentials;
    this.patienceMs = patienceMs;
    this.#addresses = addressesOf(join.address);
    this.kept = kept;
    this.ledger = new Ledger(Buffer.from(join.gameId, "hex"), verifier, kept?.checkpoint);
    // p_i follows from the key, so that the key alone is enough to come back at any moment.
    const label = Buffer.concat([Buffer.from("tile-referee/v1/client-seed\0"), this.ledger.gameId]);
    const secret = Buffer.from(key.export({ format: "jwk" }).d, "base64url");
    this.seed = createHmac("sha256", secret).update(label).digest();
  }

  /** Plays to the end; returns the GameEnd. Throws Denied and Distrust, and whatever choose throws. */
  async play() {
    for (;;) {
      try {
        await this.#stream();
        return this.ledger.end;
      } catch (error) {
        if (!(error instanceof Cut)) throw error;
        const gone = Date.now() - this.#heard;
        if (gone > this.patienceMs)
          throw new Denied(`no answer from ${this.join.address} for ${Math.round(gone / 1000)} s: ${error.message}`);
        // Ever longer, and not in step with others.
        await sleep(Math.max(error.retryMs, this.#wait * (0.5 + Math.random() / 2)));
        this.#wait = Math.min(LONGEST_WAIT_MS, 2 * this.#wait);
      }
    }
  }

  /** One stream, until the game is over. Throws Cut if another one can go on. */
  async #stream() {
    // A connection of its own for each attempt: what is wrong with the old one is left behind.
    const address = this.#owner ?? this.#addresses[0];
    // The next attempt goes elsewhere, unless this one tells where the game is.
    if (this.#owner) this.#owner = undefined;
    else this.#addresses.push(this.#addresses.shift());
    const target = address.replace("grpcs://", "");
    const client = new GameService(target, this.credentials, { ...CHANNEL, "grpc.use_local_subchannel_pool": 1 });
    const metadata = new grpc.Metadata();
    metadata.set("authorization", `Bearer ${this.join.token}`);
    const call = client.PlayGame(metadata);
    const listen = () => setTimeout(() => call.cancel(), SILENCE_MS);
    let silence = listen();
    let other; // before anything that is sent, and before the log is blamed for it
    call.on("metadata", (found) => {
      other = otherGeneration(found);
      if (found.get("referee-api").length) this.#owner = this.#ownerIn(found) ?? address; // a refusal names neither
    });
    call.on("error", () => {}); // also thrown by the loop below; this one is for what comes after it
    try {
      const enter = { game_id: this.join.gameId, after_seq: this.ledger.size - 1, legal_moves: true, checkpoint: this.ledger.checkpoint };
      call.write({ enter });
      // Was it entered before the break? The same bytes again get the first answer again, so there is no need to know.
      if (this.#pending) this.#send(call);
      for await (const message of call) {
        if (other) throw new Denied(other);
        clearTimeout(silence); // a bot may think for longer than the referee may be silent
        this.#heard = Date.now();
        this.#arrived = performance.now();
        this.#wait = FIRST_WAIT_MS;
        if (await this.#take(message, call)) return;
        silence = listen();
      }
      throw new Cut("the stream ended without a reason");
    } catch (failed) {
      if (!(failed instanceof Error) || failed.code === undefined || !failed.metadata) throw failed;
      const error = errorOf(failed);
      if (passes(error)) throw new Cut(error.message, error.retryMs);
      if (error.reason === "SEQ_OUT_OF_RANGE") throw new Distrust(`the referee lacks what it has sent: ${error.message}`);
      if (error.reason === "OTHER_API") throw new Denied(error.message);
      throw new Denied(`${error.reason || grpc.status[error.code]}: ${error.message}`);
    } finally {
      clearTimeout(silence);
      call.cancel();
      client.close();
    }
  }

  /** The owner's address, if it is as safe as those that were given: with TLS, or on this machine as they are. */
  #ownerIn(metadata) {
    const [owner] = metadata.get("referee-owner");
    const isSafe = (address) => address.startsWith("grpcs://") || isHere(address);
    if (!owner || owner.startsWith("grpcs://") !== this.#addresses[0].startsWith("grpcs://")) return undefined;
    return isSafe(owner) || !this.#addresses.every(isSafe) ? owner : undefined;
  }

  /** Everything that one message may carry, in this order. Returns true after the last one. */
  async #take({ seq, item, commit, closing, answer, turn }, call) {
    if (item === "commit") {
      const entry = this.ledger.take(commit, seq).find((entry) => entry.seq === this.#pending?.seq);
      if (entry && !entry.signed?.intent.equals(this.#pending.intent)) this.#pending = null; // another came first
    }
    if (turn || item === "heartbeat") this.ledger.compare();
    if (item === "heartbeat" && this.#pending && Date.now() - this.#pending.sent > ANSWER_MS)
      throw new Cut("no answer to an act");
    if (answer && answer.id === this.#pending?.id) await this.#takeAnswer(answer, call);
    // A turn that we have acted on is told again after a break.
    if (turn && turn.size !== this.#pending?.seq) await this.#act(turn, call);
    if (item !== "closing") return false;
    if (closing.reason === "CLOSING_REASON_GAME_OVER") return true;
    if (closing.reason === "CLOSING_REASON_REVOKED") throw new Denied("the token was revoked or has expired");
    throw new Cut(closing.reason); // draining, or too slow: it goes on
  }

  async #act({ awaited, size, head, moves, left_ms }, call) {
    if (size !== this.ledger.size || !head.equals(this.ledger.head))
      throw new Distrust(`a turn for a head of ${size} entries, after ${this.ledger.size}`);
    const { gameId, dealt } = this.ledger;
    const { seat } = this.join;
    let act;
    if (awaited === "AWAITED_JOIN") {
      const commitment = seatCommitment(gameId, seat, this.seed);
      act = { join: { key: publicBytes(this.key), ...(dealt && { commitment }) } };
    } else if (awaited === "AWAITED_REVEAL") act = { reveal: { seed: this.seed } };
    else if (awaited === "AWAITED_MOVE") act = { move: await this.choose(moves, { leftMs: left_ms ?? null, size }) };
    else throw new Denied(`${awaited} of a seat`);
    // Before it is signed: whatever becomes of us and the referee, one of us knows this head.
    this.kept?.keep(this.ledger.checkpoint);
    // The time that passes beyond our thinking is the network's. Sent again after a break, the act has it still.
    const thought_ms = Math.floor(performance.now() - this.#arrived);
    this.#pending = { ...signedAct({ gameId, size, head }, seat, this.key, act), id: ++this.#acts, seq: size, thought_ms };
    this.#send(call);
  }

  #send(call) {
    this.#pending.sent = Date.now();
    call.write({ act: this.#pending });
  }

  async #takeAnswer({ verdict, accepted, refused, failure }, call) {
    const { seq } = this.#pending;
    if (verdict === "accepted") {
      if (accepted.seq !== seq || accepted.size > this.ledger.size)
        throw new Distrust(`entry ${seq} was accepted as ${accepted.seq}, and has not been sent`);
      this.#pending = null;
    } else if (verdict === "refused") {
      throw new Denied(`refused: ${refused.violations.map(({ text, rule_id }) => text || rule_id).join("; ")}`);
    } else {
      const reason = failure.reason.replace("ERROR_REASON_", "");
      if (["STALE_HEAD", "GAME_OVER"].includes(reason)) {
        this.#pending = null; // another entry came first: of it, and of another turn, the stream tells
      } else if (passes({ reason, retryMs: failure.retry_ms })) {
        await sleep(failure.retry_ms || FIRST_WAIT_MS);
        this.#send(call);
      } else throw new Denied(`${reason}: ${failure.message}`);
    }
  }
}
