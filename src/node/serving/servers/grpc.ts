import type { OpenServer, ServerContext } from "./server.ts";

/** gRPC where it is switched on; its code is loaded then. */
export function openGrpc(context: ServerContext): Promise<OpenServer> | undefined {
  const { grpc } = context.config;
  return grpc === undefined ? undefined : open(context, grpc);
}

async function open(
  { chain, dispatcher, logger, budget }: ServerContext,
  options: NonNullable<ServerContext["config"]["grpc"]>,
): Promise<OpenServer> {
  const { GrpcServer } = await import("../../grpc/index.ts");
  const server = new GrpcServer({ chain, dispatcher, budget, logger: logger.child({ module: "grpc" }) }, options);
  return { ...(await server.listen()), close: () => server.close() };
}
