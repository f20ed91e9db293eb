import type { NodeApi } from "../../client/index.ts";
import { errorText, type Logger } from "../../util/index.ts";
import type { Handler } from "../../util/servers/index.ts";
import { allServices } from "../../wire/index.ts";
import type { ConsolePages } from "../console/index.ts";
import type { Dispatcher } from "../dispatch.ts";
import { MAX_REMOTE_BODY_BYTES } from "./limits.ts";

export interface RemoteParts {
  readonly pages: ConsolePages;
  readonly node: Pick<NodeApi, "abciQuery" | "status">;
  /** JSON-RPC as the node itself answers it. */
  readonly rpc: Handler;
  readonly logger: Logger;
  readonly chainId: string;
}

/**
 * The console of a node that is elsewhere: REST and Connect are answered here, from queries over the node's RPC, whose address is the
 * only one that is known.
 */
export async function remoteConsole({ pages, node, rpc, logger, chainId }: RemoteParts): Promise<Handler> {
  const [{ RestServer }, { GrpcServer }] = await Promise.all([import("../rest/index.ts"), import("../grpc/index.ts")]);
  const dispatcher = remoteDispatcher(node);
  const guard = { host: "127.0.0.1", port: 0, corsOrigins: [], hosts: [], maxOpenConnections: 1 };
  const chain = {
    status: async () => ({ latest: (await node.status()).latestHeight > 0n ? true : undefined }),
    events: { listen: () => () => {} },
  };
  const limits = { ...guard, maxMessageBytes: MAX_REMOTE_BODY_BYTES };
  const grpc = new GrpcServer({ chain, dispatcher, logger }, limits).handler;
  const parts = { dispatcher, logger, chainId, console: { pages, others: () => ({ rpc, grpc }) } };
  return new RestServer(parts, { ...guard, console: true, maxBodyBytes: MAX_REMOTE_BODY_BYTES }).handler;
}

const NOTHING = new Uint8Array(0);
const NO_ANSWER = { info: "", key: NOTHING, value: NOTHING, proofOps: [], height: 0n };

function remoteDispatcher(node: Pick<NodeApi, "abciQuery">): Pick<Dispatcher, "methods" | "query"> {
  const services = allServices().filter(({ name }) => name !== "Msg");
  return {
    methods: services.flatMap(({ methods }) => methods),
    async query({ path, data, height, prove }) {
      try {
        return await node.abciQuery(path, data, { height, prove });
      } catch (error) {
        const log = `rpc error: code = Unavailable desc = ${errorText(error)}`;
        return { ...NO_ANSWER, code: 1, codespace: "client", log };
      }
    },
  };
}
