import { create, type DescMethod, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import type { AppQuery, AppQueryResult } from "../abci/index.ts";
import type { ChainSource } from "../engine/index.ts";
import { GivenUp, isPanic, queryFailure } from "../runtime/index.ts";
import { SvcError } from "../util/index.ts";
import {
  decodeBounded,
  decodeMessage,
  encodeMessage,
  findMethod,
  methodPath,
  type Namespace,
  namespaceOf,
  toNamespace,
} from "../wire/index.ts";
import type { NodeInfo } from "./node-info.ts";
import type { CommitWaiters } from "./services/commit-waiters.ts";
import { NODE_SERVICES, type NodeService } from "./services/index.ts";

export interface DispatcherOptions {
  readonly chain: ChainSource;
  nodeInfo(): NodeInfo;
  readonly services?: readonly NodeService[];
  /** Paths of the rpcs that the application answers, for servers that list them. */
  readonly appRpcs?: readonly string[];
  /** Where requests wait for blocks; undefined if nothing waits. */
  readonly waiters?: CommitWaiters;
  /** Receives programming errors in services of the node. */
  readonly report?: (error: unknown) => void;
}

const NOTHING = new Uint8Array(0);
const NO_ANSWER = { code: 0, codespace: "", log: "", info: "", key: NOTHING, value: NOTHING, proofOps: [] } as const;

/** The result of a query that was refused with an error. */
export function refusedQuery(error: unknown, height: bigint): AppQueryResult {
  return { ...NO_ANSWER, height, ...queryFailure(error) };
}

/**
 * The one way from the name of an rpc and the bytes of its request to the bytes of its answer, for every server:
 * services of the node first, everything else from the application. Names come in either spelling.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  /** By the path in our spelling. */
  readonly #methods: ReadonlyMap<string, NodeService["methods"][number]>;
  /** By the path in every spelling: to find it costs a request less than to rewrite it. */
  readonly #spelt: ReadonlyMap<string, NodeService["methods"][number]>;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    const { services = NODE_SERVICES } = options;
    this.#methods = new Map(
      services.flatMap(({ service, methods }) =>
        methods.map((each) => [`/${service.typeName}/${each.method.name}`, each] as const),
      ),
    );
    this.#spelt = new Map([...this.#methods].flatMap(([path, each]) => spellings(path).map((name) => [name, each])));
  }

  /** Every rpc that is answered here, once each. */
  get methods(): readonly DescMethod[] {
    const others = (this.#options.appRpcs ?? []).flatMap((path) => (this.#methods.has(path) ? [] : [findMethod(path)]));
    return [...[...this.#methods.values()].map(({ method }) => method), ...others.filter((each) => each !== undefined)];
  }

  /**
   * Answers `/package.Service/Method` at a height, 0 for the latest; passes other paths to the application. Never
   * rejects: a refusal is a result with the ecosystem's code. (Beyond the budget of a `chain` that has one, it throws
   * `GivenUp`.)
   */
  async query(query: AppQuery, chain: ChainSource = this.#options.chain): Promise<AppQueryResult> {
    const { report } = this.#options;
    const method = this.#spelt.get(query.path);
    if (method === undefined) return await chain.app.query(query);
    const { height: latest } = await chain.status();
    const height = method.isOfState && query.height > 0n ? query.height : latest;
    try {
      return { ...NO_ANSWER, height, value: await this.#answer(method, query, chain) };
    } catch (error) {
      if (error instanceof GivenUp) throw error;
      if (isPanic(error)) report?.(error);
      return refusedQuery(error, height);
    }
  }

  /** The same with messages. Rejects with the codespace, code and text of a refusal. */
  async call<M extends DescMethod>(
    method: M,
    request: MessageInitShape<M["input"]>,
    { height = 0n, namespace = "sdk" }: { readonly height?: bigint; readonly namespace?: Namespace } = {},
  ): Promise<{ value: MessageShape<M["output"]>; height: bigint }> {
    const [input, output]: [M["input"], M["output"]] = [method.input, method.output];
    const data = encodeMessage(input, create(input, request));
    const answer = await this.query({ path: methodPath(method, namespace), data, height, prove: false });
    if (answer.code !== 0) throw new SvcError(answer.codespace, answer.code, answer.log);
    return { value: decodeMessage(output, answer.value), height: answer.height };
  }

  async #answer(
    { method, handle }: NodeService["methods"][number],
    { path, data, height }: AppQuery,
    chain: ChainSource,
  ): Promise<Uint8Array> {
    const { nodeInfo, waiters } = this.#options;
    const request = decodeBounded(method.input, data);
    const namespace = namespaceOf(path);
    const answer = await handle({ chain, nodeInfo: nodeInfo(), waiters, namespace, height }, request);
    return encodeMessage(method.output, create(method.output, answer));
  }
}

/** A path in both spellings, or in the one that it has. */
export function spellings(path: string): string[] {
  return [...new Set([toNamespace(path, "sdk"), toNamespace(path, "cosmos")])];
}
