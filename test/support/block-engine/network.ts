import { DEFAULT_CONSENSUS_PARAMS } from "../../../src/abci/index.ts";
import { generateEd25519Seed } from "../../../src/crypto/index.ts";
import { parseRfc3339 } from "../../../src/engine/embedded/blocks/time.ts";
import { EmbeddedEngine, type EmbeddedEngineOptions } from "../../../src/engine/embedded/engine.ts";
import { memorySignState, Signer, type SignStateStore } from "../../../src/engine/embedded/signer.ts";
import type { Genesis } from "../../../src/engine/genesis.ts";
import { type Database, memoryDatabase } from "../../../src/store/index.ts";
import { KvApplication } from "./kv-app.ts";
import { ManualClock } from "./manual-clock.ts";

/** A chain of the key-value application on a database that survives restarts of the engine. */
export class KvNetwork {
  readonly seed = generateEd25519Seed();
  readonly signState: SignStateStore = memorySignState();
  readonly clock = new ManualClock(parseRfc3339("2026-11-21T10:00:00.5Z"));
  readonly database: Database = memoryDatabase();
  readonly genesis: Genesis;

  constructor() {
    const { publicKey, address } = new Signer(this.seed, memorySignState());
    this.genesis = {
      time: parseRfc3339("2026-11-21T09:00:00Z"),
      chainId: "kv-1",
      initialHeight: 1n,
      consensusParams: DEFAULT_CONSENSUS_PARAMS,
      validators: [{ address, pubKey: publicKey, power: 10n, name: "only" }],
      appState: {},
    };
  }

  /** An engine on the network's database, as after a restart. */
  engine(options: Partial<EmbeddedEngineOptions> = {}): EmbeddedEngine {
    return new EmbeddedEngine({
      app: new KvApplication(this.database),
      database: this.database,
      genesis: this.genesis,
      signer: new Signer(this.seed, this.signState),
      blockInterval: 0,
      clock: this.clock,
      ...options,
    });
  }
}

export function kvTx(text: string): Uint8Array {
  return Buffer.from(text);
}
