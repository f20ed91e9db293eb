/** A new certificate with its key, both as PEM text. */
export interface HostCertificateText {
  /** The leaf first. */
  readonly chain: string;
  readonly key: string;
}

/** Who signs certificates for host names. */
export interface Issuer {
  /** Whether it answers at once and as often as one likes. */
  readonly isPrompt: boolean;
  /** A certificate for the host alone. Rejects with one sentence that says why there is none. */
  issue(host: string, signal: AbortSignal): Promise<HostCertificateText>;
}

/** The authority wants to be left alone for a while, for whichever host. */
export class AuthorityBusy extends Error {
  readonly waitMs: number;

  constructor(message: string, waitMs: number) {
    super(message);
    this.name = "AuthorityBusy";
    this.waitMs = waitMs;
  }
}
