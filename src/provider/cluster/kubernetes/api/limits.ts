/** Limits of the client on answers of an API server, and its timeouts. */
export interface ApiLimits {
  /** Milliseconds for an answer, its body included; for a stream, until it begins. */
  readonly callMs: number;
  /** Bytes of one answer. */
  readonly answerBytes: number;
  /** Objects of one page of a list. */
  readonly pageItems: number;
  /** Objects of one list. */
  readonly listItems: number;
  /** Bytes of one line of a watch: an object is at most some 3 MiB. */
  readonly lineBytes: number;
  /** Seconds after which the server ends a watch; the next one continues at the same place. */
  readonly watchSeconds: number;
  /** Milliseconds without a byte after which a watch counts as broken; servers send a bookmark about every minute. */
  readonly silenceMs: number;
  /** Milliseconds between signs of life on the connection of a command. */
  readonly pingMs: number;
  /** How often a call is repeated that the server turned away because it is too busy. */
  readonly retries: number;
  /** Milliseconds before a watch is retried: first, doubling up to the maximum. */
  readonly pauseMs: number;
  readonly maxPauseMs: number;
}

export const API_LIMITS: ApiLimits = {
  callMs: 30_000,
  answerBytes: 32 << 20,
  pageItems: 250,
  listItems: 100_000,
  lineBytes: 8 << 20,
  watchSeconds: 300,
  silenceMs: 150_000,
  pingMs: 30_000,
  retries: 3,
  pauseMs: 500,
  maxPauseMs: 30_000,
};
