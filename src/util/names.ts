/** Names and numbers of the network that users meet, in one place. */

export const BECH32_PREFIX = "svc";
export const COIN_TYPE = 118;
/** Path of the first key of a phrase. */
export const DEFAULT_HD_PATH = `m/44'/${COIN_TYPE}'/0'/0/0`;

/** Denomination of the smallest unit of the chain's own token. */
export const NATIVE_DENOM = "utoken";
export const DISPLAY_DENOM = "TOKEN";
/** 10^6 utoken = 1 TOKEN. */
export const DISPLAY_EXPONENT = 6;

export const ENV_PREFIX = "SVC_";

/** Default ports; `--port-offset` shifts all of them. */
export const PORTS = {
  rpc: 26657,
  p2p: 26656,
  rest: 1317,
  grpc: 9090,
  nodeMetrics: 26660,
  providerMetrics: 26661,
  gateway: 8443,
  ingressHttp: 8080,
  ingressHttps: 8444,
  net: 8000,
} as const;

/** Difference between the ports of nodes, and of providers, that share a machine. */
export const PORT_STEP = 10;

/** The default ports, all shifted. */
export function shiftedPorts(by: number): Record<keyof typeof PORTS, number> {
  const shifted = Object.entries(PORTS).map(([name, port]) => [name, port + by]);
  return Object.fromEntries(shifted);
}

/** Exit codes; `missing`: a program is not installed that the command runs. */
export const EXIT = { done: 0, failed: 1, usage: 2, missing: 3, interrupted: 130 } as const;

/** A genesis file with the state of a whole chain has some tens of MiB. */
export const MAX_GENESIS_BYTES = 256 * 1024 * 1024;
