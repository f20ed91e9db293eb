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
  /** Names the upgrade for which the node stopped, for the launcher of programs. */
  readonly upgradeInfo: string;
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
    upgradeInfo: join(data, "upgrade-info.json"),
  };
}

/** Writes the file that tells launchers of programs, such as Cosmovisor, which upgrade is needed. */
export function writeUpgradeInfo(home: string, plan: { name: string; height: bigint; info: string }): void {
  const { name, height, info } = plan;
  writeWhole(homePaths(home).upgradeInfo, `${JSON.stringify({ name, height: Number(height), info })}\n`, 0o600);
}

/** Writes a file as a whole, with the directories above it. */
export function writeWhole(path: string, text: string, mode: number): void {
  makePrivateDirectory(dirname(path));
  replaceFile(path, text, mode);
}
