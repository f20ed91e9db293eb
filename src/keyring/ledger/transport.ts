/** How long to wait for an answer; without a limit where somebody has to look at the device and press its buttons. */
export interface ExchangeOptions {
  readonly timeoutMs?: number;
}

/**
 * A connection to a device. Commands go one after the other. Rejects with `ledgerErrors.disconnected` when the device
 * goes away, with `silent` when it says nothing in time, and with `badAnswer` when what comes back is not an answer.
 */
export interface LedgerTransport {
  /** Sends one command and returns the answer: its data and the two bytes of the status. */
  exchange(apdu: Uint8Array, options?: ExchangeOptions): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** Longest answer of any command: no device has room for more. */
export const MAX_ANSWER = 64 * 1024;
