import type { ConsensusParams } from "../abci/index.ts";
import type { Database, Write } from "../store/index.ts";
import { fromUtf8, toUtf8 } from "../util/index.ts";

/** What the application heeds of the parameters of consensus. */
export type BlockLimits = Pick<ConsensusParams["block"], "maxGas">;

/** They stand beside the state, in the same atomic write; the header carries their hash. */
const TABLE = "app";
const KEY = toUtf8("block_limits");

/** The limits of the next block; undefined in a state that was made before they were recorded. */
export function readBlockLimits(database: Pick<Database, "table">): BlockLimits | undefined {
  const bytes = database.table(TABLE).get(KEY);
  if (bytes === undefined) return undefined;
  const raw: { max_gas: string } = JSON.parse(fromUtf8(bytes));
  return { maxGas: BigInt(raw.max_gas) };
}

export function blockLimitsWrite({ maxGas }: BlockLimits): Write {
  return { table: TABLE, key: KEY, value: toUtf8(JSON.stringify({ max_gas: `${maxGas}` })) };
}
