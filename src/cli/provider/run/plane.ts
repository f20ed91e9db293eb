import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import {
  ingressTls,
  networkTexts,
  PLANE_WORD,
  PlaneLink,
  type PlaneSettings,
  type ProviderConfig,
} from "../../../provider/index.ts";
import type { Logger } from "../../../util/index.ts";
import { VERSION } from "../../node/version.ts";

/** What a request needs is garbage at its end: with this room for it, a third of the time of collecting it is saved. */
const YOUNG_SPACE = "--max-semi-space-size=32";

/** Finds the data plane of the provider's folder, or starts this program as one. */
export function openPlane(config: Pick<ProviderConfig, "stateDir" | "ingress">, log: Logger): Promise<PlaneLink> {
  const { stateDir, ingress } = config;
  const { host, port, loopbackPorts, clients } = ingress;
  const tls = ingressTls(config);
  const settings: PlaneSettings = {
    ingress: {
      host,
      port,
      loopbackPorts,
      connectionsPerAddress: clients.connectionsPerAddress,
      trustedProxies: networkTexts(clients.trustedProxies),
      forwardedFrom: networkTexts(clients.forwardedFrom),
      ...(tls === undefined ? {} : { tls }),
    },
  };
  const main = process.argv[1] ?? "";
  const program = {
    command: process.execPath,
    args: [YOUNG_SPACE, main, PLANE_WORD, stateDir],
    identity: identityOf(main, settings),
  };
  return PlaneLink.open({ stateDir, settings, program, log: log.child({ module: "data-plane" }) });
}

/** The built entry names its files by their contents, so its text identifies the whole program. */
function identityOf(main: string, settings: PlaneSettings): string {
  const hash = createHash("sha256").update(readFileSync(main)).update(JSON.stringify(settings));
  return `${VERSION} ${process.version} ${hash.digest("hex").slice(0, 16)}`;
}
