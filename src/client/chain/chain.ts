import type { AminoNames, Namespace } from "../../wire/index.ts";
import { RpcClient, type RpcOptions } from "../rpc/rpc.ts";
import { RpcSocket, type SocketOptions } from "../rpc/websocket.ts";
import { NodeApi } from "./node.ts";
import { type QueryClient, queryClient } from "./query.ts";

/** How to reach a chain, and facts about it that are already known. */
export interface ChainOptions extends RpcOptions, SocketOptions {
  /** Name of the chain; without it the node is asked. */
  readonly chainId?: string;
  /** Spelling of names that the chain knows: `sdk` for ours, `cosmos` for others. */
  readonly namespace?: Namespace;
  /** Names of messages that signatures of mode amino JSON have; default `current`. */
  readonly aminoNames?: AminoNames;
  /** Another way to answer queries than the node's word, such as one with proofs. */
  readonly queryNode?: (node: NodeApi) => Pick<NodeApi, "abciQuery">;
}

/** A chain as seen through one of its nodes: the starting point of the library. */
export class ChainClient {
  readonly rpc: RpcClient;
  readonly node: NodeApi;
  readonly query: QueryClient;
  readonly namespace: Namespace;
  readonly aminoNames: AminoNames;
  readonly #options: ChainOptions;
  #chainId: Promise<string> | undefined;
  #socket: RpcSocket | undefined;

  /** `node` is an address as `parseNodeAddress` reads it. */
  constructor(node: string, options: ChainOptions = {}) {
    this.namespace = options.namespace ?? "sdk";
    this.aminoNames = options.aminoNames ?? "current";
    this.rpc = new RpcClient(node, options);
    this.node = new NodeApi(this.rpc);
    this.query = queryClient(options.queryNode?.(this.node) ?? this.node, this.namespace);
    this.#options = options;
  }

  /** Name of the chain, which signatures are bound to. */
  chainId(): Promise<string> {
    const given = this.#options.chainId;
    this.#chainId ??= given !== undefined ? Promise.resolve(given) : this.#askChainId();
    return this.#chainId;
  }

  /** Subscriptions to the node's events over one shared connection. */
  socket(): RpcSocket {
    this.#socket ??= new RpcSocket(this.rpc.endpoint.websocket, this.#options);
    return this.#socket;
  }

  /** Ends all connections. */
  close(): void {
    this.#socket?.close();
    this.rpc.close();
  }

  async #askChainId(): Promise<string> {
    try {
      return (await this.node.status()).chainId;
    } catch (error) {
      this.#chainId = undefined;
      throw error;
    }
  }
}
