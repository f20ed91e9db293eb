import type { ChainClient } from "../../../src/client/index.ts";
import { errorText } from "../../../src/util/index.ts";
import { balanceOf, pause } from "../../support/index.ts";
import { ask, callText, type Door } from "./sockets.ts";

const ASK_EVERY_MS = 50;

export interface Seen {
  /** Rounds of questions that were answered whole: health, status and a balance. */
  readonly rounds: number;
  /** The longest time that one answer took. */
  readonly slowestMs: number;
  /** The time that each answer took. */
  readonly answersMs: readonly number[];
  readonly faults: readonly string[];
}

export interface OnlookerParts {
  readonly client: ChainClient;
  readonly address: string;
  readonly door: Door;
  /** An additional request to another server. */
  readonly askMore?: (() => Promise<unknown>) | undefined;
}

/** An honest client that asks for health, status and a balance, again and again. */
export class Onlooker {
  readonly #client: ChainClient;
  readonly #address: string;
  readonly #door: Door;
  readonly #askMore: () => Promise<unknown>;
  readonly #faults: string[] = [];
  readonly #asking: Promise<void>;
  #rounds = 0;
  readonly #answersMs: number[] = [];
  #isOver = false;

  constructor({ client, address, door, askMore = async () => {} }: OnlookerParts) {
    this.#client = client;
    this.#address = address;
    this.#door = door;
    this.#askMore = askMore;
    this.#asking = this.#askOn();
  }

  async stop(): Promise<Seen> {
    this.#isOver = true;
    await this.#asking;
    const slowestMs = Math.round(this.#answersMs.reduce((most, ms) => Math.max(most, ms), 0));
    return { rounds: this.#rounds, slowestMs, answersMs: this.#answersMs, faults: this.#faults };
  }

  async #askOn(): Promise<void> {
    while (!this.#isOver) {
      try {
        await this.#timed(() => this.#askAnew());
        await this.#timed(() => onceMore(() => this.#client.node.status()));
        await this.#timed(() => onceMore(() => balanceOf(this.#client, this.#address)));
        await this.#timed(this.#askMore);
        this.#rounds += 1;
      } catch (error) {
        this.#faults.push(errorText(error));
      }
      await pause(ASK_EVERY_MS);
    }
  }

  /** As a new client, on its own connection; among many new clients it may have to try again. */
  async #askAnew(tries = 3): Promise<void> {
    const asked = ask(this.#door, "/", callText("health"));
    if (tries > 1 && (await asked.then(() => false, isHangUp))) return this.#askAnew(tries - 1);
    const { status, text } = await asked;
    if (status !== 200) throw new Error(`health: ${status} ${text}`);
  }

  async #timed(ask: () => Promise<unknown>): Promise<void> {
    const began = performance.now();
    await ask();
    this.#answersMs.push(performance.now() - began);
  }
}

function isHangUp(error: unknown): boolean {
  return /socket hang up|ECONNRESET/.test(errorText(error));
}

/** The node may close an idle connection just as it is used again: the client then repeats the request once. */
async function onceMore<T>(question: () => Promise<T>): Promise<T> {
  try {
    return await question();
  } catch (error) {
    if (!errorText(error).includes("connection reset")) throw error;
    return question();
  }
}
