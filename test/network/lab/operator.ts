import { pause, runSvc, type SvcResult, svcOk } from "../../support/index.ts";
import type { LabNode } from "./lab.ts";

type Json = ReturnType<typeof JSON.parse>;

const MAX_TRIES = 5;
const RETRY_MS = 5_000;

/** The operator of a validator of `svc testnet`, whose key is in the home; transactions go to a node that may be another. */
export class Operator {
  readonly #own: LabNode;
  readonly #key: string;

  constructor(own: LabNode) {
    this.#own = own;
    this.#key = `node${own.machine.number - 1}`;
  }

  /** Operator address, `svcvaloper1...`. */
  async address(): Promise<string> {
    const words = ["keys", "show", this.#key, "--bech", "val", "-a", ...this.#flags];
    return (await svcOk(words)).trim();
  }

  /** Runs `svc tx` until the transaction is in a block; throws the chain's refusal. */
  async tx(words: readonly string[], through: LabNode = this.#own): Promise<Json> {
    const { stdout, stderr } = await this.#patiently(this.#words(words, through));
    const result = stdout === "" ? undefined : JSON.parse(stdout);
    if (result?.code !== 0) throw new Error(`${stderr}${result?.codespace}/${result?.code}: ${result?.raw_log}`);
    return result;
  }

  /** Why a transaction is refused. */
  async refusal(words: readonly string[], through: LabNode = this.#own): Promise<string> {
    const { stdout, stderr } = await runSvc(this.#words(words, through));
    return `${stdout}${stderr}`;
  }

  async validator(through: LabNode = this.#own): Promise<Json> {
    const words = ["query", "staking", "validator", await this.address(), "--node", through.node.address];
    return JSON.parse(await svcOk([...words, "-o", "json"]));
  }

  /** A node of a busy machine may not answer in time. */
  async #patiently(words: readonly string[]): Promise<SvcResult> {
    for (let tries = 1; ; tries++) {
      const ran = await runSvc(words);
      if (tries === MAX_TRIES || !ran.stderr.includes("cannot reach the node")) return ran;
      await pause(RETRY_MS);
    }
  }

  get #flags(): string[] {
    return ["--home", this.#own.home, "--keyring-backend", "test"];
  }

  #words(words: readonly string[], through: LabNode): string[] {
    const place = ["--node", through.node.address, "--chain-id", through.node.chainId];
    const gas = ["--gas", "auto", "--gas-adjustment", "1.5", "-y", "--broadcast-mode", "block", "-o", "json"];
    return ["tx", ...words, "--from", this.#key, ...this.#flags, ...place, ...gas];
  }
}
