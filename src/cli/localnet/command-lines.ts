import { join } from "node:path";
import { LOCALNET_CHAIN_ID } from "./home.ts";
import type { LocalnetPorts } from "./ports.ts";

/**
 * Pages under development on this machine and wallets of its browser; other pages have no business with its test keys.
 */
const LOCAL_ORIGINS = "http://localhost:*,http://127.0.0.1:*,chrome-extension://*,moz-extension://*";
/** Containers of a localnet hold nothing worth a long shutdown. */
const STOP_GRACE_MS = 1000;

/** Addresses of a localnet, and the folder of the authority that signs a certificate for every host name of a lease. */
export interface LocalnetPlace {
  readonly home: string;
  readonly ports: LocalnetPorts;
  readonly rpcUrl: string;
  readonly restUrl: string;
  readonly grpcAddress: string;
  readonly authority: string;
}

export function localnetPlace(home: string, ports: LocalnetPorts): LocalnetPlace {
  return {
    home,
    ports,
    rpcUrl: `http://127.0.0.1:${ports.rpc}`,
    restUrl: `http://127.0.0.1:${ports.rest}`,
    grpcAddress: `127.0.0.1:${ports.grpc}`,
    authority: join(home, "authority"),
  };
}

/** The words that start the node. */
export function nodeWords({ home, ports, grpcAddress }: LocalnetPlace, blockIntervalMs: number): string[] {
  return [
    ...["start", "--home", home, "--rpc.laddr", `tcp://127.0.0.1:${ports.rpc}`],
    ...["--block-interval", `${blockIntervalMs}ms`, "--minimum-gas-prices", "0utoken"],
    ...["--rpc.cors-allowed-origins", LOCAL_ORIGINS, "--api.cors-allowed-origins", LOCAL_ORIGINS],
    ...["--api.enable", "--api.address", `tcp://127.0.0.1:${ports.rest}`],
    ...["--grpc.address", `tcp://${grpcAddress}`],
  ];
}

/** The words that start the provider, with the flags of its cluster. */
export function providerWords({ home, ports, rpcUrl, authority }: LocalnetPlace, cluster: readonly string[]): string[] {
  return [
    ...["provider", "run", "--home", home, "--chain-id", LOCALNET_CHAIN_ID, "--node", rpcUrl],
    // Its node is beside it, and a proof comes with the block after a lease.
    ...["--verify", "off"],
    ...["--keyring-backend", "test", "--from", "provider", ...cluster],
    ...["--cluster-public-hostname", "localhost", "--cluster-local-images", "--ingress-loopback-ports"],
    ...["--cluster-stop-grace", `${STOP_GRACE_MS}ms`],
    ...["--deployment-ingress-domain", "localhost", "--ingress-listen-address", `127.0.0.1:${ports.ingressHttp}`],
    // There is one tenant, and no domain to prove.
    ...["--deployment-hostname-proof", "first-come", "--deployment-hostname-quarantine", "0s"],
    ...["--ingress-tls-listen-address", `127.0.0.1:${ports.ingressHttps}`, "--ingress-tls-authority", authority],
    ...["--gateway-listen-address", `127.0.0.1:${ports.gateway}`],
  ];
}
