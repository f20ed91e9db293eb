import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import {
  browserGateway,
  ingressTls,
  PLANE_WORD,
  PlaneLink,
  type PlaneSettings,
  type ProviderConfig,
} from "../../../provider/index.ts";
import type { Logger } from "../../../util/index.ts";
import { networkTexts } from "../../../util/servers/index.ts";
import { VERSION } from "../../node/version.ts";

/** Finds the data plane of the provider's folder, or starts this program as one. */
export function openPlane(config: Pick<ProviderConfig, "stateDir" | "ingress">, log: Logger): Promise<PlaneLink> {
  const { stateDir, ingress } = config;
  const { host, port, loopbackPorts, clients, routesFile } = ingress;
  const tls = ingressTls(config);
  const gateway = browserGateway(config);
  const settings: PlaneSettings = {
    ingress: {
      host,
      port,
      loopbackPorts,
      connectionsPerAddress: clients.connectionsPerAddress,
      trustedProxies: networkTexts(clients.trustedProxies),
      forwardedFrom: networkTexts(clients.forwardedFrom),
      ...(tls === undefined ? {} : { tls }),
      ...(gateway === undefined ? {} : { gateway }),
      ...(routesFile === undefined ? {} : { routesFile }),
    },
  };
  const main = process.argv[1] ?? "";
  const program = {
    command: process.execPath,
    args: [main, PLANE_WORD, stateDir],
    identity: identityOf(main, settings),
  };
  return PlaneLink.open({ stateDir, settings, program, log: log.child({ module: "data-plane" }) });
}

/** The built entry names its files by their contents, so its text identifies the whole program. */
function identityOf(main: string, settings: PlaneSettings): string {
  const hash = createHash("sha256").update(readFileSync(main)).update(JSON.stringify(settings));
  return `${VERSION} ${process.version} ${hash.digest("hex").slice(0, 16)}`;
}
