import { join } from "node:path";
import { LOCALNET_CHAIN_ID, memberHome, memberName } from "./home.ts";
import { type LocalnetPorts, localnetPorts, type Member } from "./ports.ts";

/**
 * Pages under development on this machine and wallets of its browser; other pages have no business with its test keys.
 */
const LOCAL_ORIGINS = "http://localhost:*,http://127.0.0.1:*,chrome-extension://*,moz-extension://*";
/** Containers of a localnet hold nothing worth a long shutdown. */
const STOP_GRACE_MS = 1000;

/** A node or a provider of a localnet. */
export interface LocalnetPlace extends Member {
  /** Name of its process. */
  readonly name: string;
  readonly home: string;
  readonly ports: LocalnetPorts;
}

/** The nodes or the providers of a localnet. The first one has the home, and each further one a folder in it. */
export function localnetPlaces(
  kind: "node" | "provider",
  { home, portOffset }: { readonly home: string; readonly portOffset: number },
  count: number,
): LocalnetPlace[] {
  return Array.from({ length: count }, (_, index) => {
    const ports = localnetPorts(portOffset, { index, count });
    return { index, count, ports, name: memberName(kind, index), home: memberHome(home, kind, index) };
  });
}

/** Where a node answers. */
export function nodeAddresses({ ports }: LocalnetPlace) {
  return {
    rpc: `http://127.0.0.1:${ports.rpc}`,
    rest: `http://127.0.0.1:${ports.rest}`,
    grpc: `127.0.0.1:${ports.grpc}`,
  };
}

/** The folder of the authority that signs a certificate for every host name of a lease. */
export function authorityOf(home: string): string {
  return join(home, "authority");
}

/** How the blocks of several validators are made. */
export interface NetworkEngine {
  /** Path of CometBFT's program. */
  readonly program: string;
  /** All nodes, as CometBFT names them. */
  readonly peers: readonly string[];
}

/** The words that start a node. */
export function nodeWords(place: LocalnetPlace, blockIntervalMs: number, engine?: NetworkEngine): string[] {
  const { home, ports } = place;
  return [
    ...["start", "--home", home, "--rpc.laddr", `tcp://127.0.0.1:${ports.rpc}`],
    ...["--block-interval", `${blockIntervalMs}ms`, "--minimum-gas-prices", "0utoken"],
    ...["--rpc.cors-allowed-origins", LOCAL_ORIGINS, "--api.cors-allowed-origins", LOCAL_ORIGINS],
    ...["--api.enable", "--api.address", `tcp://127.0.0.1:${ports.rest}`],
    ...["--grpc.address", `tcp://${nodeAddresses(place).grpc}`],
    ...(engine === undefined ? [] : engineWords(place, engine)),
  ];
}

function engineWords({ index, ports }: LocalnetPlace, { program, peers }: NetworkEngine): string[] {
  const others = peers.filter((_, i) => i !== index).join(",");
  return [
    ...["--engine", "cometbft", "--cometbft", program],
    ...["--p2p.laddr", `tcp://127.0.0.1:${ports.p2p}`, "--p2p.persistent_peers", others],
  ];
}

/** The localnet of a provider. */
export interface ProviderNetwork {
  /** Has the keys of all providers. */
  readonly home: string;
  readonly rpc: string;
}

/** The words that start a provider, with the flags of its cluster. */
export function providerWords(
  { name, home, ports }: LocalnetPlace,
  network: ProviderNetwork,
  cluster: readonly string[],
): string[] {
  return [
    ...["provider", "run", "--home", home, "--chain-id", LOCALNET_CHAIN_ID, "--node", network.rpc],
    // Its node is beside it, and a proof comes with the block after a lease.
    ...["--verify", "off"],
    ...["--keyring-backend", "test", "--keyring-dir", network.home, "--from", name, ...cluster],
    ...["--cluster-public-hostname", "localhost", "--cluster-local-images", "--ingress-loopback-ports"],
    ...["--cluster-stop-grace", `${STOP_GRACE_MS}ms`],
    ...["--deployment-ingress-domain", "localhost", "--ingress-listen-address", `127.0.0.1:${ports.ingressHttp}`],
    // There is one tenant, and no domain to prove.
    ...["--deployment-hostname-proof", "first-come", "--deployment-hostname-quarantine", "0s"],
    ...["--ingress-tls-listen-address", `127.0.0.1:${ports.ingressHttps}`],
    ...["--ingress-tls-authority", authorityOf(network.home)],
    ...["--gateway-listen-address", `127.0.0.1:${ports.gateway}`],
  ];
}
