import { create } from "@bufbuild/protobuf";
import {
  type BlockRecord,
  blockIdMessage,
  blockMessage,
  type ChainSource,
  type Validator,
} from "../../engine/index.ts";
import { assert, fromHex, sdkErrors } from "../../util/index.ts";
import type { PageRequest } from "../../wire/gen/sdk/base/query/v1beta1/pagination_pb.js";
import { Service, ValidatorSchema } from "../../wire/gen/sdk/base/tendermint/v1beta1/query_pb.js";
import { encodeAddress, type Namespace, publicKeyToAny } from "../../wire/index.ts";
import { APP_NAME, BLOCK_PROTOCOL, CHANNELS, ENGINE_VERSION, P2P_PROTOCOL, SDK_VERSION } from "../node-info.ts";
import { bindNodeService } from "./bind.ts";

/** Bytes of a block that is told in both forms: twice the largest would be more than an answer may have. */
const MAX_REPEATED_BYTES = 2 * 1024 * 1024;

/** The libraries whose interfaces this node has; it is built with neither. */
const SURFACES = [
  { path: "github.com/cometbft/cometbft", version: `v${ENGINE_VERSION}` },
  { path: "github.com/cosmos/cosmos-sdk", version: SDK_VERSION },
];

const MAX_ROWS = 100n;

/** A node's facts about itself and its blocks, for clients without JSON-RPC. */
export const tendermintService = bindNodeService(Service, {
  getNodeInfo({ chain, nodeInfo }) {
    const { id, moniker, rpcAddress, listenAddress, applicationVersion } = nodeInfo;
    return {
      defaultNodeInfo: {
        protocolVersion: { p2p: BigInt(P2P_PROTOCOL), block: BigInt(BLOCK_PROTOCOL), app: 0n },
        defaultNodeId: id,
        listenAddr: listenAddress,
        network: chain.genesis.chainId,
        version: ENGINE_VERSION,
        channels: fromHex(CHANNELS),
        moniker,
        other: { txIndex: "on", rpcAddress },
      },
      applicationVersion: {
        name: APP_NAME,
        appName: APP_NAME,
        version: applicationVersion,
        cosmosSdkVersion: SDK_VERSION,
        buildDeps: SURFACES,
      },
    };
  },

  async getSyncing({ chain }) {
    return { syncing: (await chain.status()).catchingUp };
  },

  async getLatestBlock({ chain }) {
    const { latest } = await chain.status();
    if (latest === undefined) throw sdkErrors.notFound("there is no block yet");
    return wholeBlock(chain, latest);
  },

  async getBlockByHeight({ chain }, { height }) {
    await checkHeight(chain, height);
    const record = await chain.blocks.record(height);
    if (record === undefined) throw sdkErrors.notFound(`block ${height}`);
    return wholeBlock(chain, record);
  },

  async getLatestValidatorSet({ chain, namespace }, { pagination }) {
    const { height } = await chain.status();
    return validatorSet(chain, { height, pagination, namespace });
  },

  async getValidatorSetByHeight({ chain, namespace }, { height, pagination }) {
    await checkHeight(chain, height);
    return validatorSet(chain, { height, pagination, namespace });
  },

  async aBCIQuery({ chain }, { path, data, height, prove }) {
    // Rpcs are called by their names; calling them here would bypass the limits of some.
    if (!/^\/?(app|store)\//.test(path))
      throw sdkErrors.invalidRequest(`unsupported ABCI query path: ${path.slice(0, 100)}`);
    const { proofOps, ...answer } = await chain.app.query({ path, data, height, prove });
    const { code, codespace, log, info, key, value, height: at } = answer;
    const ops = proofOps.map((op) => ({ ...op }));
    return { code, codespace, log, info, key, value, height: at, ...(ops.length === 0 ? {} : { proofOps: { ops } }) };
  },
});

async function checkHeight(chain: ChainSource, height: bigint): Promise<void> {
  if (height < 1n) throw sdkErrors.invalidRequest(`height must be greater than 0, but got ${height}`);
  const { height: last } = await chain.status();
  if (height > last) throw sdkErrors.invalidRequest("requested block height is bigger then the chain length");
}

async function wholeBlock(chain: ChainSource, { header, commit, size }: BlockRecord) {
  const blockId = blockIdMessage(commit.blockId);
  const stored = await chain.blocks.block(header.height);
  if (stored === undefined) return { blockId };
  const block = blockMessage(stored);
  if (size > MAX_REPEATED_BYTES) return { blockId, block };
  return { blockId, block, sdkBlock: withProposer(block, encodeAddress(header.proposerAddress, "valcons")) };
}

/** The block as newer clients read it. */
function withProposer(
  { header, data, evidence, lastCommit }: ReturnType<typeof blockMessage>,
  proposerAddress: string,
) {
  assert(header !== undefined, "a block has a header");
  const { $typeName, $unknown, ...fields } = header;
  return { header: { ...fields, proposerAddress }, data, evidence, lastCommit };
}

interface Asked {
  readonly height: bigint;
  readonly pagination: PageRequest | undefined;
  readonly namespace: Namespace;
}

/** The validators that vote on the block of a height, in pages. */
async function validatorSet(chain: ChainSource, { height, pagination, namespace }: Asked) {
  const all = await chain.blocks.validators(height);
  if (all === undefined) throw sdkErrors.notFound(`the validators of block ${height}`);
  const { offset = 0n, limit = 0n, reverse = false } = pagination ?? {};
  const size = limit === 0n || limit > MAX_ROWS ? MAX_ROWS : limit;
  const start = offset > BigInt(all.length) ? all.length : Number(offset);
  const rows = (reverse ? [...all].reverse() : all).slice(start, start + Number(size));
  return {
    blockHeight: height,
    validators: rows.map((validator) => validatorMessage(validator, namespace)),
    pagination: { total: BigInt(all.length) },
  };
}

function validatorMessage({ address, pubKey, power }: Validator, namespace: Namespace) {
  return create(ValidatorSchema, {
    address: encodeAddress(address, "valcons"),
    pubKey: publicKeyToAny({ type: "ed25519", key: pubKey }, namespace),
    votingPower: power,
  });
}
