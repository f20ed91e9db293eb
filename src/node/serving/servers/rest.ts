import type { OpenServer, ServerContext } from "./server.ts";

/** REST where it is switched on; its code is loaded then. */
export function openRest(context: ServerContext): Promise<OpenServer> | undefined {
  const { rest } = context.config;
  return rest === undefined ? undefined : open(context, rest);
}

async function open(
  { chain, dispatcher, logger, budget }: ServerContext,
  options: NonNullable<ServerContext["config"]["rest"]>,
): Promise<OpenServer> {
  const { RestServer } = await import("../../rest/index.ts");
  const parts = { dispatcher, budget, logger: logger.child({ module: "rest" }), chainId: chain.genesis.chainId };
  const server = new RestServer(parts, options);
  return { ...(await server.listen()), close: () => server.close() };
}
