import { hashOf, type LightBlock, verifyRoot } from "../../light/index.ts";
import { equalBytes } from "../../util/index.ts";
import { BLOCK_PROTOCOL, type Header } from "../../wire/index.ts";
import { ownBlockPath } from "../command/home.ts";
import { readBlock, replaceOwnBlock } from "../context/trusted-block.ts";

/** The parts of a node's chain that are read here. */
export interface OwnChain {
  readonly genesis: { readonly initialHeight: bigint };
  readonly blocks: {
    record(height: bigint): Awaitable<(Pick<LightBlock, "commit"> & { readonly header: Header }) | undefined>;
    validators(height: bigint): Awaitable<LightBlock["validators"] | undefined>;
  };
  readonly events: { listen(listener: (block: { readonly block: { readonly header: Header } }) => void): unknown };
  status(): Awaitable<{ readonly latest: { readonly header: Header } | undefined }>;
}

type Awaitable<T> = T | Promise<T>;

/** Nanoseconds after which a newer block is written: half of the time for which clients trust one. */
const RENEW_AFTER = 7n * 24n * 3600n * 1_000_000_000n;
/** Blocks of a chain before its state can be proven. */
const UNPROVEN_BLOCKS = 2n;

/**
 * Writes a block of a running node to its home, and a newer one every week: commands with this home have the answers of
 * nodes proven from it. A block of another chain, or a block that was rolled back, is removed.
 */
export async function keepOwnBlock(chain: OwnChain, home: string, report: (error: unknown) => void): Promise<void> {
  const first = chain.genesis.initialHeight + UNPROVEN_BLOCKS;
  let kept = readBlock(ownBlockPath(home));
  if (kept !== undefined && !(await isOf(chain, kept))) {
    replaceOwnBlock(home, undefined);
    kept = undefined;
  }
  const isDue = (height: bigint, time: bigint): boolean =>
    height >= first && (kept === undefined || kept.header.time + RENEW_AFTER <= time);
  const keep = async (height: bigint, time: bigint): Promise<void> => {
    if (!isDue(height, time)) return;
    const block = await blockAt(chain, height);
    if (block === undefined) return;
    replaceOwnBlock(home, block);
    kept = block;
  };
  const { latest } = await chain.status();
  if (latest !== undefined) await keep(latest.header.height, latest.header.time);
  chain.events.listen(({ block: { header } }) => void keep(header.height, header.time).catch(report));
}

async function isOf(chain: OwnChain, { header }: LightBlock): Promise<boolean> {
  const record = await chain.blocks.record(header.height);
  return record !== undefined && equalBytes(record.commit.blockId.hash, hashOf(header));
}

async function blockAt({ blocks }: OwnChain, height: bigint): Promise<LightBlock | undefined> {
  const [record, validators] = [await blocks.record(height), await blocks.validators(height)];
  if (record === undefined || validators === undefined) return undefined;
  const header = { ...record.header, version: { block: BLOCK_PROTOCOL, app: 0n } };
  const block = { header, commit: record.commit, validators };
  return isProvable(block) ? block : undefined;
}

/** Whether light clients accept the block: not where most validators are absent, or the engine has other versions. */
function isProvable(block: LightBlock): boolean {
  try {
    verifyRoot(block.header.chainId, block, block.commit.blockId.hash);
    return true;
  } catch {
    return false;
  }
}
