import { beforeEach, describe, expect, test } from "vitest";
import { pays, process } from "../../test/support/chain/proposals.ts";
import { seedFrom } from "../../test/support/rng.ts";
import { type TestChain, testChain } from "../testing/index.ts";
import { type Candidate, orderByFee } from "./proposal.ts";

let chain: TestChain;

beforeEach(() => {
  chain = testChain({ modules: () => [] });
});

describe("a proposal for other validators", () => {
  test("has the dearest transactions first, those of an account in their order", () => {
    const [a0, a1] = [pays(chain, "alice", 10n), pays(chain, "alice", 900n, 1n)];
    const b = pays(chain, "bob", 500n);
    expect(chain.propose([a0, a1, b])).toEqual([b, a0, a1]);
    expect(process(chain, [b, a0, a1])).toBe(true);
  });

  test("leaves out what cannot pay, is not signed, comes twice or too early, and passes its own check", () => {
    const good = pays(chain, "alice", 10n);
    const poor = pays(chain, "bob", 10n ** 18n);
    const early = pays(chain, "bob", 5n, 7n);
    const forged = Uint8Array.from(pays(chain, "bob", 5n));
    forged[forged.length - 1] = (forged[forged.length - 1] ?? 0) ^ 1;
    const proposal = chain.propose([poor, good, early, good, forged, Uint8Array.of(1)]);
    expect(proposal).toEqual([good]);
    expect(process(chain, proposal)).toBe(true);
    for (const bad of [[poor], [early], [good, good], [forged], [Uint8Array.of(1)], [new Uint8Array(0)]])
      expect(process(chain, bad)).toBe(false);
  });

  test("changes nothing: the same one passes again, and a block follows", () => {
    const tx = pays(chain, "alice", 10n);
    for (let i = 0; i < 3; i++) expect(process(chain, chain.propose([tx]))).toBe(true);
    expect(chain.block([tx])).toMatchObject([{ code: 0 }]);
  });

  test("is refused for one unit of gas or one byte too many, and for 100,000 tiny transactions", () => {
    const limited = testChain({ modules: () => [], maxBlockGas: 400_000n });
    const txs = [pays(limited, "alice", 1n), pays(limited, "alice", 1n, 1n), pays(limited, "alice", 1n, 2n)];
    expect(process(limited, txs.slice(0, 2))).toBe(true);
    expect(process(limited, txs)).toBe(false);
    expect(limited.propose(txs)).toEqual(txs.slice(0, 2));
    expect(process(chain, [new Uint8Array(22_020_097)])).toBe(false);
    expect(process(chain, new Array(100_000).fill(Uint8Array.of(7)))).toBe(false);
  });
});

describe("the order by fee", () => {
  const rng = seedFrom("SVC_TEST_SEED");
  const below = (most: number) => rng.below(most);

  /** The order in which a mempool would hand them out: always the dearest of those whose turn has come. */
  function greedy(candidates: readonly Candidate[]): Candidate[] {
    const left = [...candidates];
    const taken: Candidate[] = [];
    while (left.length > 0) {
      const ready = left.filter((one, i) =>
        left.slice(0, i).every((earlier) => earlier.signers.every((signer) => !one.signers.includes(signer))),
      );
      const best = ready.reduce((one, other) => (other.gasPrice > one.gasPrice ? other : one));
      taken.push(best);
      left.splice(left.indexOf(best), 1);
    }
    return taken;
  }

  test("keeps an order that a mempool has made, and never puts one before its account's earlier ones", () => {
    for (let run = 0; run < 200; run++) {
      const candidates = Array.from({ length: 1 + below(12) }, (_, i): Candidate => {
        const signers = ["a", "b", "c", "d"].filter(() => below(3) === 0);
        return {
          tx: Uint8Array.of(i),
          gas: 1n,
          gasPrice: BigInt(below(5)),
          signers: signers.length > 0 ? signers : ["a"],
        };
      });
      const made = greedy(candidates);
      expect(orderByFee(made)).toEqual(made);
      const ordered = orderByFee(candidates);
      for (const signer of ["a", "b", "c", "d"]) {
        const of = (list: readonly Candidate[]) => list.filter(({ signers }) => signers.includes(signer));
        expect(of(ordered)).toEqual(of(candidates));
      }
    }
  });
});
