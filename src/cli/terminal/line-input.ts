import { StringDecoder } from "node:string_decoder";
import { smallest } from "../../util/index.ts";
import { commandError, interrupted } from "../errors.ts";

/** The part of a readable stream or terminal that is needed here. */
export interface InputStream {
  readonly isTTY?: boolean;
  setRawMode?(raw: boolean): unknown;
  on(event: "data", listener: (chunk: Uint8Array | string) => void): unknown;
  on(event: "end" | "close", listener: () => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  pause(): unknown;
  resume(): unknown;
}

/** A line that never ends would fill the memory. */
const MAX_LINE = 1024 * 1024;

/** Control characters of a terminal in raw mode. */
const KEY = {
  interrupt: "\u0003",
  end: "\u0004",
  backspace: "\b",
  delete: "\u007f",
  eraseLine: "\u0015",
  escape: "\u001b",
};

/**
 * Reads lines from a stream, one at a time, and leaves it paused in between, so that a process with nothing else to do
 * can end. Text after a line's end waits for the next question.
 */
export class LineInput {
  readonly #stream: InputStream;
  readonly #decoder = new StringDecoder("utf8");
  readonly #strict = new TextDecoder("utf-8", { fatal: true });
  #isGarbled = false;
  #pending = "";
  #ended = false;
  #failure: Error | undefined;
  #wake: () => void = () => undefined;

  constructor(stream: InputStream) {
    this.#stream = stream;
    stream.on("data", (chunk) => this.#receive(chunk));
    stream.on("end", () => this.#finish());
    stream.on("close", () => this.#finish());
    stream.on("error", (error) => this.#finish(error));
    stream.pause();
  }

  /** The next line, undefined at the end. A last line without a line end counts. */
  next(): Promise<string | undefined> {
    return this.#nextLine(false);
  }

  /**
   * Like `next`, on a terminal without echo. The prompt is shown by `announce` once nothing typed can be seen any more.
   */
  async nextHidden(announce: () => void): Promise<string | undefined> {
    const raw = this.#stream.isTTY === true && this.#stream.setRawMode !== undefined;
    if (raw) this.#stream.setRawMode?.(true);
    try {
      announce();
      return await this.#nextLine(raw);
    } finally {
      if (raw) this.#stream.setRawMode?.(false);
    }
  }

  /** Everything up to the end, as text: a signer must not sign replacement characters. */
  async rest(maxBytes: number): Promise<string> {
    const tooLarge = (): boolean => Buffer.byteLength(this.#pending) > maxBytes;
    while (!this.#ended && !tooLarge()) await this.#more();
    if (tooLarge()) {
      const hint = "is it the right input?";
      throw commandError(`standard input is larger than ${maxBytes} bytes`, { hint });
    }
    this.#throwFailure();
    if (this.#isGarbled) throw commandError("standard input is not UTF-8 text", { hint: "send it as UTF-8" });
    return this.#take(this.#pending.length).replace(/^\uFEFF/, "");
  }

  async #nextLine(raw: boolean): Promise<string | undefined> {
    for (;;) {
      if (raw && this.#beforeLineEnd().includes(KEY.interrupt)) {
        this.#pending = "";
        throw interrupted();
      }
      const end = this.#lineEnd(raw);
      if (end !== undefined) {
        const line = this.#take(end);
        return raw ? this.#typedLine(line) : line.replace(/\r?\n$/, "");
      }
      if (this.#pending.length > MAX_LINE) throw commandError("a line of standard input is longer than 1 MiB");
      this.#throwFailure();
      if (this.#ended) return this.#pending === "" ? undefined : this.#take(this.#pending.length);
      await this.#more();
    }
  }

  /** Position after the end of the first line; a terminal in raw mode ends lines with CR or Ctrl-D. */
  #lineEnd(raw: boolean): number | undefined {
    const ends = raw ? ["\r", "\n", KEY.end] : ["\n"];
    const at = smallest(
      ends.map((end) => this.#pending.indexOf(end)).filter((index) => index >= 0),
      Number.POSITIVE_INFINITY,
    );
    if (at === Number.POSITIVE_INFINITY) return undefined;
    return raw && this.#pending.startsWith("\r\n", at) ? at + 2 : at + 1;
  }

  #beforeLineEnd(): string {
    return this.#pending.split(/[\r\n]/, 1)[0] ?? "";
  }

  /** Undefined for Ctrl-D on an empty line, which is the end of the input. */
  #typedLine(typed: string): string | undefined {
    const line = editedLine(typed);
    return line === "" && typed.endsWith(KEY.end) ? undefined : line;
  }

  #take(length: number): string {
    const taken = this.#pending.slice(0, length);
    this.#pending = this.#pending.slice(length);
    return taken;
  }

  /** Resolves when input or its end has arrived. */
  async #more(): Promise<void> {
    const arrived = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#stream.resume();
    await arrived;
    this.#stream.pause();
  }

  #receive(chunk: Uint8Array | string): void {
    if (typeof chunk === "string") this.#pending += chunk;
    else {
      this.#pending += this.#decoder.write(Buffer.from(chunk));
      this.#check(chunk);
    }
    this.#wake();
  }

  #finish(failure?: Error): void {
    this.#failure ??= failure;
    if (!this.#ended) {
      this.#pending += this.#decoder.end();
      this.#check();
    }
    this.#ended = true;
    this.#wake();
  }

  /** Notices bytes that are not UTF-8; without a chunk, also a character that was cut off. */
  #check(chunk?: Uint8Array): void {
    if (this.#isGarbled) return;
    try {
      this.#strict.decode(chunk, { stream: chunk !== undefined });
    } catch {
      this.#isGarbled = true;
    }
  }

  #throwFailure(): void {
    if (this.#failure !== undefined)
      throw commandError(`standard input: ${this.#failure.message}`, { cause: this.#failure });
  }
}

/** The line after erasing; arrow keys and the like are skipped. */
function editedLine(typed: string): string {
  const line: string[] = [];
  const keys = typed.replace(new RegExp(`${KEY.escape}(?:\\[[0-9;]*[ -/]*[@-~]|O.|.)?`, "g"), "");
  for (const key of keys) {
    if (key === KEY.backspace || key === KEY.delete) line.pop();
    else if (key === KEY.eraseLine) line.length = 0;
    else if (key >= " ") line.push(key);
  }
  return line.join("");
}
