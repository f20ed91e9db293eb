import type { BlockListener, BlockSource, CommittedBlock, EventSource } from "../../../engine/index.ts";
import { txHash } from "../../../engine/index.ts";

interface Listening {
  readonly listener: BlockListener;
  readonly wants: () => boolean;
}

/** Blocks of another thread for listeners of this one; a block is read on request. */
export class ReadEvents implements EventSource {
  readonly #listening = new Set<Listening>();
  readonly #report: (error: unknown) => void;
  /** Blocks are reported in order, even while one is still being read. */
  #told: Promise<void> = Promise.resolve();

  /** `report` receives the errors that listeners throw. */
  constructor(report: (error: unknown) => void) {
    this.#report = report;
  }

  listen(listener: BlockListener, wants: () => boolean = () => true): () => void {
    const listening = { listener, wants };
    this.#listening.add(listening);
    return () => {
      this.#listening.delete(listening);
    };
  }

  /** Reports a durable block, read from `blocks`, to the listeners that want it. */
  tell(blocks: BlockSource, height: bigint): Promise<void> {
    this.#told = this.#told.then(() => this.#tell(blocks, height)).catch((error) => this.#report(error));
    return this.#told;
  }

  async #tell(blocks: BlockSource, height: bigint): Promise<void> {
    const wanting = [...this.#listening].filter(({ wants }) => wants());
    if (wanting.length === 0) return;
    const block = await readCommitted(blocks, height);
    for (const { listener } of wanting) {
      try {
        listener(block);
      } catch (error) {
        this.#report(error);
      }
    }
  }
}

async function readCommitted(blocks: BlockSource, height: bigint): Promise<CommittedBlock> {
  const [record, block, txs] = [await blocks.record(height), await blocks.block(height), await blocks.txs(height)];
  if (record === undefined || block === undefined) throw new Error(`block ${height} was announced, but is not stored`);
  const { commit, size, events, validatorUpdates, consensusParamUpdates, appHash } = record;
  const txResults = txs.map(({ result }) => result);
  const updates = { validatorUpdates, consensusParamUpdates };
  return { block, commit, size, txResults, events, ...updates, appHash, txHashes: block.txs.map(txHash) };
}
