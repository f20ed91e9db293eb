import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import type { CommittedTx } from "../../../client/index.ts";
import { MsgSendSchema } from "../../../wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { AuthInfoSchema, TxBodySchema } from "../../../wire/gen/sdk/tx/v1beta1/tx_pb.js";
import { encodeMessage, encodeTx, packAny } from "../../../wire/index.ts";
import { actionOf, loadHistory } from "./txs.ts";

/** A transaction of a block, found by each key that is given. */
interface Listed {
  readonly height: bigint;
  readonly index?: number;
  readonly keys?: readonly string[];
}

/** A node that knows these transactions, and lists at most `rows` by a key. */
function nodeOf(all: readonly Listed[], rows: number) {
  const txs = all.map(({ height, index = 0, keys = ["message.sender"] }) => {
    const tx: CommittedTx = {
      ...{
        hash: `${height}/${index}`,
        height,
        index,
        bytes: new Uint8Array(),
        code: 0,
        codespace: "",
        data: new Uint8Array(),
      },
      ...{ log: "", info: "", gasWanted: 0n, gasUsed: 0n, events: [] },
    };
    return { tx, keys };
  });
  const txSearch = async (query: string) => {
    const last = /height<=(\d+)/.exec(query)?.[1];
    const found = txs.filter(
      ({ tx, keys }) => keys.includes(query.split("=")[0] ?? "") && tx.height <= BigInt(last ?? 1e9),
    );
    const sorted = found.map(({ tx }) => tx).sort((a, b) => Number(b.height - a.height) || b.index - a.index);
    return { txs: sorted.slice(0, rows), total: BigInt(sorted.length) };
  };
  return { node: { txSearch } };
}

/** Hashes of all pages. */
async function pages(node: ReturnType<typeof nodeOf>): Promise<string[][]> {
  const found: string[][] = [];
  let last: bigint | undefined;
  do {
    const { rows, next } = await loadHistory(node, "svc1a", last);
    found.push(rows.map(({ hash }) => hash));
    last = next;
  } while (last !== undefined);
  return found;
}

describe("the action of a transaction", () => {
  const send = packAny(MsgSendSchema, { fromAddress: "a", toAddress: "b" });
  const txOf = (count: number): Uint8Array =>
    encodeTx(
      {
        bodyBytes: encodeMessage(
          TxBodySchema,
          create(TxBodySchema, {
            messages: Array.from({ length: count }, () => send),
            memo: "x".repeat(300),
            timeoutHeight: 2n ** 63n,
          }),
        ),
        authInfoBytes: encodeMessage(AuthInfoSchema, create(AuthInfoSchema, { fee: { gasLimit: 1n } })),
      },
      [new Uint8Array(64)],
    );

  it("is the type of its first message, with the number of the others", () => {
    expect([0, 1, 3].map((count) => actionOf(txOf(count)))).toEqual(["", "MsgSend", "MsgSend + 2"]);
  });

  it("is empty where the bytes are none, wherever they end", () => {
    const whole = txOf(1);
    const cut = Array.from(whole, (_, end) => actionOf(whole.subarray(0, end)));
    expect(new Set(cut)).toEqual(new Set(["", "MsgSend"]));
    expect(cut.slice(0, 300).every((action) => action === "")).toBe(true);
    const bad = [[10, 3, 10, 1], [13, 0, 0, 0, 0], [10, 5, 10, 3, 10, 1, 255], Array.from({ length: 40 }, () => 255)];
    expect(bad.map((bytes) => actionOf(new Uint8Array(bytes)))).toEqual(["", "", "", ""]);
  });
});

describe("the history of an account", () => {
  it("has each transaction once, newest first, whichever keys find it", async () => {
    const both = ["tx.fee_payer", "message.sender", "transfer.recipient"];
    const node = nodeOf([{ height: 3n, keys: both }, { height: 9n, keys: both }, { height: 5n }], 10);
    expect(await pages(node)).toEqual([["9/0", "5/0", "3/0"]]);
  });

  it("ends a page above the block in which a full list ends", async () => {
    const sent = [8n, 7n, 6n, 6n, 5n].map((height, index) => ({ height, index }));
    const received = [9n, 2n].map((height) => ({ height, keys: ["transfer.recipient"] }));
    const found = await pages(nodeOf([...sent, ...received], 3));
    expect(found).toEqual([
      ["9/0", "8/0", "7/1"],
      ["6/3", "6/2", "5/4", "2/0"],
    ]);
  });

  it("goes on after a block with more transactions than a list holds", async () => {
    const sent = [...[4n, 4n, 4n].map((height, index) => ({ height, index })), { height: 3n }];
    expect(await pages(nodeOf(sent, 2))).toEqual([["4/2", "4/1"], ["3/0"]]);
  });
});
