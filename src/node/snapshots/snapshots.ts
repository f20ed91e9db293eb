import { existsSync, rmSync } from "node:fs";
import { create } from "@bufbuild/protobuf";
import type { ValidatorUpdate } from "../../abci/index.ts";
import {
  createApp,
  holdsLastBlock,
  restoredBlock,
  type SvcApplication,
  snapshotTables,
  standardModules,
  storeNames,
  UNHASHED_TABLES,
} from "../../app/index.ts";
import { sha256 } from "../../crypto/index.ts";
import {
  AHEAD_TABLE,
  type Anchor,
  aheadWrite,
  anchorWrites,
  BlockReader,
  catchUpOnce,
  decodeAnchor,
  decodeSignedBlock,
  encodeSigned,
  fileSignState,
  type Genesis,
  hasParams,
  parseGenesis,
  type SignedBlock,
  Signer,
  type Validator,
  type VerifiedAnchor,
  verifyAnchor,
} from "../../engine/index.ts";
import { consensusKeyOf, powerOf } from "../../modules/staking/index.ts";
import {
  blockFile,
  type Database,
  type DatabaseReader,
  loadArchive,
  OLDER_FORMAT,
  openLmdb,
  openLmdbReader,
  pastTables,
  SNAPSHOT_FORMAT,
  SnapshotDirectory,
  type SnapshotPlace,
  type SnapshotRecord,
  StateRestore,
  storeErrors,
  storeFault,
  writeArchive,
} from "../../store/index.ts";
import { equalBytes, isOneOf, toHex } from "../../util/index.ts";
import { Query } from "../../wire/gen/sdk/staking/v1beta1/query_pb.js";
import { decodeMessage, encodeMessage, methodPath } from "../../wire/index.ts";
import { nodeErrors } from "../errors.ts";
import { readGenesisText } from "../home/genesis.ts";
import { homePaths } from "../home/home.ts";
import { readKeyFile } from "../home/keys.ts";
import { snapshotOf } from "./taker.ts";

/** The snapshots of a home, the highest first. */
export function listSnapshots(home: string): readonly SnapshotRecord[] {
  return directoryOf(home).list();
}

export function deleteSnapshot(home: string, place: SnapshotPlace): void {
  directoryOf(home).remove(place);
}

/** Loads a snapshot from an archive into a home. A failure leaves nothing of it behind. */
export function loadSnapshot(home: string, archive: string): Promise<SnapshotRecord> {
  return loadArchive(archive, directoryOf(home));
}

function directoryOf(home: string): SnapshotDirectory {
  return new SnapshotDirectory(homePaths(home).snapshots);
}

/**
 * Takes a snapshot of a height of a stopped node; by default of the last one whose hash is in a header, which is the
 * header of the block after it.
 */
export async function exportSnapshot(home: string, height?: bigint): Promise<SnapshotRecord> {
  const paths = homePaths(home);
  const database = openLmdb(paths.database);
  try {
    const app = createApp({ database, upgrade: true });
    const last = app.state.height;
    const wanted = height ?? last - 1n;
    if (app.state.isEmpty || wanted < 1n) throw nodeErrors.noState();
    if (wanted >= last)
      throw nodeErrors.noSnapshot(
        `the hash of height ${wanted} is in block ${wanted + 1n}, and the last block is ${last}`,
      );
    if (wanted < new BlockReader(database).base) throw nodeErrors.noSnapshot(`block ${wanted} is not kept`);
    const past = pastTables(database, wanted);
    if (past !== undefined && !holdsLastBlock(past))
      throw nodeErrors.noSnapshot(`an earlier version wrote height ${wanted}: let this one make two blocks first`);
    const nothing = async () => {};
    const origin = { app, database, directory: directoryOf(home) };
    return await snapshotOf(origin, wanted, { pause: nothing, blockBehind: nothing });
  } catch (error) {
    throw storeFault(error, paths.database);
  } finally {
    database.close();
  }
}

/** Writes a snapshot as an archive, with the blocks that follow it in this home. The node may run. */
export async function dumpSnapshot(home: string, place: SnapshotPlace, file: string): Promise<void> {
  const directory = directoryOf(home);
  const record = directory.find(place);
  const chain = openBlocks(homePaths(home).database);
  try {
    const later = [...laterBlocks(chain, record, directory)];
    const own = record.blocks.length;
    await writeArchive(file, {
      record: { ...record, blocks: [...record.blocks, ...later.map(({ hash }) => hash)] },
      chunk: (i) => present(directory.chunk(place, i)),
      block: (i) => present(i < own ? directory.block(place, i) : later[i - own]?.read()),
    });
  } finally {
    chain?.close();
  }
}

/** The blocks of a home, also while its node runs; undefined where it has none. */
function openBlocks(path: string): Pick<DatabaseReader, "table" | "close"> | undefined {
  if (!existsSync(path)) return undefined;
  try {
    return openLmdb(path);
  } catch (error) {
    if (!isOneOf([storeErrors.inUse], error)) throw storeFault(error, path);
    return openLmdbReader(path, ["engine/blocks", "engine/txs", "engine/meta"]);
  }
}

interface LaterBlock {
  readonly hash: Uint8Array;
  read(): Uint8Array;
}

/** The blocks after the last block of a snapshot, if the home has that block. */
function* laterBlocks(
  chain: Pick<Database, "table"> | undefined,
  record: SnapshotRecord,
  directory: SnapshotDirectory,
): Generator<LaterBlock> {
  if (chain === undefined || record.blocks.length < 2) return;
  const blocks = new BlockReader(chain);
  const last = decodeSignedBlock(present(directory.block(record, record.blocks.length - 1)));
  const known = blocks.record(last.header.height)?.commit.blockId.hash;
  if (known === undefined || !equalBytes(known, last.commit.blockId.hash)) return;
  for (let height = last.header.height + 1n; ; height++) {
    const read = () => blocks.signed(height);
    const block = read();
    if (block === undefined) return;
    yield { hash: sha256(encodeSigned(block)), read: () => encodeSigned(read() ?? block) };
  }
}

export interface RestoreOptions extends SnapshotPlace {
  /** A header that the operator knows from elsewhere. */
  readonly trusted?: { readonly height: bigint; readonly hash: Uint8Array } | undefined;
}

/** The point from which a home continues. */
export interface RestoredChain {
  /** Height of the snapshot. */
  readonly height: bigint;
  /** Height of the last block that came with it. */
  readonly lastHeight: bigint;
  readonly appHash: Uint8Array;
}

/**
 * Makes a snapshot of a home the state of its chain, and executes the blocks that came with it. Everything is checked
 * against headers that the home's own key signed. Where it fails, the home has no state, as before.
 */
export async function restoreSnapshot(home: string, options: RestoreOptions): Promise<RestoredChain> {
  const paths = homePaths(home);
  const genesis = parseGenesis(readGenesisText(home));
  const signer = new Signer(readKeyFile(paths.validatorKey), fileSignState(paths.validatorState));
  const directory = directoryOf(home);
  const record = directory.find(options);
  if (record.format !== SNAPSHOT_FORMAT && record.format !== OLDER_FORMAT)
    throw storeErrors.badSnapshot(`its format is ${record.format}, not ${OLDER_FORMAT} or ${SNAPSHOT_FORMAT}`);
  const files = { directory, record };
  if (record.blocks.length === 0) throw nodeErrors.embeddedOnly("CometBFT made the blocks of its chain");
  const anchor = decodeAnchor(blockBytes(files, 0));
  const trust = { genesis, publicKey: signer.publicKey, header: options.trusted };
  const verified = verifyAnchor(anchor, following(files), trust);
  if (anchor.record.header.height !== record.height) throw storeErrors.badSnapshot("its blocks are of another height");
  if (signer.height > verified.lastHeight)
    throw nodeErrors.cannotRestore(
      `the validator has voted on block ${signer.height}, and the last block of the snapshot is ${verified.lastHeight}`,
    );
  const database = openLmdb(paths.database);
  let isRestored = false;
  try {
    restoreInto(database, { ...files, ...verified, genesis });
    isRestored = true;
    const app = createApp({ database, upgrade: true, unhashedRecords: record.format === OLDER_FORMAT });
    checkVoters(app, anchor, genesis);
    await catchUpOnce({ app, database, genesis, signer });
    database.close();
    return { height: record.height, lastHeight: verified.lastHeight, appHash: app.info().lastBlockAppHash };
  } catch (error) {
    database.close();
    // Its blocks do not fit its state: nothing of it may stay.
    if (isRestored) rmSync(paths.database, { recursive: true });
    throw storeFault(error, paths.database);
  }
}

/** A snapshot with the directory that has its files. */
interface Files {
  readonly directory: SnapshotDirectory;
  readonly record: SnapshotRecord;
}

interface RestoreInto extends Files, Pick<VerifiedAnchor, "anchor" | "next"> {
  readonly genesis: Genesis;
}

function restoreInto(database: Database, { directory, record, anchor, genesis, next }: RestoreInto): void {
  const set = standardModules();
  const stores = storeNames(set.modules);
  const tables = snapshotTables(stores, record.format);
  const { appHash } = next;
  const others = [AHEAD_TABLE, ...UNHASHED_TABLES];
  const restore = new StateRestore({ database, tables, snapshot: record, appHash, others });
  try {
    for (let i = 0; i < record.chunks; i++) restore.apply(present(directory.chunk(record, i)));
    restore.verify();
    const { header } = anchor.record;
    const { block, params } = restoredBlock(database, record, set);
    const isSame =
      block.chainId === header.chainId &&
      block.time === header.time &&
      equalBytes(block.proposer, header.proposerAddress);
    if (!isSame || params === undefined || !hasParams(next, params))
      throw storeErrors.badSnapshot("the record of its block is not that of the header");
    for (const each of following({ directory, record })) database.write([aheadWrite(each.header.height, each)]);
    restore.finish(anchorWrites(anchor, { genesis, params }));
  } catch (error) {
    restore.abandon();
    throw error;
  }
}

/** The blocks after the height of a snapshot, one at a time. */
function* following(files: Files): Generator<SignedBlock> {
  for (let i = 1; i < files.record.blocks.length; i++) yield decodeSignedBlock(blockBytes(files, i));
}

function blockBytes({ directory, record }: Files, index: number): Uint8Array {
  const bytes = present(directory.block(record, index));
  const hash = record.blocks[index];
  if (hash !== undefined && equalBytes(sha256(bytes), hash)) return bytes;
  throw storeErrors.badSnapshot(`file ${blockFile(index)} is damaged`);
}

function present(bytes: Uint8Array | undefined): Uint8Array {
  if (bytes === undefined) throw storeErrors.badSnapshot("a file of it is missing");
  return bytes;
}

/**
 * Compares the voters of a snapshot's blocks with the restored state, because no header contains them. The state holds
 * the voters of the block after the next, and remembers the earlier ones. Throws `store/11` if they differ.
 */
function checkVoters(app: SvcApplication, { record, sets }: Anchor, genesis: Genesis): void {
  const { height } = record.header;
  const latest = app.voters();
  const next = votersAfter(app, height) ?? latest;
  const own = votersAfter(app, height - 1n) ?? next;
  for (const [i, known] of [own, next, latest].entries())
    if (!isSet(sets[i]?.voters ?? [], known, genesis.validators))
      throw storeErrors.badSnapshot(`the voters of block ${height + BigInt(i)} are not those of its state`);
}

/** The voters of the block after a height; undefined if the state does not remember them. */
function votersAfter(app: SvcApplication, height: bigint): ValidatorUpdate[] | undefined {
  const method = Query.method.historicalInfo;
  const data = encodeMessage(method.input, create(method.input, { height }));
  const { code, value } = app.query({ path: methodPath(method), data, height: 0n, prove: false });
  if (code !== 0) return undefined;
  const { hist } = decodeMessage(method.output, value);
  return hist?.valset.map((validator) => ({ pubKey: consensusKeyOf(validator), power: powerOf(validator) }));
}

/** Whether voters equal the state's, or validators of the genesis file that the state does not know. */
function isSet(voters: readonly Validator[], known: readonly ValidatorUpdate[], begun: Genesis["validators"]): boolean {
  const powers = new Map(known.map(({ pubKey, power }) => [toHex(pubKey), power]));
  const keys = new Set(voters.map(({ pubKey }) => toHex(pubKey)));
  const isBegun = ({ pubKey, power }: Validator) =>
    begun.some((each) => equalBytes(each.pubKey, pubKey) && each.power === power);
  return (
    keys.size === voters.length &&
    [...powers.keys()].every((key) => keys.has(key)) &&
    voters.every((voter) => (powers.get(toHex(voter.pubKey)) ?? voter.power) === voter.power) &&
    voters.every((voter) => powers.has(toHex(voter.pubKey)) || isBegun(voter))
  );
}
