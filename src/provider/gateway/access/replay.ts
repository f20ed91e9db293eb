import { TOKEN_LEEWAY, type TokenClaims } from "../../../crypto/index.ts";
import { gatewayErrors } from "../errors.ts";

/**
 * Used single-use tokens. The daemon does not know which tokens were used before it started, so tokens issued before
 * then are refused.
 */
export class Replays {
  readonly #since: number;
  readonly #used = new Map<string, number>();

  /** `since`: seconds since 1970. */
  constructor(since: number) {
    this.#since = since;
  }

  /** Uses a token up; throws `replayed` if it was used before. */
  use({ iss, jti, iat, exp }: TokenClaims, now: number): void {
    for (const [key, end] of this.#used) if (end < now) this.#used.delete(key);
    const key = `${iss}/${jti}`;
    if (this.#used.has(key) || iat < this.#since) throw gatewayErrors.replayed();
    this.#used.set(key, exp + TOKEN_LEEWAY);
  }
}
