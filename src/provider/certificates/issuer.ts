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
