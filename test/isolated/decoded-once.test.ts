import { beforeEach, describe, expect, test, vi } from "vitest";
import { NO_VOTERS } from "../../src/abci/index.ts";
import { type TestChain, testChain } from "../../src/testing/index.ts";
import { pays, process } from "../support/chain/proposals.ts";

// Counters in place of shared modules: this file needs a process of its own.
const counts = vi.hoisted(() => ({ decoded: 0, verified: 0, checked: 0 }));

vi.mock("../../src/runtime/ante/tx.ts", async (original) => {
  const real = await original<typeof import("../../src/runtime/ante/tx.ts")>();
  const prepareTx: typeof real.prepareTx = (...args) => {
    counts.decoded += 1;
    return real.prepareTx(...args);
  };
  return { ...real, prepareTx };
});

vi.mock("../../src/runtime/ante/ante.ts", async (original) => {
  const real = await original<typeof import("../../src/runtime/ante/ante.ts")>();
  const runAnte: typeof real.runAnte = (...args) => {
    counts.checked += 1;
    real.runAnte(...args);
  };
  return { ...real, runAnte };
});

vi.mock("../../src/wire/index.ts", async (original) => {
  const real = await original<typeof import("../../src/wire/index.ts")>();
  const verifySignature: typeof real.verifySignature = (...args) => {
    counts.verified += 1;
    return real.verifySignature(...args);
  };
  return { ...real, verifySignature };
});

let chain: TestChain;

beforeEach(() => {
  chain = testChain({ modules: () => [] });
  Object.assign(counts, { decoded: 0, verified: 0, checked: 0 });
});

describe("between check and block", () => {
  test("each transaction is decoded and verified once, whatever is proposed in between", () => {
    const txs = [pays(chain, "alice", 10n), pays(chain, "alice", 20n, 1n), pays(chain, "bob", 30n)];
    for (const tx of txs) expect(chain.app.checkTx({ tx, kind: "new" }).code).toBe(0);
    expect(counts).toMatchObject({ decoded: 3, verified: 3 });
    const proposal = chain.propose(txs);
    expect(process(chain, proposal)).toBe(true);
    expect(chain.block(proposal).map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(counts).toMatchObject({ decoded: 3, verified: 3 });
  });

  test("a transaction that only a proposal brought is decoded and verified once too", () => {
    const tx = pays(chain, "alice", 10n);
    expect(process(chain, [tx])).toBe(true);
    expect(chain.block([Uint8Array.from(tx)])).toMatchObject([{ code: 0 }]);
    expect(counts).toMatchObject({ decoded: 1, verified: 1 });
  });

  test("a validator checks its own proposal once, and that of another in full", () => {
    const [first, second] = [pays(chain, "alice", 10n), pays(chain, "bob", 30n)];
    const made = { ...NO_VOTERS, height: chain.height + 1n, time: chain.time + 1n, proposer: new Uint8Array(20) };
    const txs = chain.app.prepareProposal({ ...made, txs: [first, second], maxBytes: 10_000 });
    expect(counts.checked).toBe(2);
    const proposal = { ...made, txs: txs.map((tx) => Uint8Array.from(tx)), hash: new Uint8Array(32) };
    expect(chain.app.processProposal(proposal)).toBe(true);
    expect(counts.checked).toBe(2);
    for (const other of [{ txs: txs.toReversed() }, { time: made.time + 1n }, { proposer: new Uint8Array(20).fill(1) }])
      expect(chain.app.processProposal({ ...proposal, ...other })).toBe(true);
    expect(counts.checked).toBe(8);
    expect(chain.app.processProposal({ ...proposal, txs: [first, first] })).toBe(false);
  });

  test("a proposal of 100,000 tiny transactions is refused at the first", () => {
    expect(process(chain, new Array(100_000).fill(Uint8Array.of(7)))).toBe(false);
    expect(counts.decoded).toBe(1);
  });
});
