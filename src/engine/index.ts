export { type ConsensusParams, DEFAULT_CONSENSUS_PARAMS } from "../abci/index.ts";
export { type MerkleProof, merkleProof, merkleRoot, merkleRootOfProof } from "../wire/index.ts";
export type { EnginePlace } from "./cometbft/abci/server.ts";
export { CometEngine, type CometEngineOptions } from "./cometbft/engine.ts";
export {
  adoptProgram,
  type EngineProgram,
  findProgram,
  installedProgram,
  installProgram,
  isInstalled,
  TESTED_VERSION,
} from "./cometbft/program.ts";
export { executedRemovals, rollbackComet } from "./cometbft/rollback.ts";
export { mempoolRefusal } from "./cometbft/rpc.ts";
export {
  type CometKeys,
  type CometPaths,
  type CometSettings,
  cometPaths,
  type StateSyncSettings,
} from "./cometbft/settings.ts";
export {
  type Anchor,
  anchorAt,
  anchorWrites,
  decodeAnchor,
  decodeSignedBlock,
  encodeAnchor,
  hasParams,
  type VerifiedAnchor,
  verifyAnchor,
} from "./embedded/blocks/anchor.ts";
export {
  type BlockRecord,
  type ExecutedBlock,
  encodeSigned,
  type SignedBlock,
} from "./embedded/blocks/block-records.ts";
export { AHEAD_TABLE, aheadWrite, BlockReader, BlockStore, behindWrite } from "./embedded/blocks/block-store.ts";
export { blockIdMessage, blockMessage, encodeBlock } from "./embedded/blocks/codec.ts";
export { dataHash, hasEvidence, headerHash, txHash, validatorsHash } from "./embedded/blocks/hashes.ts";
export { formatRfc3339, formatSeconds, parseRfc3339 } from "./embedded/blocks/time.ts";
export type { ExecutedTx } from "./embedded/blocks/tx-rows.ts";
export {
  BLOCK_PROTOCOL,
  type Block,
  type BlockId,
  type Commit,
  type Header,
  type Validator,
} from "./embedded/blocks/types.ts";
export { verifyCommit } from "./embedded/blocks/vote.ts";
export { catchUp, catchUpOnce } from "./embedded/catch-up.ts";
export { EmbeddedEngine, type EmbeddedEngineOptions } from "./embedded/engine.ts";
export {
  type BlockBus,
  type BlockListener,
  type CommittedBlock,
  type EngineEvent,
  eventsOf,
  type PublishedEvent,
} from "./embedded/events.ts";
export { type Attributes, matches, parseQuery, type Query } from "./embedded/index/query.ts";
export { type SearchPage, type SearchResult, searchBlocks, searchTxs } from "./embedded/index/search.ts";
export type { FoundTx, TxIndex } from "./embedded/index/tx-index.ts";
export { DEFAULT_MEMPOOL_LIMITS, type MempoolLimits } from "./embedded/mempool/limits.ts";
export type { CheckedTx, Mempool } from "./embedded/mempool/mempool.ts";
export type { Retention } from "./embedded/retain.ts";
export { engineRollback } from "./embedded/rollback.ts";
export { fileSignState, memorySignState, Signer, type SignStateStore, signStateText } from "./embedded/signer.ts";
export { embeddedSource } from "./embedded/source.ts";
export type { Engine } from "./engine.ts";
export {
  consensusParamsToJson,
  type Genesis,
  type GenesisValidator,
  genesisHash,
  genesisToJson,
  PRIVATE_KEY_TYPE,
  PUBLIC_KEY_TYPE,
  parseGenesis,
} from "./genesis.ts";
export { CHAIN_TABLES, type ChainReader, chainReader, StatusMemo } from "./reading/source.ts";
export type * from "./source.ts";
