import { type BlockRecord, type ChainSource, consensusParamsToJson, formatRfc3339 } from "../../../engine/index.ts";
import { equalBytes, toBase64, toHexUpper } from "../../../util/index.ts";
import { APP_NAME, BLOCK_PROTOCOL, CHANNELS, ENGINE_VERSION, P2P_PROTOCOL } from "../../node-info.ts";
import { heightIn, pageOf, perPageOf } from "../calls/heights.ts";
import { defineEngineMethod, defineMethod, type RpcEnvironment, refuse } from "../calls/method.ts";
import { int64 } from "../calls/params.ts";
import { publicKeyJson, validatorJson } from "../json/json.ts";

/** Bytes of a chunk, and of the largest genesis file that is answered whole. */
export const GENESIS_CHUNK_BYTES = 16 * 1024 * 1024;

export const infoMethods = {
  health: defineEngineMethod("health", () => ({})),

  status: defineMethod({}, async (env) => {
    const { validator } = env.chain;
    const { latest, earliest, height, base, validators, catchingUp, engine } = await env.chain.status();
    const voter = validators.find(({ pubKey }) => equalBytes(pubKey, validator.publicKey));
    return {
      node_info: nodeInfoJson(env),
      application_version: { name: APP_NAME, version: env.nodeInfo().applicationVersion },
      engine,
      sync_info: {
        ...blockSummary("latest", latest, height),
        ...blockSummary("earliest", earliest, base),
        catching_up: catchingUp,
      },
      validator_info: {
        address: toHexUpper(validator.address),
        pub_key: publicKeyJson(validator.publicKey),
        voting_power: (voter?.power ?? 0n).toString(),
      },
    };
  }),

  net_info: defineEngineMethod("net_info", (env) => ({
    listening: true,
    listeners: [`Listener(@${env.nodeInfo().rpcAddress})`],
    n_peers: "0",
    peers: [],
  })),

  abci_info: defineMethod({}, async ({ chain }) => {
    const { version, lastBlockHeight, lastBlockAppHash } = await chain.app.info();
    const last = { last_block_height: lastBlockHeight.toString(), last_block_app_hash: toBase64(lastBlockAppHash) };
    return { response: { data: APP_NAME, version, ...(lastBlockHeight === 0n ? {} : last) } };
  }),

  genesis: defineMethod({}, (env) => {
    // Checked before anything is read: a large file costs nothing.
    if (env.genesis.size() > GENESIS_CHUNK_BYTES) {
      throw refuse("genesis response is large, please use the genesis_chunked API instead");
    }
    return { genesis: JSON.parse(Buffer.from(env.genesis.read(0, GENESIS_CHUNK_BYTES)).toString()) };
  }),

  genesis_chunked: defineMethod({ chunk: int64 }, (env, { chunk = 0n }) => {
    const total = Math.max(1, Math.ceil(env.genesis.size() / GENESIS_CHUNK_BYTES));
    if (chunk < 0n || chunk >= BigInt(total)) {
      throw refuse(`there are ${total} chunks, from 0 to ${total - 1}, but got ${chunk}`);
    }
    const part = env.genesis.read(Number(chunk) * GENESIS_CHUNK_BYTES, GENESIS_CHUNK_BYTES);
    return { chunk: chunk.toString(), total: total.toString(), data: toBase64(part) };
  }),

  validators: defineMethod(
    { height: int64, page: int64, per_page: int64 },
    async ({ chain }, { height, page, per_page }) => {
      if (chain.ask !== undefined) return chain.ask("validators", wordsOf({ height, page, per_page }));
      const status = await chain.status();
      const wanted = heightIn(status, height, status.height + 1n);
      const all = (await chain.blocks.validators(wanted)) ?? status.validators;
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
    },
  ),

  consensus_params: defineMethod({ height: int64 }, async ({ chain }, { height }) => {
    const status = await chain.status();
    const wanted = heightIn(status, height, status.height + 1n);
    const params = (await chain.blocks.consensusParams(wanted)) ?? chain.genesis.consensusParams;
    const consensus_params = { ...consensusParamsToJson(params), version: { app: "0" } };
    return { block_height: wanted.toString(), consensus_params };
  }),

  unconfirmed_txs: defineMethod({ limit: int64 }, async ({ chain }, { limit }) => {
    const txs = (await chain.mempool.list(perPageOf(limit))).map(toBase64);
    return { ...(await mempoolJson(chain)), n_txs: txs.length.toString(), txs };
  }),

  num_unconfirmed_txs: defineMethod({}, async ({ chain }) => ({ ...(await mempoolJson(chain)), txs: null })),
};

/** Numbers of a call in the form of the engine's RPC. */
function wordsOf(params: Readonly<Record<string, bigint | undefined>>): Readonly<Record<string, string>> {
  const given = Object.entries(params).flatMap(([name, value]) => (value === undefined ? [] : [[name, `${value}`]]));
  return Object.fromEntries(given);
}

async function mempoolJson(chain: ChainSource) {
  const { txs, bytes } = await chain.mempool.size();
  const total = txs.toString();
  return { n_txs: total, total, total_bytes: bytes.toString() };
}

function nodeInfoJson(env: RpcEnvironment) {
  const { id, moniker, rpcAddress, listenAddress } = env.nodeInfo();
  return {
    protocol_version: { p2p: P2P_PROTOCOL, block: BLOCK_PROTOCOL, app: "0" },
    id,
    listen_addr: listenAddress,
    network: env.chain.genesis.chainId,
    version: ENGINE_VERSION,
    channels: CHANNELS,
    moniker,
    other: { tx_index: "on", rpc_address: rpcAddress },
  };
}

/** Before the first block the hashes are empty, and the time is the reference's zero value. */
function blockSummary<K extends string>(kind: K, record: BlockRecord | undefined, height: bigint) {
  return {
    [`${kind}_block_hash`]: record === undefined ? "" : toHexUpper(record.commit.blockId.hash),
    [`${kind}_app_hash`]: record === undefined ? "" : toHexUpper(record.header.appHash),
    [`${kind}_block_height`]: height.toString(),
    [`${kind}_block_time`]: formatRfc3339(record?.header.time ?? 0n),
  };
}
