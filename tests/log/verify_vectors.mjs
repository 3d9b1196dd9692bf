// The test vectors of docs/log-format.md, checked with the verifier's modules.

import assert from "node:assert/strict";

/** How many messages are refused that have more than one encoding. Throws if a vector does not hold. */
export async function check(load, { keys, intents, tree, checkpoint, deck, strict, file }) {
  const { hex, fromHex, sha256, base64, utf8 } = await load("bytes");
  const { verifierKey, parseCheckpoint, checkSigned, leafHash, roots } = await load("note");
  const { verifies, isKey } = await load("ed25519");
  const { refereeCommitment, seatCommitment, deckKey, Stream } = await load("deck");
  const { audit } = await load("audit");
  const { signedBytes } = await load("authors");
  const schema = await load("schema");
  const { decode } = await load("wire");

  const referee = await verifierKey(keys.referee_verifier_key);
  const seat = fromHex(keys.seat_public_key);
  assert.equal(hex(referee.key), keys.referee_public_key);
  assert.equal(hex(referee.id), checkpoint.key_id);
  assert.equal(hex((await sha256(seat)).subarray(0, 8)), keys.seat_key_id);
  for (const name of ["join", "move"]) {
    const body = fromHex(intents[`${name}_body`]);
    assert(await verifies(seat, signedBytes(body), fromHex(intents[`${name}_signature`])));
    assert(!(await verifies(referee.key, signedBytes(body), fromHex(intents[`${name}_signature`]))));
    assert.equal(decode(schema.Intent, body).act, name);
  }
  assert.equal(hex(signedBytes(fromHex(intents.move_body))), intents.move_pae);
  assert.equal(hex(await sha256(signedBytes(fromHex(intents.join_body)))), intents.join_pae_sha256);
  assert.equal(decode(schema.Intent, fromHex(intents.resign_body)).act, "resign");

  const leaves = await Promise.all(tree.entries.map((entry) => leafHash(fromHex(entry))));
  const root = async (from, to) => hex((await roots(leaves.slice(from, to), new Set([to - from]))).get(to - from));
  assert.equal(hex(leaves[0]), tree.leaf_0);
  assert.equal(await root(0, 2), tree.node_0_1);
  assert.equal(await root(0, 0), tree.empty_root);
  for (const [n, expected] of tree.roots.entries()) assert.equal(await root(0, n + 1), expected);
  const parts = async (...ranges) => Promise.all(ranges.map((range) => root(...range)));
  assert.deepEqual(await parts([4, 5], [6, 7], [0, 4]), tree.inclusion_5_of_7);
  assert.deepEqual(await parts([2, 3], [3, 4], [0, 2], [4, 7]), tree.consistency_3_to_7);

  const head = parseCheckpoint(utf8(checkpoint.note));
  await checkSigned(head, referee);
  assert.deepEqual([head.gameId, head.size, base64(head.root)], [checkpoint.game_id, 7n, checkpoint.root_base64]);

  const [r, game, p] = [fromHex(deck.r), fromHex(deck.game_id), deck.p.map(fromHex)];
  assert.equal(hex(await refereeCommitment(r)), deck.c_r);
  for (const seat of [0, 1]) assert.equal(hex(await seatCommitment(game, seat, p[seat])), deck[`c_${seat}`]);
  const k = await deckKey(r, game, p);
  assert.equal(hex(k), deck.k);
  for (const [label, { words, n, permutation, uniform }] of Object.entries(deck.labels)) {
    const stream = new Stream(k, label);
    for (const word of words) assert.equal((await stream.word()).toString(16).padStart(8, "0"), word);
    if (permutation) assert.deepEqual(await new Stream(k, label).permutation(n), permutation);
    else assert.equal(await new Stream(k, label).uniform(n), uniform);
  }

  // The encoding alone: what is needed, of which length, is left out.
  const lax = (message) => ({
    ...message,
    needs: [],
    fields: new Map(Array.from(message.fields, ([number, field]) => {
      const inner = field.message && lax(field.message);
      return [number, { ...field, needed: false, lengths: undefined, id: false, message: inner }];
    })),
  });
  let refused = 0;
  for (const { why, message, bytes } of strict.refused) {
    const known = schema[message.split(".").at(-1)] ?? schema.GAMES.alhambra[1][message.split(".").at(-1).toLowerCase()];
    if (!known) continue;
    assert.throws(() => decode(lax(known), fromHex(bytes)), { code: "MALFORMED" }, why);
    refused++;
  }

  const data = new Uint8Array(fromHex(file.file));
  const report = await audit(data, {
    key: await verifierKey(file.verifier_key),
    seatKeys: { 0: fromHex(file.seat_keys[0]), 1: fromHex(file.seat_keys[1]) },
  });
  assert.deepEqual(report.failures.map(({ layer, code }) => [layer, code]), [["rules", "UNSUPPORTED"]]);
  assert.deepEqual([report.gameId, report.entries, report.covered], [file.game_id, 11, 11]);
  assert.equal(hex(await sha256(data)), file.file_sha256);
  return refused;
}
