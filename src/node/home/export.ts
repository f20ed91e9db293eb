import { createApp } from "../../app/index.ts";
import { BlockStore, type Genesis, genesisToJson, parseGenesis } from "../../engine/index.ts";
import { type Database, openLmdb, type StateStore, storeFault } from "../../store/index.ts";
import { toHex } from "../../util/index.ts";
import { type JsonValue, printJson, sortJson } from "../../wire/index.ts";
import { nodeErrors } from "../errors.ts";
import { readGenesisText } from "./genesis.ts";
import { homePaths } from "./home.ts";

/**
 * The state behind a block, the last one where none is named, as a genesis file that a new chain can go on from: sorted,
 * one line. The node must not run. Throws `node/19` where the height is not kept.
 */
export function exportGenesis(home: string, height?: bigint): string {
  const genesis = parseGenesis(readGenesisText(home));
  const database = openLmdb(homePaths(home).database);
  try {
    const exported = exportState(database, genesis, height);
    // genesisToJson gives JSON values alone.
    return printJson(sortJson(genesisToJson(exported) as JsonValue));
  } catch (error) {
    throw storeFault(error, homePaths(home).database);
  } finally {
    database.close();
  }
}

function exportState(database: Database, genesis: Genesis, asked?: bigint): Genesis {
  const blocks = new BlockStore(database);
  if (blocks.last === undefined) throw nodeErrors.noState("the chain has no block yet");
  const app = createApp({ database });
  const height = asked ?? blocks.height;
  // A block may be given up before the state behind it is, and its voters with it.
  const record = blocks.record(height);
  const state = record && app.exportAt(height);
  const voters = state && blocks.validators(height + 1n);
  if (record === undefined || state === undefined || voters === undefined) throw notKept(height, blocks, app.state);
  const names = new Map(genesis.validators.map(({ address, name }) => [toHex(address), name]));
  return {
    ...genesis,
    time: record.commit.signatures[0]?.timestamp ?? record.header.time,
    initialHeight: height + 1n,
    validators: voters.map((voter) => ({ ...voter, name: names.get(toHex(voter.address)) ?? "" })),
    consensusParams: state.consensusParams,
    appState: state.appState,
  };
}

function notKept(height: bigint, { base, height: last }: BlockStore, { lowestHeight }: StateStore): Error {
  const first = base > lowestHeight ? base : lowestHeight;
  return nodeErrors.heightNotKept(`${height}`, { hint: `this node keeps the heights ${first} to ${last}` });
}
