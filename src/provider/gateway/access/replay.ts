import { TOKEN_LEEWAY, type TokenClaims } from "../../../crypto/index.ts";
import { gatewayErrors } from "../errors.ts";

/**
 * Tokens that were used for something that may happen only once. What was used before the daemon started is not known any
 * more, so tokens from then do not count.
 */
export class Replays {
  readonly #since: number;
  readonly #used = new Map<string, number>();

  /** `since`: seconds since 1970. */
  constructor(since: number) {
    this.#since = since;
  }

  /** Uses a token up; throws `replayed` when that has happened before. */
  use({ iss, jti, iat, exp }: TokenClaims, now: number): void {
    for (const [key, end] of this.#used) if (end < now) this.#used.delete(key);
    const key = `${iss}/${jti}`;
    if (this.#used.has(key) || iat < this.#since) throw gatewayErrors.replayed();
    this.#used.set(key, exp + TOKEN_LEEWAY);
  }
}
