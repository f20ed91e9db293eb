/** Time limit of an answer; none while the user has to look at the device and press its buttons. */
export interface ExchangeOptions {
  readonly timeoutMs?: number;
}

/**
 * A connection to a device. Commands run in order. Rejects with `ledgerErrors.disconnected` if the device goes away,
 * with `silent` if it does not answer in time, and with `badAnswer` for an invalid answer.
 */
export interface LedgerTransport {
  /** Sends one command and returns the answer: its data and the two bytes of the status. */
  exchange(apdu: Uint8Array, options?: ExchangeOptions): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** Longest answer of any command: no device has room for more. */
export const MAX_ANSWER = 64 * 1024;
