import type { OpenServer, ServerContext } from "./server.ts";

/** Metrics where they are switched on; their code is loaded then. */
export function openMetrics(context: ServerContext): Promise<OpenServer> | undefined {
  const { metrics } = context.config;
  return metrics === undefined ? undefined : open(context, metrics);
}

async function open(
  { chain, logger }: ServerContext,
  options: NonNullable<ServerContext["config"]["metrics"]>,
): Promise<OpenServer> {
  const { MetricsServer } = await import("../../metrics/index.ts");
  const server = new MetricsServer(chain, options, logger.child({ module: "metrics" }));
  return { ...(await server.listen()), close: () => server.close() };
}
