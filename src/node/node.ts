import { existsSync } from "node:fs";
import { type ChainSource, type EmbeddedEngine, parseGenesis } from "../engine/index.ts";
import { openLmdb } from "../store/index.ts";
import { assert, makePrivateDirectory } from "../util/index.ts";
import { chooseEngine, endError, type NodeEnd, type NodeEngine, type NodeOptions } from "./engines/engines.ts";
import { nodeErrors } from "./errors.ts";
import { readGenesisBytes } from "./home/genesis.ts";
import { homePaths } from "./home/home.ts";
import { nodeId, readKeyFile } from "./home/keys.ts";
import { type Addresses, beginServing, type Serving } from "./serving/index.ts";

/** A running node: application, engine and servers over one database. */
export class Node {
  /** The chain as servers see it. */
  readonly chain: ChainSource;
  /** Where the servers are that are switched on. */
  readonly addresses: Addresses;
  /** Where JSON-RPC is, as `http://host:port`. */
  readonly rpcUrl: string;
  /** Where REST is, as `http://host:port`; undefined where it is not served. */
  readonly restUrl: string | undefined;
  /** Where gRPC is, as `host:port`; undefined where it is not served. */
  readonly grpcAddress: string | undefined;
  /** Resolves when the node ends by itself; it must then be stopped. */
  readonly ended: Promise<NodeEnd>;
  /** Resolves when transactions can be sent: an engine beside the node takes a while to start. */
  readonly ready: Promise<void>;
  readonly #engine: EmbeddedEngine | undefined;
  readonly #stop: () => Promise<void>;
  #stopped: Promise<void> | undefined;

  constructor(
    parts: Pick<Node, "chain" | "addresses" | "ended" | "ready" | "stop"> & { readonly embedded?: EmbeddedEngine },
  ) {
    this.#engine = parts.embedded;
    this.chain = parts.chain;
    this.addresses = parts.addresses;
    this.rpcUrl = parts.addresses.rpc.address;
    this.restUrl = parts.addresses.rest?.address;
    this.grpcAddress = parts.addresses.grpc?.address;
    this.ended = parts.ended;
    this.ready = parts.ready;
    this.#stop = parts.stop;
  }

  /** The engine in this process; a node beside CometBFT has none. */
  get engine(): EmbeddedEngine {
    assert(this.#engine !== undefined, "the node makes its blocks itself");
    return this.#engine;
  }

  /** Stops serving and making blocks, and frees the home for other processes. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }
}

/** Starts a node; returns when it serves. Throws one sentence when it cannot, with nothing left open. */
export async function startNode(options: NodeOptions): Promise<Node> {
  const { home } = options;
  const paths = homePaths(home);
  const genesisFile = readGenesisBytes(home);
  const genesis = parseGenesis(genesisFile, { longLists: true });
  const nodeSeed = readKeyFile(paths.nodeKey);
  if (!existsSync(paths.validatorState)) throw nodeErrors.noSignState(paths.validatorState);
  const { validator, make } = chooseEngine(options);
  makePrivateDirectory(paths.database);
  const database = openLmdb(paths.database);
  let serving: Serving | undefined;
  let engine: NodeEngine | undefined;
  try {
    // The thread of the servers starts while the state is read.
    serving = beginServing({ ...options, genesis, database, id: nodeId(nodeSeed), validator });
    engine = make({ database, genesis, genesisBytes: genesisFile.length });
    const { app, chain, embedded, ended } = engine;
    await engine.prepare();
    const pending = (addresses: readonly Uint8Array[]) => app.pending(addresses);
    const addresses = await serving.open({ chain, appRpcs: app.rpcs, pending });
    const ready = engine.start();
    const stop = async (): Promise<void> => {
      await serving?.close();
      await engine?.stop();
      database.close();
    };
    return new Node({ chain, ended, ready, addresses, stop, ...(embedded === undefined ? {} : { embedded }) });
  } catch (error) {
    await serving?.close();
    await engine?.stop();
    database.close();
    throw endError(home, error);
  }
}
