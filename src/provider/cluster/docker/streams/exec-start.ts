/** A piece of a command's output. */
export interface Output {
  readonly stream: "stdout" | "stderr";
  readonly data: Uint8Array;
}

/** Beginning of an engine's message in the stream of a command that it cannot start. */
const ENGINE_WORDS = /^(?:Error: )?(?:runc|crun|OCI runtime|runtime\/cgo|runtime: failed|fatal error: newosproc)[ :]/;
/** The engine needs a process or two of the container's own number to start a command in it. */
const NO_PROCESS_LEFT =
  /resource temporarily unavailable|failed to create new OS thread|newosproc|pthread_create failed/i;
/** With Docker a program that does not exist ends as one that cannot be run. */
const NO_PROGRAM = /executable file not found|no such file or directory/i;
const MORE_WORDS = /^\s*(?:Error: |$)/;
const MOST_HELD = 4096;

const NOT_FOUND = 127;
const REASONS: ReadonlyMap<number, string> = new Map([
  [126, "it cannot be run"],
  [NOT_FOUND, "there is no such program in the container"],
]);

const NO_PROCESS = "the service has reached its limit of processes; end some, or restart it: svc deploy restart";

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

  /** Output that may pass on now. */
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

  /** The rest of the output, and the final exit code. */
  end(code: number): { readonly outputs: readonly Output[]; readonly exitCode: number } {
    const held = this.#held.splice(0);
    const text = held.map(({ data }) => Buffer.from(data).toString("utf8")).join("");
    const exitCode = REASONS.has(code) && NO_PROGRAM.test(text) ? NOT_FOUND : code;
    const reason = NO_PROCESS_LEFT.test(text) ? NO_PROCESS : REASONS.get(exitCode);
    if (held.length === 0 || reason === undefined) return { outputs: held, exitCode };
    const sentence = Buffer.from(`${JSON.stringify(this.#command)}: ${reason}\n`);
    return { outputs: [{ stream: "stderr", data: sentence }], exitCode };
  }
}
