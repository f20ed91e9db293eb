import type { DescMessage, DescMethod, DescService, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { Awaitable, ChainSource } from "../../engine/index.ts";
import type { Namespace } from "../../wire/index.ts";
import type { NodeInfo } from "../node-info.ts";
import type { CommitWaiters } from "./commit-waiters.ts";

/** The data that the services of a node answer from. */
export interface ServiceContext {
  readonly chain: ChainSource;
  readonly nodeInfo: NodeInfo;
  /** Undefined where nothing waits for blocks. */
  readonly waiters: CommitWaiters | undefined;
  /** The spelling of the request: type URLs in the answer use the same. */
  readonly namespace: Namespace;
  /** That is asked for, 0 for the latest; services that answer from blocks have no state at a height. */
  readonly height: bigint;
}

/** Handlers of the rpcs of a service that the node answers itself; the application answers the others. */
export type ServiceHandlers<S extends DescService> = {
  readonly [K in keyof S["method"]]?: (
    ctx: ServiceContext,
    request: MessageShape<S["method"][K]["input"]>,
  ) => Awaitable<MessageInitShape<S["method"][K]["output"]>>;
};

/** One rpc with its handler, type-erased for the dispatcher. */
export interface ServiceMethod {
  readonly method: DescMethod;
  handle(ctx: ServiceContext, request: MessageShape<DescMessage>): Awaitable<MessageInitShape<DescMessage>>;
  /** Answers from the state at the height that is asked for, as the application does. */
  readonly isOfState: boolean;
}

/** A service of the node with its handlers, like the service tables of modules. */
export interface NodeService {
  readonly service: DescService;
  readonly methods: readonly ServiceMethod[];
}

export function bindNodeService<S extends DescService>(
  service: S,
  handlers: ServiceHandlers<S>,
  options?: Partial<Pick<ServiceMethod, "isOfState">>,
): NodeService;
export function bindNodeService(
  service: DescService,
  handlers: Readonly<Record<string, ServiceMethod["handle"] | undefined>>,
  { isOfState = false }: Partial<Pick<ServiceMethod, "isOfState">> = {},
): NodeService {
  const methods = service.methods.flatMap((method) => {
    const handle = handlers[method.localName];
    return handle === undefined ? [] : [{ method, handle, isOfState }];
  });
  return { service, methods };
}
