/** Where the answers to an ACME server's challenges are shown (RFC 8555 section 8.3). */
export interface Challenges {
  show(token: string, answer: string): Promise<void>;
  hide(token: string): Promise<void>;
}

const PATH = "/.well-known/acme-challenge/";

/** Answers to the challenges of an ACME server, which asks any host name for them over HTTP (RFC 8555 section 8.3). */
export class ChallengeAnswers implements Challenges {
  readonly #answers = new Map<string, string>();

  async show(token: string, answer: string): Promise<void> {
    this.#answers.set(token, answer);
  }

  async hide(token: string): Promise<void> {
    this.#answers.delete(token);
  }

  /** Other tokens are for tenants who have ACME clients of their own. */
  find(path: string | undefined): string | undefined {
    if (this.#answers.size === 0 || path?.startsWith(PATH) !== true) return undefined;
    return this.#answers.get(path.slice(PATH.length));
  }
}
