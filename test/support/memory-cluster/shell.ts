/** Where a program of the memory cluster writes to and reads from. */
export interface ProgramIo {
  write(stream: "stdout" | "stderr", text: string): void;
  readonly input: AsyncIterable<Uint8Array>;
  readonly env: ReadonlyMap<string, string>;
  /** KILL. */
  readonly signal: AbortSignal;
}

export const KILLED = 137;
const NOT_FOUND = 127;

/**
 * Runs `echo`, `sleep`, `exit`, `cat`, `true`, `false`, `sh -c` with a list of commands, and `sh` that reads lines; enough to play a tenant's
 * program. Resolves with the exit code, 137 if the signal came first.
 */
export async function runProgram(command: readonly string[], io: ProgramIo): Promise<number> {
  const [name, option, script] = command;
  if (name === "sh" && option === "-c" && script !== undefined) return runScript(script, io);
  if (name === "sh" && option === undefined) return runLines(io);
  return runCommand(command, io);
}

/** A shell at a terminal, without its echo: a line is a script, and `exit` ends it. */
async function runLines(io: ProgramIo): Promise<number> {
  let typed = "";
  io.write("stdout", "$ ");
  for await (const data of io.input) {
    typed += Buffer.from(data).toString("utf8");
    const lines = typed.split(/[\r\n]/);
    typed = lines.pop() ?? "";
    for (const line of lines) {
      const [first, code = "0"] = line.trim().split(/\s+/);
      if (first === "exit") return Number(code);
      await runScript(line, io);
      io.write("stdout", "$ ");
    }
  }
  return io.signal.aborted ? KILLED : 0;
}

async function runScript(script: string, io: ProgramIo): Promise<number> {
  let code = 0;
  for (const statement of script.split(/[;\n]/)) {
    const words = statement.trim().split(/\s+/).filter(Boolean);
    if (words.length === 0) continue;
    if (words[0] === "exit") return Number(words[1] ?? code);
    code = await runCommand(
      words.map((word) => expand(word, io.env)),
      io,
    );
    if (io.signal.aborted) return KILLED;
  }
  return code;
}

async function runCommand(words: readonly string[], io: ProgramIo): Promise<number> {
  const [name, ...args] = words;
  if (name === "true") return 0;
  if (name === "false") return 1;
  if (name === "echo") return echo(args, io);
  if (name === "cat") return cat(io);
  if (name === "sleep") return sleep(Number(args[0]) * 1000, io.signal);
  io.write("stderr", `${name}: not found\n`);
  return NOT_FOUND;
}

function echo(args: readonly string[], io: ProgramIo): number {
  const toError = args.at(-1) === ">&2";
  io.write(toError ? "stderr" : "stdout", `${(toError ? args.slice(0, -1) : args).join(" ")}\n`);
  return 0;
}

async function cat(io: ProgramIo): Promise<number> {
  for await (const data of io.input) io.write("stdout", Buffer.from(data).toString("utf8"));
  return io.signal.aborted ? KILLED : 0;
}

function sleep(milliseconds: number, signal: AbortSignal): Promise<number> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(KILLED);
    const finish = (code: number) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", kill);
      resolve(code);
    };
    const kill = () => finish(KILLED);
    const timer = setTimeout(() => finish(0), milliseconds);
    signal.addEventListener("abort", kill, { once: true });
  });
}

function expand(word: string, env: ReadonlyMap<string, string>): string {
  return word.replaceAll(/['"]/g, "").replaceAll(/\$\{?(\w+)\}?/g, (_all, name: string) => env.get(name) ?? "");
}
