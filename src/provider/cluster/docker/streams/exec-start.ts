/** A piece of a command's output. */
export interface Output {
  readonly stream: "stdout" | "stderr";
  readonly data: Uint8Array;
}

/** How engines begin what they write into the stream of a command that they cannot start. */
const ENGINE_WORDS = /^(?:Error: )?(?:runc|crun|OCI runtime)[ :]/;
const MORE_WORDS = /^\s*(?:Error: |$)/;
const MOST_HELD = 4096;

const REASONS: ReadonlyMap<number, string> = new Map([
  [126, "it cannot be run"],
  [127, "there is no such program in the container"],
]);

/**
 * Holds back the start of the output until the exit code shows whether it is the engine's error about a command that it
 * could not start: the user then reads one sentence instead. Everything else passes at once.
 */
export class StartWords {
  readonly #command: string;
  #held: Output[] = [];
  #bytes = 0;
  #isOver = false;

  constructor(command: readonly string[]) {
    this.#command = command[0] ?? "";
  }

  /** What may pass on now. */
  pass(output: Output): readonly Output[] {
    if (this.#isOver || output.data.length === 0) return [output];
    const text = Buffer.from(output.data).toString("utf8");
    const pattern = this.#held.length === 0 ? ENGINE_WORDS : MORE_WORDS;
    this.#bytes += output.data.length;
    this.#held.push(output);
    if (pattern.test(text) && this.#bytes <= MOST_HELD) return [];
    this.#isOver = true;
    return this.#held.splice(0);
  }

  get isHolding(): boolean {
    return this.#held.length > 0;
  }

  /** What is left at the end of the output. */
  end(exitCode: number): readonly Output[] {
    const reason = REASONS.get(exitCode);
    const held = this.#held.splice(0);
    const [first] = held;
    if (first === undefined || reason === undefined) return held;
    return [{ stream: first.stream, data: Buffer.from(`${JSON.stringify(this.#command)}: ${reason}\n`) }];
  }
}
