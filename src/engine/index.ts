export { type ConsensusParams, DEFAULT_CONSENSUS_PARAMS } from "../abci/index.ts";
export { type BlockRecord, BlockStore, type ExecutedBlock, type ExecutedTx } from "./embedded/blockstore.ts";
export { blockIdMessage, blockMessage, encodeBlock } from "./embedded/codec.ts";
export { EmbeddedEngine, type EmbeddedEngineOptions } from "./embedded/engine.ts";
export {
  type BlockBus,
  type BlockListener,
  type CommittedBlock,
  type EngineEvent,
  eventsOf,
  type PublishedEvent,
} from "./embedded/events.ts";
export { headerHash, txHash, validatorsHash } from "./embedded/hashes.ts";
export { DEFAULT_MEMPOOL_LIMITS, type MempoolLimits } from "./embedded/mempool/limits.ts";
export type { CheckedTx, Mempool } from "./embedded/mempool/mempool.ts";
export { type MerkleProof, merkleProof, merkleRoot, merkleRootOfProof } from "./embedded/merkle.ts";
export { type Attributes, matches, parseQuery, type Query } from "./embedded/query.ts";
export { type SearchPage, type SearchResult, searchBlocks, searchTxs } from "./embedded/search.ts";
export { fileSignState, memorySignState, Signer, type SignStateStore, signStateText } from "./embedded/signer.ts";
export { embeddedSource } from "./embedded/source.ts";
export { formatRfc3339, formatSeconds, parseRfc3339 } from "./embedded/time.ts";
export type { FoundTx, TxIndex } from "./embedded/txindex.ts";
export {
  BLOCK_PROTOCOL,
  type Block,
  type BlockId,
  type Commit,
  type Header,
  type Validator,
} from "./embedded/types.ts";
export { verifyCommit } from "./embedded/vote.ts";
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
