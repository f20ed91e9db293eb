/** A check of a provider: `look` resolves with its finding, or throws a `Fault` or another error. */
export interface ClusterCheck {
  readonly name: string;
  /** The remedy if the error has none of its own. */
  readonly fix: string;
  look(): Promise<string>;
}

/** Facts that checks of a cluster compare it with. */
export interface ProviderOffer {
  /** The runtime of leases that the settings name. */
  readonly runtime?: string | undefined;
  /** The provider's record on the chain. */
  record(): Promise<{ readonly attributes: readonly { readonly key: string; readonly value: string }[] }>;
}

/** A failure with its own remedy. */
export class Fault extends Error {
  readonly fix: string;

  constructor(detail: string, fix: string) {
    super(detail);
    this.name = "Fault";
    this.fix = fix;
  }
}

/** Another check says why this one cannot tell. */
export class Unknown extends Error {
  constructor(detail: string) {
    super(detail);
    this.name = "Unknown";
  }
}
