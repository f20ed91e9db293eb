import { readFileSync } from "node:fs";
import { createApp } from "../../src/app/index.ts";
import { EmbeddedEngine, fileSignState, parseGenesis, Signer } from "../../src/engine/index.ts";
import { readKeyFile } from "../../src/node/home/keys.ts";
import { addGenesisAccounts, homePaths, initHome, readGenesisText } from "../../src/node/index.ts";
import { openLmdb, PRUNING_STRATEGIES } from "../../src/store/index.ts";
import { signTx, testKey } from "../../src/testing/index.ts";
import { NATIVE_DENOM } from "../../src/util/index.ts";
import { publicKeyToAny } from "../../src/wire/index.ts";
import { createValidatorMessage } from "./chain/index.ts";

const CHAIN_ID = "idle-1";

export interface IdleChain {
  readonly engine: EmbeddedEngine;
  close(): void;
}

/** A new chain on the disk of a home, with the settings of a node and a bonded validator; without transactions. */
export function idleChain(home: string): IdleChain {
  const alice = testKey("alice");
  initHome({ home, moniker: "m", chainId: CHAIN_ID, time: BigInt(Date.now()) * 1_000_000n });
  addGenesisAccounts(home, [{ address: alice.address, coins: [{ denom: NATIVE_DENOM, amount: 10n ** 12n }] }]);
  const paths = homePaths(home);
  const database = openLmdb(paths.database);
  const app = createApp({ database, pruning: PRUNING_STRATEGIES.default });
  const signer = new Signer(readKeyFile(paths.validatorKey), fileSignState(paths.validatorState));
  const genesis = parseGenesis(readGenesisText(home));
  const engine = new EmbeddedEngine({ app, database, genesis, signer, blockInterval: 0 });
  const pubkey = publicKeyToAny({ type: "ed25519", key: signer.publicKey });
  const message = createValidatorMessage(alice, { amount: 10n ** 11n }, { pubkey });
  const fee = [{ denom: NATIVE_DENOM, amount: 500_000n }];
  engine.mempool.add(
    signTx(CHAIN_ID, [message], [{ key: alice, accountNumber: 0n, sequence: 0n }], { gas: 500_000n, fee }),
  );
  const [result] = engine.produceBlock().txResults;
  if (result?.code !== 0) throw new Error(`no validator: ${result?.log}`);
  return { engine, close: () => database.close() };
}

/** A counter of this process in `/proc/self/io`: bytes for files (`wchar`), bytes of pages for disks (`write_bytes`). */
export function writtenBytes(counter: "wchar" | "write_bytes"): number {
  return Number(new RegExp(`^${counter}: (\\d+)$`, "m").exec(readFileSync("/proc/self/io", "utf8"))?.[1]);
}
