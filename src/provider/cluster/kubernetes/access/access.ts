/** How a call identifies its caller to the server. */
export interface Secret {
  readonly token?: string;
  /** Client certificate and its key, PEM. */
  readonly cert?: string;
  readonly key?: string;
}

/** Where the secret of calls comes from. */
export interface Credentials {
  current(): Promise<Secret>;
  /** Called when the server refused the secret: the next one is read again. False if there will never be another. */
  renew(): boolean;
}

/** How an API server is reached, and as which user. */
export interface ApiAccess {
  /** Origin, and the path in front of the server's own where there is one. */
  readonly server: URL;
  readonly tls: {
    /** Certificate authorities, PEM; the system's where there are none. */
    readonly ca?: string;
    /** The name in the server's certificate if it differs from the address. */
    readonly servername?: string;
    readonly rejectUnauthorized?: false;
  };
  readonly credentials: Credentials;
}
