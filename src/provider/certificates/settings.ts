/** Where the certificates of host names come from. */
export interface CertificateSources {
  /** Folders in which others keep certificates. */
  readonly certificates: readonly string[];
  /** Folder of an authority that signs a certificate for each host name. */
  readonly authority?: string;
  /** An ACME server that is asked for each; not beside an authority. */
  readonly acme?: AcmeSettings;
}

/** The address of an ACME server, and the address that it may write to. */
export interface AcmeSettings {
  readonly directory: string;
  readonly email?: string;
}
