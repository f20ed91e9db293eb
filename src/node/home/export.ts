import { createApp } from "../../app/index.ts";
import { BlockStore, type Genesis, genesisToJson, parseGenesis } from "../../engine/index.ts";
import { type Database, openLmdb, storeFault } from "../../store/index.ts";
import { toHex } from "../../util/index.ts";
import { type JsonValue, printJson, sortJson } from "../../wire/index.ts";
import { nodeErrors } from "../errors.ts";
import { readGenesisText } from "./genesis.ts";
import { homePaths } from "./home.ts";

/**
 * The state of the last block as a genesis file that a new chain can go on from: sorted, one line. The node must not
 * run.
 */
export function exportGenesis(home: string): string {
  const genesis = parseGenesis(readGenesisText(home));
  const database = openLmdb(homePaths(home).database);
  try {
    const exported = exportState(database, genesis);
    // genesisToJson gives JSON values alone.
    return printJson(sortJson(genesisToJson(exported) as JsonValue));
  } catch (error) {
    throw storeFault(error, homePaths(home).database);
  } finally {
    database.close();
  }
}

function exportState(database: Database, genesis: Genesis): Genesis {
  const blocks = new BlockStore(database);
  const app = createApp({ database });
  if (blocks.last === undefined) throw nodeErrors.noState("the chain has no block yet");
  const { header, commit } = blocks.last;
  const voters = blocks.validators(header.height + 1n) ?? [];
  const names = new Map(genesis.validators.map(({ address, name }) => [toHex(address), name]));
  return {
    ...genesis,
    time: commit.signatures[0]?.timestamp ?? header.time,
    initialHeight: header.height + 1n,
    validators: voters.map((voter) => ({ ...voter, name: names.get(toHex(voter.address)) ?? "" })),
    consensusParams: app.consensusParams ?? genesis.consensusParams,
    appState: app.exportGenesis(),
  };
}
