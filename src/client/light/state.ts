import type { LightClient, LightHeader } from "../../light/index.ts";
import { equalBytes, toHex } from "../../util/index.ts";
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

/** The node says that a newer block has changed a value that was read. */
export class ChangedSince extends Error {
  /** The newest height whose state the value is of, as the node says. */
  readonly height: bigint;

  constructor(height: bigint) {
    super(`changed up to height ${height}`);
    this.height = height;
  }
}

/** The state before a verified block, whose header holds its hash. */
export function provenState(
  node: ProofSource["node"],
  header: LightHeader,
  /** Compares each value with the node's newest one, which has no proof yet; reads reject with `ChangedSince` if they differ. */
  { isNewest }: { readonly isNewest: boolean },
): ProvenState {
  return new BatchedState(node, header, isNewest);
}

const NOTHING = new Uint8Array();

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
  readonly #isNewest: boolean;
  #waiting: Read[] = [];

  constructor(node: ProofSource["node"], { height, appHash }: LightHeader, isNewest: boolean) {
    this.height = height - 1n;
    this.#node = node;
    this.#appHash = appHash;
    this.#isNewest = isNewest;
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
      const plain = reads.map(({ store, key }) => ({ path: `/store/${store}/key`, data: key }));
      const proofs = plain.map((each) => ({ ...each, height: this.height, prove: true }));
      const answers = await this.#node.abciQueries(this.#isNewest ? [...proofs, ...plain] : proofs);
      const values = reads.map((read, i) => this.#proven(read, answers[i]));
      this.#requireNewest(values, answers.slice(reads.length));
      for (const [i, read] of reads.entries()) read.resolve(values[i]);
    } catch (error) {
      for (const read of reads) read.reject(error);
    }
  }

  #requireNewest(values: readonly (Uint8Array | undefined)[], newest: readonly AbciQueryResult[]): void {
    for (const [i, { value, height }] of newest.entries()) {
      if (!equalBytes(value, values[i] ?? NOTHING)) throw new ChangedSince(height);
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
