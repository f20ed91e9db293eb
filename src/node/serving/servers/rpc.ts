import type { AppQuery } from "../../../abci/index.ts";
import { genesisFile } from "../../home/genesis.ts";
import { RpcServer } from "../../rpc/index.ts";
import type { OpenServer, ServerContext } from "./server.ts";

/** JSON-RPC, which every node serves. */
export async function openRpc(context: ServerContext): Promise<OpenServer> {
  const { chain, waiters, nodeInfo, dispatcher, config, budget, run } = context;
  const env = {
    chain,
    waiters,
    nodeInfo,
    genesis: genesisFile(context.home),
    query: (query: AppQuery) => dispatcher.query(query),
    ...(run === undefined ? {} : { run }),
  };
  const server = new RpcServer(env, config.rpc, budget);
  return { ...(await server.listen()), close: () => server.close() };
}
