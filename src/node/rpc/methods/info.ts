import { type BlockRecord, consensusParamsToJson, formatRfc3339 } from "../../../engine/index.ts";
import { toBase64, toHexUpper } from "../../../util/index.ts";
import { heightOr, pageOf, perPageOf } from "../heights.ts";
import { publicKeyJson, validatorJson } from "../json.ts";
import { defineMethod, type RpcEnvironment, refuse } from "../method.ts";
import { int64 } from "../params.ts";

/** The dialect of the RPC: clients choose their decoder by it. */
export const ENGINE_VERSION = "0.38.17";

export const P2P_PROTOCOL = "8";
export const BLOCK_PROTOCOL = "11";
const GENESIS_CHUNK_BYTES = 16 * 1024 * 1024;

export const infoMethods = {
  health: defineMethod({}, () => ({})),

  status: defineMethod({}, (env) => ({
    node_info: nodeInfoJson(env),
    application_version: { name: "svc", version: env.nodeInfo().applicationVersion },
    sync_info: { ...latestBlock(env), ...earliestBlock(env), catching_up: false },
    validator_info: {
      address: toHexUpper(env.engine.validator.address),
      pub_key: publicKeyJson(env.engine.validator.publicKey),
      voting_power: (env.engine.validators[0]?.power ?? 0n).toString(),
    },
  })),

  net_info: defineMethod({}, (env) => ({
    listening: true,
    listeners: [`Listener(@${env.nodeInfo().rpcAddress})`],
    n_peers: "0",
    peers: [],
  })),

  abci_info: defineMethod({}, (env) => {
    const { version, lastBlockHeight, lastBlockAppHash } = env.engine.app.info();
    const last = { last_block_height: lastBlockHeight.toString(), last_block_app_hash: toBase64(lastBlockAppHash) };
    return { response: { data: "svc", version, ...(lastBlockHeight === 0n ? {} : last) } };
  }),

  genesis: defineMethod({}, (env) => {
    const text = env.genesisText();
    if (text.length > GENESIS_CHUNK_BYTES) {
      throw refuse("genesis response is large, please use the genesis_chunked API instead");
    }
    return { genesis: JSON.parse(text) };
  }),

  genesis_chunked: defineMethod({ chunk: int64 }, (env, { chunk = 0n }) => {
    const data = Buffer.from(env.genesisText());
    const total = Math.max(1, Math.ceil(data.length / GENESIS_CHUNK_BYTES));
    if (chunk < 0n || chunk >= BigInt(total)) {
      throw refuse(`there are ${total} chunks, from 0 to ${total - 1}, but got ${chunk}`);
    }
    const start = Number(chunk) * GENESIS_CHUNK_BYTES;
    const part = data.subarray(start, start + GENESIS_CHUNK_BYTES);
    return { chunk: chunk.toString(), total: total.toString(), data: toBase64(part) };
  }),

  validators: defineMethod({ height: int64, page: int64, per_page: int64 }, (env, { height, page, per_page }) => {
    const wanted = heightOr(env.engine, height, env.engine.blocks.height + 1n);
    const all = env.engine.blocks.validators(wanted) ?? env.engine.validators;
    const perPage = perPageOf(per_page);
    const shown = all.slice((pageOf(page) - 1) * perPage, pageOf(page) * perPage);
    if (shown.length === 0)
      throw refuse(`page should be within [1, ${Math.ceil(all.length / perPage)}] range, given ${page}`);
    const validators = shown.map(validatorJson);
    return {
      block_height: wanted.toString(),
      validators,
      count: validators.length.toString(),
      total: all.length.toString(),
    };
  }),

  consensus_params: defineMethod({ height: int64 }, (env, { height }) => ({
    block_height: heightOr(env.engine, height, env.engine.blocks.height + 1n).toString(),
    consensus_params: consensusParamsToJson(env.engine.genesis.consensusParams),
  })),

  unconfirmed_txs: defineMethod({ limit: int64 }, (env, { limit }) => {
    const txs = env.engine.mempool.list(perPageOf(limit)).map(toBase64);
    return { ...mempoolJson(env), n_txs: txs.length.toString(), txs };
  }),

  num_unconfirmed_txs: defineMethod({}, (env) => ({ ...mempoolJson(env), txs: null })),
};

function mempoolJson({ engine }: RpcEnvironment) {
  const total = engine.mempool.size.toString();
  return { n_txs: total, total, total_bytes: engine.mempool.bytes.toString() };
}

function nodeInfoJson(env: RpcEnvironment) {
  const { id, moniker, rpcAddress } = env.nodeInfo();
  return {
    protocol_version: { p2p: P2P_PROTOCOL, block: BLOCK_PROTOCOL, app: "0" },
    id,
    // There are no peers: nothing but the RPC listens.
    listen_addr: rpcAddress,
    network: env.engine.genesis.chainId,
    version: ENGINE_VERSION,
    channels: "",
    moniker,
    other: { tx_index: "on", rpc_address: rpcAddress },
  };
}

function latestBlock({ engine }: RpcEnvironment) {
  return blockSummary("latest", engine.blocks.last, engine.blocks.height);
}

function earliestBlock({ engine }: RpcEnvironment) {
  return blockSummary("earliest", engine.blocks.record(engine.blocks.base), engine.blocks.base);
}

/** Before the first block the hashes are empty and the time is that of the reference's empty value. */
function blockSummary<K extends string>(kind: K, record: BlockRecord | undefined, height: bigint) {
  return {
    [`${kind}_block_hash`]: record === undefined ? "" : toHexUpper(record.commit.blockId.hash),
    [`${kind}_app_hash`]: record === undefined ? "" : toHexUpper(record.header.appHash),
    [`${kind}_block_height`]: height.toString(),
    [`${kind}_block_time`]: formatRfc3339(record?.header.time ?? 0n),
  };
}
