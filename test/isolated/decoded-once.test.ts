import { beforeEach, describe, expect, test, vi } from "vitest";
import { type TestChain, testChain } from "../../src/testing/index.ts";
import { pays, process } from "../support/chain/proposals.ts";

// Counters in place of shared modules: this file needs a process of its own.
const counts = vi.hoisted(() => ({ decoded: 0, verified: 0 }));

vi.mock("../../src/runtime/ante/tx.ts", async (original) => {
  const real = await original<typeof import("../../src/runtime/ante/tx.ts")>();
  const prepareTx: typeof real.prepareTx = (...args) => {
    counts.decoded += 1;
    return real.prepareTx(...args);
  };
  return { ...real, prepareTx };
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
  Object.assign(counts, { decoded: 0, verified: 0 });
});

describe("between check and block", () => {
  test("each transaction is decoded and verified once, whatever is proposed in between", () => {
    const txs = [pays(chain, "alice", 10n), pays(chain, "alice", 20n, 1n), pays(chain, "bob", 30n)];
    for (const tx of txs) expect(chain.app.checkTx({ tx, kind: "new" }).code).toBe(0);
    expect(counts).toEqual({ decoded: 3, verified: 3 });
    const proposal = chain.propose(txs);
    expect(process(chain, proposal)).toBe(true);
    expect(chain.block(proposal).map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(counts).toEqual({ decoded: 3, verified: 3 });
  });

  test("a transaction that only a proposal brought is decoded and verified once too", () => {
    const tx = pays(chain, "alice", 10n);
    expect(process(chain, [tx])).toBe(true);
    expect(chain.block([Uint8Array.from(tx)])).toMatchObject([{ code: 0 }]);
    expect(counts).toEqual({ decoded: 1, verified: 1 });
  });

  test("a proposal of 100,000 tiny transactions is refused at the first", () => {
    expect(process(chain, new Array(100_000).fill(Uint8Array.of(7)))).toBe(false);
    expect(counts.decoded).toBe(1);
  });
});
