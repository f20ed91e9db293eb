import { appendFileSync } from "node:fs";
import type { ChainClient } from "../../src/client/index.ts";
import { fromBase64 } from "../../src/util/index.ts";
import { txHash } from "../../src/wire/index.ts";

/** A transfer that the node has reported to be in a block. */
export interface Acknowledged {
  /** Upper-case hex. */
  readonly hash: string;
  readonly height: bigint;
}

/** The node's answers to the client, in order: the node must never contradict any of them. */
export class ClientLog {
  readonly entries: Acknowledged[] = [];
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  get height(): bigint {
    return this.entries.at(-1)?.height ?? 0n;
  }

  /** Writes down every transfer that the node publishes as committed, until the client is closed. */
  async listen(client: ChainClient): Promise<void> {
    for await (const item of client.socket().subscribe("tm.event='Tx'")) {
      if (item.kind === "event") this.#add(item.value as TxEvent);
    }
  }

  #add({ TxResult: { height, tx, result } }: TxEvent): void {
    if ((result.code ?? 0) !== 0) throw new Error(`a transfer failed in block ${height}: ${result.log}`);
    const entry = { hash: txHash(fromBase64(tx)), height: BigInt(height) };
    this.entries.push(entry);
    appendFileSync(this.#path, `${entry.height} ${entry.hash}\n`);
  }
}

/** The value of the node's event. */
interface TxEvent {
  readonly TxResult: {
    readonly height: string;
    readonly tx: string;
    readonly result: { readonly code?: number; readonly log?: string };
  };
}
