/** Whose certificates host names show. */
export interface CertificateSources {
  /** Folders in which others keep certificates. */
  readonly certificates: readonly string[];
  /** Folder of an authority that signs a certificate for each host name. */
  readonly authority?: string;
  /** An ACME server that is asked for each; not beside an authority. */
  readonly acme?: AcmeSettings;
}

/** Where an ACME server is, and whom it may write to. */
export interface AcmeSettings {
  readonly directory: string;
  readonly email?: string;
}
