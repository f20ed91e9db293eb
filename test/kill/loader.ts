import { accountInfo, type ChainClient } from "../../src/client/index.ts";
import { errorText } from "../../src/util/index.ts";
import type { Lane } from "./lanes.ts";

const TICK_MS = 10;
const EXPECTED = /expected (\d+)/;

/** Sends at a rate, over all lanes in turn, for as long as one process of the node lives. */
export class Loader {
  readonly #client: ChainClient;
  readonly #lanes: readonly Lane[];
  readonly #next: (bigint | undefined)[];
  readonly #busy: boolean[];
  readonly #refusals: string[] = [];
  #turn = 0;
  #accepted = 0;
  #stopped = false;

  constructor(client: ChainClient, lanes: readonly Lane[]) {
    this.#client = client;
    this.#lanes = lanes;
    this.#next = lanes.map(() => undefined);
    this.#busy = lanes.map(() => false);
  }

  /** Transfers that the node has taken into its mempool. */
  get accepted(): number {
    return this.#accepted;
  }

  /** The node's refusals of transfers, except for wrong sequences. */
  get refusals(): readonly string[] {
    return this.#refusals;
  }

  /** Sends `rate` transfers a second until stopped. */
  async run(rate: number): Promise<void> {
    const started = performance.now();
    for (let sent = 0; !this.#stopped; ) {
      const due = ((performance.now() - started) / 1000) * rate;
      while (sent < due) {
        this.#sendOne();
        sent += 1;
      }
      await new Promise((resolve) => setTimeout(resolve, TICK_MS));
    }
  }

  stop(): void {
    this.#stopped = true;
  }

  /** The next idle lane sends; if all lanes wait for an answer there is nothing to do. */
  #sendOne(): void {
    for (let tries = 0; tries < this.#lanes.length; tries++) {
      this.#turn = (this.#turn + 1) % this.#lanes.length;
      if (this.#busy[this.#turn] === false) return void this.#send(this.#turn);
    }
  }

  /** A node that is being killed answers nothing; then the lane asks for its sequence again. */
  async #send(index: number): Promise<void> {
    const lane = this.#lanes[index];
    if (lane === undefined) return;
    this.#busy[index] = true;
    try {
      const sequence = this.#next[index] ?? (await accountInfo(this.#client.query, lane.key.address)).sequence;
      const { code, log } = await this.#client.node.broadcast(lane.tx(sequence), "sync");
      this.#next[index] = code === 0 ? sequence + 1n : this.#sequenceAfter(log);
      if (code === 0) this.#accepted += 1;
    } catch (error) {
      this.#next[index] = undefined;
      if (!this.#stopped && !/cannot reach the node|timed out|already exists/.test(errorText(error))) {
        this.#refusals.push(errorText(error));
      }
    } finally {
      this.#busy[index] = false;
    }
  }

  #sequenceAfter(log: string): bigint | undefined {
    const expected = EXPECTED.exec(log)?.[1];
    if (expected === undefined) this.#refusals.push(log);
    return expected === undefined ? undefined : BigInt(expected);
  }
}
