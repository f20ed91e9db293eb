import { parseNetworks } from "../../util/servers/index.ts";
import type { ClusterDriver } from "../cluster/index.ts";
import { CONNECTIONS_PER_ADDRESS, Ingress, ingressRouter } from "../ingress/index.ts";
import type { HostFault } from "../reasons.ts";
import { tryContainer } from "./trial.ts";

const HOST = "127.0.0.1";

/** Tries a container beside no running provider, through an ingress of its own. Resolves with the fault, or with undefined. */
export async function tryHost(
  driver: ClusterDriver,
  { provider, timeoutMs }: { readonly provider: string; readonly timeoutMs: number },
): Promise<HostFault | undefined> {
  const { routing, probe } = driver;
  if (routing.ingress === "cluster" || probe === undefined) return undefined;
  const nobody = parseNetworks([]);
  const clients = { connectionsPerAddress: CONNECTIONS_PER_ADDRESS, trustedProxies: nobody, forwardedFrom: nobody };
  const ingress = new Ingress({ backends: routing.backends.bind(routing), host: HOST, port: 0, clients });
  const port = await ingress.listen();
  let found: HostFault | undefined;
  const router = ingressRouter(ingress, { port, loopbackPorts: false });
  const place = { host: HOST, port };
  await tryContainer({ driver, probe, router, ingress: () => place, provider, timeoutMs }, (fault) => {
    found = fault;
  });
  await ingress.close();
  return found;
}
