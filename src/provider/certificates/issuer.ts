/** A new certificate with its key, both as PEM text. */
export interface HostCertificateText {
  /** The leaf first. */
  readonly chain: string;
  readonly key: string;
}

/** Who signs certificates for host names. */
export interface Issuer {
  /** Whether it answers at once and without a limit on requests. */
  readonly isPrompt: boolean;
  /** A certificate for this host alone. Rejects with one sentence that gives the reason. */
  issue(host: string, signal: AbortSignal): Promise<HostCertificateText>;
}

/** The authority asks for a pause, for all hosts. */
export class AuthorityBusy extends Error {
  readonly waitMs: number;

  constructor(message: string, waitMs: number) {
    super(message);
    this.name = "AuthorityBusy";
    this.waitMs = waitMs;
  }
}
