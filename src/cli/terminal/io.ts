import { commandError } from "../errors.ts";
import { type InputStream, LineInput } from "./line-input.ts";

/**
 * A command's view of the terminal. Results go to standard output, everything else to standard error. All prompts of a
 * process share one reader, so that several answers can be piped in, one per line.
 */
export interface Io {
  /** Whether the input is a terminal. Prompts are shown only then. */
  readonly isTTY: boolean;
  /** Width of the terminal that standard output is; undefined if it is none. */
  readonly columns?: number | undefined;
  /** Writes text unchanged to standard output. */
  out(text: string): void;
  /** Writes text unchanged to standard error. */
  err(text: string): void;
  /** The next line of the input without its end; rejects when the input has ended. */
  readLine(): Promise<string>;
  /** All that is left of the input, which must be UTF-8 text of at most this many bytes. */
  readAll(maxBytes: number): Promise<string>;
  /** A line in answer to `> <prompt>`. */
  ask(prompt: string): Promise<string>;
  /** A line that is not shown while it is typed. */
  password(prompt: string): Promise<string>;
  /** Whether the answer to `<prompt> [y/N]: ` is `y`, in either case; rejects when the input has ended. */
  confirm(prompt: string, options?: { readonly hasYes: boolean }): Promise<boolean>;
}

/** The streams of a process. */
export interface IoStreams {
  readonly input: InputStream;
  readonly output: { write(text: string): unknown; readonly isTTY?: boolean; readonly columns?: number };
  readonly error: { write(text: string): unknown };
}

const PROCESS_STREAMS: IoStreams = {
  get input() {
    return process.stdin;
  },
  get output() {
    return process.stdout;
  },
  get error() {
    return process.stderr;
  },
};

/** Columns of a terminal that does not know its size. */
const DEFAULT_COLUMNS = 80;
const PIPE_ANSWERS = "run it in a terminal, or pipe one answer per line";

/** The terminal of this process, or of the given streams. The input is not touched before the first question. */
export function createIo(streams: IoStreams = PROCESS_STREAMS): Io {
  let input: LineInput | undefined;
  const reader = (): LineInput => {
    input ??= new LineInput(streams.input);
    return input;
  };
  const err = (text: string): void => void streams.error.write(text);
  const isTTY = (): boolean => streams.input.isTTY === true;
  const prompt = (text: string): void => {
    if (isTTY()) err(text);
  };
  const answer = async (line: Promise<string | undefined>, hint = PIPE_ANSWERS): Promise<string> => {
    const text = await line;
    if (text === undefined) throw commandError("standard input ended where an answer was expected", { hint });
    return text;
  };
  return {
    get isTTY() {
      return isTTY();
    },
    get columns() {
      const { isTTY, columns } = streams.output;
      return isTTY === true ? columns || DEFAULT_COLUMNS : undefined;
    },
    out: (text) => void streams.output.write(text),
    err,
    readLine: () => answer(reader().next()),
    readAll: (maxBytes) => reader().rest(maxBytes),
    ask(text) {
      prompt(`> ${text}\n`);
      return answer(reader().next());
    },
    async password(text) {
      try {
        return await answer(reader().nextHidden(() => prompt(text)));
      } finally {
        // The line end that the user typed was not shown either.
        prompt("\n");
      }
    },
    async confirm(text, { hasYes } = { hasYes: true }) {
      prompt(`${text} [y/N]: `);
      const remedy = hasYes ? "pipe y, or use -y" : "pipe y";
      const line = await answer(reader().next(), `the question was: ${text}; ${remedy}`);
      return line.trim().toLowerCase() === "y";
    },
  };
}
