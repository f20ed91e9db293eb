import type { Readable, Writable } from "node:stream";
import type { ShellSession } from "../../../client/index.ts";
import { EXIT, printable } from "../../../util/index.ts";
import type { CommandInput } from "../../command/spec.ts";
import { usageError } from "../../errors.ts";
import { openLease, withSession } from "./session.ts";
import { splitWords } from "./words.ts";

/** The streams of a terminal, or of pipes. */
export interface ShellStreams {
  readonly input: Readable & { readonly isTTY?: boolean; setRawMode?(raw: boolean): unknown };
  readonly output: Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number };
  readonly error: Writable;
}

/** `provider lease-shell SERVICE COMMAND...`: ends with the exit code of the command. */
export async function leaseShell(input: CommandInput): Promise<number> {
  const { service, command } = readCommand(input);
  const streams: ShellStreams = { input: process.stdin, output: process.stdout, error: process.stderr };
  const { tty, stdin } = chooseTerminal(input, streams);
  const replica = input.flags.count("replica-index");
  const { session, lease, gateway } = await openLease(input);
  return withSession(session.chain, async () => {
    const shell = await gateway.shell(lease, { service, replica, command, tty, stdin });
    const { exitCode, message } = await attachShell(shell, streams, { tty, stdin });
    if (message !== "") input.io.err(`Error: ${printable(message)}\n`);
    return message !== "" && exitCode === 0 ? EXIT.failed : exitCode;
  });
}

function readCommand({ args, flags }: CommandInput): { readonly service: string; readonly command: readonly string[] } {
  const [service = "", ...words] = args[1] === "--" ? [args[0] ?? "", ...args.slice(2)] : args;
  const misplaced = ["--dseq", "--from", "--provider"].find(
    (flag) => flags.text(flag.slice(2)) === "" && words.includes(flag),
  );
  if (misplaced !== undefined) {
    throw usageError(`${misplaced} comes after the command's first word: write svc's own flags before the service`);
  }
  const [first = "", ...rest] = words;
  const command = rest.length === 0 ? splitWords(first) : words;
  if (command.length === 0) throw usageError("no command to run; for a shell write: sh");
  return { service, command };
}

/** At a terminal the command gets it, unless the flags say otherwise; it always gets input that is piped. */
export function chooseTerminal(
  { flags }: Pick<CommandInput, "flags">,
  { input, output }: ShellStreams,
): { readonly tty: boolean; readonly stdin: boolean } {
  const atTerminal = input.isTTY === true && output.isTTY === true;
  const chosen = flags.given("tty") || flags.given("stdin");
  const tty = flags.bool("tty") || (!chosen && atTerminal);
  if (tty && input.isTTY !== true) throw usageError("--tty needs a terminal; leave it out when input is piped");
  const isPiped = input.isTTY !== true && flags.source("stdin") === "default";
  return { tty, stdin: flags.bool("stdin") || tty || isPiped };
}

/** Connects the streams with the command until it ends. The terminal is restored in any case. */
export async function attachShell(
  shell: ShellSession,
  { input, output, error }: ShellStreams,
  { tty, stdin }: { readonly tty: boolean; readonly stdin: boolean },
): Promise<{ readonly exitCode: number; readonly message: string }> {
  const write = (data: Buffer) => shell.write(data);
  const end = () => shell.endInput();
  const resize = () => shell.resize(output.columns ?? 80, output.rows ?? 24);
  let interrupted = false;
  const interrupt = () => {
    interrupted = true;
    shell.close();
  };
  process.on("SIGINT", interrupt).on("SIGTERM", interrupt);
  if (tty) {
    input.setRawMode?.(true);
    output.on("resize", resize);
    resize();
  }
  if (stdin) input.on("data", write).once("end", end).resume();
  try {
    for await (const { stream, data } of shell.output()) await writeTo(stream === "stdout" ? output : error, data);
    return interrupted ? { exitCode: EXIT.interrupted, message: "" } : shell.result();
  } catch (fault) {
    shell.close();
    if (isReaderGone(fault)) return { exitCode: EXIT.done, message: "" };
    throw fault;
  } finally {
    process.off("SIGINT", interrupt).off("SIGTERM", interrupt);
    if (tty) input.setRawMode?.(false);
    output.off("resize", resize);
    input.off("data", write).off("end", end);
    // A pending read would keep the process alive.
    input.pause();
    if ("unref" in input && typeof input.unref === "function") input.unref();
  }
}

/** The reader has closed the pipe (`... | head`). */
function isReaderGone(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "EPIPE" || error.code === "EIO");
}

function writeTo(stream: Writable, data: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(data, (error) => (error ? reject(error) : resolve()));
  });
}
