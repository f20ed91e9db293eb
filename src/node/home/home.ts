import { dirname, join } from "node:path";
import { makePrivateDirectory, replaceFile } from "../../util/index.ts";

/** Where a node keeps its files. */
export interface HomePaths {
  readonly home: string;
  /** Directory of keys, genesis and settings. */
  readonly config: string;
  readonly genesis: string;
  readonly nodeKey: string;
  readonly validatorKey: string;
  /** The last vote of the validator. */
  readonly validatorState: string;
  /** Directory of state, blocks and index. */
  readonly database: string;
  /** Directory of snapshots of the state. */
  readonly snapshots: string;
}

export function homePaths(home: string): HomePaths {
  const config = join(home, "config");
  const data = join(home, "data");
  return {
    home,
    config,
    genesis: join(config, "genesis.json"),
    nodeKey: join(config, "node_key.json"),
    validatorKey: join(config, "priv_validator_key.json"),
    validatorState: join(data, "priv_validator_state.json"),
    database: join(data, "chain"),
    snapshots: join(data, "snapshots"),
  };
}

/** Writes a file as a whole, with the directories above it. */
export function writeWhole(path: string, text: string, mode: number): void {
  makePrivateDirectory(dirname(path));
  replaceFile(path, text, mode);
}
