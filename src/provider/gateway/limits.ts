/** Bounds of the gateway; times in milliseconds, sizes in bytes. */
export interface GatewayLimits {
  readonly headersTimeout: number;
  readonly requestTimeout: number;
  readonly keepAliveTimeout: number;
  readonly handshakeTimeout: number;
  readonly connections: number;
  readonly connectionsPerAddress: number;
  /** New connections of one network at once, and refill per second: each costs a handshake. */
  readonly connectionsBurst: number;
  readonly connectionsPerSecond: number;
  readonly requestsPerConnection: number;
  readonly body: number;
  /** A body whose sender is not known. */
  readonly publicBody: number;
  /** All incoming bodies of one network. */
  readonly bodiesPerNetwork: number;
  /** Concurrent price calculations: for all callers, and for one. Bids wait for the same price script. */
  readonly prices: number;
  readonly pricesPerCaller: number;
  /** Websockets of one tenant. */
  readonly streamsPerTenant: number;
  /** Status streams: of all callers, and of one. */
  readonly statusStreams: number;
  readonly statusStreamsPerCaller: number;
  /** Open calls of one connection. */
  readonly callsPerConnection: number;
  /** A call that asks for one answer ends after this long, a stream whose reader takes nothing for so long too. */
  readonly callTimeout: number;
  /** How often a stream of status looks for changes. */
  readonly statusEvery: number;
  /** One message of a tenant's websocket. */
  readonly message: number;
  /** Requests of one tenant at once, and refill per second. */
  readonly burst: number;
  readonly perSecond: number;
  /**
   * Shells and restarts of one tenant at once, and refill per second: each is work of the host that no lease pays for.
   */
  readonly startsBurst: number;
  readonly startsPerSecond: number;
  /** Invalid credentials of one network at once, and refill per second. */
  readonly failures: number;
  readonly failuresPerSecond: number;
  readonly ping: number;
  readonly pongWait: number;
  /** An open stream is authorised again this often; while the chain is away it lives on for `recheckGrace`. */
  readonly recheck: number;
  readonly recheckGrace: number;
  /** Bytes that may wait to be sent before the reader is considered gone. */
  readonly sendBuffer: number;
  /** Facts from the chain are reused for this long. */
  readonly chainAge: number;
  /** The cluster's status is reused for this long: public requests must not keep the engine busy. */
  readonly clusterAge: number;
}

export const DEFAULT_LIMITS: GatewayLimits = {
  headersTimeout: 5_000,
  requestTimeout: 15_000,
  keepAliveTimeout: 5_000,
  handshakeTimeout: 5_000,
  connections: 1_024,
  connectionsPerAddress: 64,
  connectionsBurst: 256,
  connectionsPerSecond: 32,
  requestsPerConnection: 1_000,
  body: 1 << 20,
  publicBody: 64 << 10,
  bodiesPerNetwork: 4 << 20,
  prices: 4,
  pricesPerCaller: 2,
  streamsPerTenant: 16,
  statusStreams: 256,
  statusStreamsPerCaller: 8,
  callsPerConnection: 32,
  callTimeout: 15_000,
  statusEvery: 1_000,
  message: 64 << 10,
  burst: 100,
  perSecond: 20,
  startsBurst: 20,
  startsPerSecond: 0.5,
  failures: 100,
  failuresPerSecond: 5,
  ping: 10_000,
  pongWait: 15_000,
  recheck: 10_000,
  recheckGrace: 30_000,
  sendBuffer: 128 << 10,
  chainAge: 1_000,
  clusterAge: 1_000,
};
