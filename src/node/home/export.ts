import { createApp, type ExportedState, type RestartState } from "../../app/index.ts";
import { consensusAddress } from "../../crypto/index.ts";
import { BlockStore, type Genesis, genesisToJson, parseGenesis, type Validator } from "../../engine/index.ts";
import type { Restart } from "../../runtime/index.ts";
import { type Database, openLmdb, type StateStore, storeFault } from "../../store/index.ts";
import { equalBytes, toHex } from "../../util/index.ts";
import { encodeAddress, printJson, sortJson } from "../../wire/index.ts";
import { nodeErrors } from "../errors.ts";
import { readGenesisText } from "./genesis.ts";
import { homePaths } from "./home.ts";
import { homeValidatorKey } from "./identity.ts";

/**
 * The state after a block, by default the last one, as a genesis file from which a new chain can continue: sorted, one
 * line. That chain begins at the next height, with `restart` at height 1. The node must not run. Throws `node/19` where
 * the height is not kept, `node/20` where the validator of this home would be jailed, `node/26` where others than the
 * embedded engine's would have to sign.
 */
export function exportGenesis(home: string, height?: bigint, restart?: Restart): string {
  const genesis = parseGenesis(readGenesisText(home));
  const database = openLmdb(homePaths(home).database);
  try {
    const exported = exportState(database, genesis, { height, restart, own: homeValidatorKey(home) });
    return printJson(sortJson(genesisToJson(exported)));
  } catch (error) {
    throw storeFault(error, homePaths(home).database);
  } finally {
    database.close();
  }
}

interface Exporting {
  readonly height: bigint | undefined;
  readonly restart: Restart | undefined;
  /** The key with which this home signs blocks. */
  readonly own: Uint8Array;
}

function exportState(database: Database, genesis: Genesis, { height: asked, restart, own }: Exporting): Genesis {
  const blocks = new BlockStore(database);
  if (blocks.last === undefined) throw nodeErrors.noState("the chain has no block yet");
  const app = createApp({ database, upgrade: true });
  const height = asked ?? blocks.height;
  // A block, and with it its voters, may be pruned before the state after it is.
  const record = blocks.record(height);
  const restarted = record && restart && app.restartAt(height, restart);
  const state = restart === undefined ? record && app.exportAt(height) : restarted;
  const next = state && blocks.validators(height + 1n);
  if (record === undefined || state === undefined || next === undefined) throw notKept(height, blocks, app.state);
  if (restarted !== undefined) checkOwn(restarted, own);
  if (!blocks.isOutside && restart?.unjailed === undefined) checkSigners(state, own);
  const names = new Map(genesis.validators.map(({ address, name }) => [toHex(address), name]));
  return {
    ...genesis,
    time: record.commit.signatures[0]?.timestamp ?? record.header.time,
    initialHeight: restart === undefined ? height + 1n : 1n,
    validators: votersOf(state, next).map((voter) => ({ ...voter, name: names.get(toHex(voter.address)) ?? "" })),
    consensusParams: state.consensusParams,
    appState: state.appState,
  };
}

/** Voters that the modules begin a chain with, the strongest first; the engine's where the modules have none. */
function votersOf({ voters }: ExportedState, next: readonly Validator[]): readonly Validator[] {
  if (voters.length === 0) return next;
  const validators = voters.map(({ pubKey, power }) => ({ address: consensusAddress(pubKey), pubKey, power }));
  return validators.sort((a, b) => Number(b.power - a.power) || Buffer.compare(a.address, b.address));
}

/** Without the validator of this home, the new chain could not make blocks. */
function checkOwn({ before, voters }: RestartState, own: Uint8Array): void {
  const has = (list: RestartState["voters"]) => list.some(({ pubKey }) => equalBytes(pubKey, own));
  if (has(before) && !has(voters)) throw nodeErrors.ownJailed();
}

/** The embedded engine makes blocks without the votes of others. A chain that begins with their voting power waits for them. */
function checkSigners({ voters }: ExportedState, own: Uint8Array): void {
  const others = voters.filter(({ pubKey }) => !equalBytes(pubKey, own));
  if (others.length === 0) return;
  const names = others.map(({ pubKey }) => encodeAddress(consensusAddress(pubKey), "valcons"));
  throw nodeErrors.unsigned(names.join(", "));
}

function notKept(height: bigint, { base, height: last }: BlockStore, { lowestHeight }: StateStore): Error {
  const first = base > lowestHeight ? base : lowestHeight;
  return nodeErrors.heightNotKept(`${height}`, { hint: `this node keeps heights ${first} to ${last}` });
}
