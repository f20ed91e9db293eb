import type { LightClient, LightHeader } from "../../light/index.ts";
import { toHex } from "../../util/index.ts";
import { verifyStoreProof } from "../../wire/index.ts";
import type { AbciQueryResult, NodeApi } from "../chain/node.ts";
import { clientErrors } from "../errors.ts";

/** Values of stores in the state of one height, each proven. */
export interface ProvenState {
  readonly height: bigint;
  /** The bytes under a key of a store; undefined if the key is proven to be absent. Reads made together are one request. */
  get(store: string, key: Uint8Array): Promise<Uint8Array | undefined>;
}

/** A node that answers with proofs, and the verified headers to check them with. */
export interface ProofSource {
  readonly node: Pick<NodeApi, "abciQueries">;
  readonly light: Pick<LightClient, "latest" | "at">;
}

/** The state of a height, the newest that can be proven without one: the next block's header holds its hash. */
export async function provenState(source: ProofSource, height?: bigint): Promise<ProvenState> {
  const { light } = source;
  const header = height === undefined ? (await light.latest()).header : await light.at(height + 1n);
  return new BatchedState(source.node, header);
}

interface Read {
  readonly store: string;
  readonly key: Uint8Array;
  resolve(value: Uint8Array | undefined): void;
  reject(error: unknown): void;
}

class BatchedState implements ProvenState {
  readonly height: bigint;
  readonly #node: ProofSource["node"];
  readonly #appHash: Uint8Array;
  #waiting: Read[] = [];

  constructor(node: ProofSource["node"], { height, appHash }: LightHeader) {
    this.height = height - 1n;
    this.#node = node;
    this.#appHash = appHash;
  }

  get(store: string, key: Uint8Array): Promise<Uint8Array | undefined> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ store, key, resolve, reject });
      if (this.#waiting.length === 1) queueMicrotask(() => void this.#send());
    });
  }

  async #send(): Promise<void> {
    const reads = this.#waiting;
    this.#waiting = [];
    try {
      const requests = reads.map(({ store, key }) => ({ path: `/store/${store}/key`, data: key }));
      const answers = await this.#node.abciQueries(requests, { height: this.height, prove: true });
      for (const [i, read] of reads.entries()) read.resolve(this.#proven(read, answers[i]));
    } catch (error) {
      for (const read of reads) read.reject(error);
    }
  }

  #proven({ store, key }: Read, answer: AbciQueryResult | undefined): Uint8Array | undefined {
    // Keys of other chains are others: a proof that ours is absent there would say nothing.
    if (answer === undefined || answer.proofOps[0]?.type !== "ics23:smt") {
      const reason = answer?.log || "no reason";
      throw clientErrors.noProof(`${toHex(key)} in store ${store} at height ${this.height}: ${reason}`);
    }
    const value = answer.value.length === 0 ? undefined : answer.value;
    verifyStoreProof(answer.proofOps, { appHash: this.#appHash, store, key, value });
    return value;
  }
}
