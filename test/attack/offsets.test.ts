import { create } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { signTx, testKey } from "../../src/testing/index.ts";
import { toHex } from "../../src/util/index.ts";
import { QueryAccountsRequestSchema } from "../../src/wire/gen/sdk/auth/v1beta1/auth_pb.js";
import { encodeMessage } from "../../src/wire/index.ts";
import { AttackedNode } from "./lib/attacked-node.ts";
import { addStrangers } from "./lib/genesis.ts";
import { sends } from "./lib/large.ts";
import { besiege } from "./lib/siege.ts";
import { ask, callText } from "./lib/sockets.ts";

/** Rows of the list that is queried far behind its start. */
const ACCOUNTS = 60_000;
/** This many messages make a transaction of 590 kB. */
const MESSAGES = 4_450;
const AT_ONCE = 8;

let node: AttackedNode;
beforeAll(async () => {
  node = await AttackedNode.start({
    editGenesis: (genesis) => addStrangers(genesis, ACCOUNTS),
    checkInvariants: false,
    firstBlockWithinMs: 120_000,
  });
});
afterAll(() => node?.close());

const together = (body: string) => Promise.all(Array.from({ length: AT_ONCE }, () => ask(node.door, "/", body)));

/** A page of accounts. */
function pageOf(pagination: { readonly offset: bigint; readonly countTotal?: boolean }): string {
  const data = toHex(encodeMessage(QueryAccountsRequestSchema, create(QueryAccountsRequestSchema, { pagination })));
  return callText("abci_query", { path: "/cosmos.auth.v1beta1.Query/Accounts", data });
}

describe("lists that are asked for far behind their beginning", () => {
  it.each([
    ["behind more rows than are walked past", { offset: 55_000n }],
    ["at the end of all numbers", { offset: 2n ** 64n - 1n }],
    ["with a count of all rows", { offset: 0n, countTotal: true }],
  ])("are refused with the remedy: %s", async (_, page) => {
    const { text } = await ask(node.door, "/", pageOf(page));
    expect(text).toContain("rows would be walked past");
    expect(text).toContain('"code":18');
  });

  it("keep no block waiting, nor others", async () => {
    const bodies = [pageOf({ offset: 49_000n }), pageOf({ offset: 55_000n }), pageOf({ offset: 0n, countTotal: true })];
    await besiege(node, () => Promise.all(bodies.map(together)));
  });
});

describe("transactions of 590 kB of somebody who does not exist", () => {
  const nobody = testKey("nobody");
  const messages = sends(nobody.address, { first: 0, count: MESSAGES });
  const tx = signTx("any", messages, [{ key: nobody, accountNumber: 0n, sequence: 0n }], { gas: 30_000_000n });
  const call = callText("broadcast_tx_sync", { tx: Buffer.from(tx).toString("base64") });

  it("are refused for their signer, and leave nothing in the mempool", async () => {
    expect(tx.length).toBeGreaterThan(585_000);
    const { text } = await ask(node.door, "/", call);
    expect(text).toContain('"code":9');
    expect(text).toContain(nobody.address);
    expect((await ask(node.door, "/", callText("num_unconfirmed_txs"))).text).toContain('"total":"0"');
  });

  it("keep no block waiting, nor others", async () => {
    await besiege(node, () => together(call));
  });
});
