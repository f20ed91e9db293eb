import { ChainClient, sendTx } from "../../src/client/index.ts";
import { type TestKey, testKey } from "../../src/testing/index.ts";
import type { Rng } from "./rng.ts";
import { signerOf, transfer } from "./signer.ts";
import { pause } from "./wait.ts";

/** A send that a node has reported to be in a block. */
export interface Acknowledged {
  readonly hash: string;
  readonly height: string;
}

export interface SendsRequest {
  /** JSON-RPC of the nodes, each as likely as the others. */
  readonly addresses: readonly string[];
  readonly rng: Rng;
  readonly senders: number;
  /** Time of each sender for a send. */
  readonly turnMs: number;
  /** Messages of a transaction; 1 unless given. */
  readonly messages?: number;
}

const WAIT = { timeoutMs: 10_000, pollMs: 100 } as const;
const GAS = 200_000n;

/** Accounts that send all the time, each its next transaction when the last one is in a block or given up. */
export class Sends {
  readonly keys: readonly TestKey[];
  readonly acknowledged: Acknowledged[] = [];
  readonly #request: SendsRequest;
  readonly #clients: readonly ChainClient[];
  #running: Promise<void>[] = [];
  #isStopped = false;

  constructor(request: SendsRequest) {
    this.#request = request;
    this.keys = senderKeys(request.senders);
    this.#clients = request.addresses.map((address) => new ChainClient(address));
  }

  start(): void {
    const { turnMs, senders } = this.#request;
    this.#running = this.keys.map(async (key, i) => {
      await pause((i * turnMs) / senders);
      await this.#sendAlways(key, this.keys[i + 1] ?? key);
    });
  }

  async stop(): Promise<readonly Acknowledged[]> {
    this.#isStopped = true;
    await Promise.all(this.#running);
    for (const client of this.#clients) client.close();
    return this.acknowledged;
  }

  /** A send to a node that is killed or cut off is not acknowledged, and may be lost. */
  async #sendAlways(key: TestKey, to: TestKey): Promise<void> {
    const { rng, turnMs, messages = 1 } = this.#request;
    const transfers = Array.from({ length: messages }, () => transfer(key.address, to.address, 1n));
    const options = { gas: GAS * BigInt(messages), wait: WAIT };
    while (!this.#isStopped) {
      const client = this.#clients[rng.below(this.#clients.length)];
      const turn = pause(turnMs);
      if (client !== undefined)
        await sendTx(client, signerOf(key), transfers, options).then(
          ({ code, txhash, height }) => code === 0 && this.acknowledged.push({ hash: txhash, height: `${height}` }),
          () => {},
        );
      await turn;
    }
  }
}

/** Keys of the senders, whose accounts need funds. */
export function senderKeys(count: number): TestKey[] {
  return Array.from({ length: count }, (_, i) => testKey(`sender ${i}`));
}
