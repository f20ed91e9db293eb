import { existsSync } from "node:fs";
import { didYouMean, EXIT, printable, SvcError } from "../util/index.ts";
import { allFlags, type ParsedLine, parseLine, toCommand } from "./command/command-line.ts";
import { type Environment, envName, type Flags, isTrue, type Parsed, resolveFlags } from "./command/flags.ts";
import { configPath, homeOf, mendHome } from "./command/home.ts";
import type { CommandSpec } from "./command/spec.ts";
import { lowerAddresses } from "./command/words/bech32-case.ts";
import { type Resolved, resolveCommand } from "./command/words/normalize.ts";
import { commandError, reportError, UsageError } from "./errors.ts";
import { isTopic } from "./help/topics.ts";
import { ROOT } from "./root.ts";
import { createIo, type Io } from "./terminal/io.ts";

export interface ProgramOptions {
  readonly io?: Io;
  readonly env?: Environment;
}

/** Runs one command line and returns the exit code of the process. */
export async function runProgram(argv: readonly string[], options: ProgramOptions = {}): Promise<number> {
  const { io = createIo(), env = process.env } = options;
  try {
    if (argv[0] === COMPLETE) return await complete(argv.slice(1), { io, env });
    checkText(argv);
    return await runCommand(await resolveCommand(ROOT, asOurs(argv)), { io, env });
  } catch (error) {
    return reportError(error, { trace: wantsTrace(argv, env), err: (text) => io.err(`${text}\n`) });
  }
}

/** The word with which completion scripts ask; no group lists it. */
const COMPLETE = "__complete";

async function complete(words: readonly string[], { io, env }: Required<ProgramOptions>): Promise<number> {
  const { completionLines } = await import("./completion/answer.ts");
  const flagsOf = (spec: CommandSpec, flags: Parsed): Promise<Flags> => readFlags(spec, { args: [], flags }, env);
  io.out(await completionLines(words, { root: ROOT, flagsOf }));
  return EXIT.done;
}

/**
 * Node.js puts this instead of bytes that are not UTF-8: the memo, name or path is then not the one that was given.
 */
const REPLACED = "\ufffd";

/** The word itself may be a secret. */
function checkText(argv: readonly string[]): void {
  const at = argv.findIndex((word) => word.includes(REPLACED));
  if (at >= 0) throw new UsageError(`word ${at + 1} of the command line is not UTF-8 text`, "write it in UTF-8");
}

/** Habits of other tools: `help keys add` is `keys add --help`, `--version` is `version`. `help` itself reads guides. */
function asOurs(argv: readonly string[]): readonly string[] {
  const [first, ...rest] = argv;
  if (first === "help") return isTopic(rest[0]) || rest[0]?.startsWith("-") === true ? argv : [...rest, "--help"];
  return first === "--version" ? ["version", ...rest] : argv;
}

/** Read without the command's flags, because an error may come before they are parsed. */
function wantsTrace(argv: readonly string[], env: Environment): boolean {
  const end = argv.indexOf("--");
  const own = end < 0 ? argv : argv.slice(0, end);
  return own.includes("--trace") || isTrue(env[envName("trace")] ?? "");
}

/** The error, with a remedy if it lacks one: from the chain's tables, or the usage of the command. */
async function withRemedy(error: unknown, name: string, spec: CommandSpec): Promise<unknown> {
  if (error instanceof UsageError && error.hint === undefined) {
    const { usageHint } = await import("./command/words/usage-hint.ts");
    return like(error, new UsageError(error.message, usageHint(error.message, name, spec)));
  }
  if (isFileError(error)) return like(error, commandError(error.message, { hint: FILE_HINT, cause: error }));
  if (!(error instanceof SvcError) || error.hint !== undefined || error.codespace === "cli") return error;
  const { codespace, code, message } = error;
  const remedy = (await import("../client/index.ts")).remedyOf(codespace, code, message);
  const hint = remedy ?? `see: ${name} --help`;
  return like(error, new SvcError(codespace, code, message, { hint, cause: error }));
}

const FILE_HINT = "check that the path is right, and that you may read and write there";

/** A system error about a file; the text has the path. */
function isFileError(error: unknown): error is Error {
  return error instanceof Error && "path" in error && "syscall" in error && "code" in error;
}

/** The other error, with the place where the first one happened. */
function like(error: Error, other: Error): Error {
  if (error.stack !== undefined) other.stack = error.stack;
  return other;
}

async function runCommand({ path, rest, unknown }: Resolved, { io, env }: Required<ProgramOptions>): Promise<number> {
  const spec = path.at(-1) ?? ROOT;
  const command = await toCommand(path, io);
  try {
    if (spec.load === undefined) {
      if (unknown !== undefined) throw await unknownWord(spec, command.name(), unknown);
      if (rest.length > 0) await (await import("./command/words/group-flags.ts")).checkGroupFlags(spec, rest);
      command.outputHelp();
      return EXIT.done;
    }
    const parsed = await parseLine(command, spec, rest);
    if (parsed === undefined) return EXIT.done;
    const line = await lowerAddresses(spec, parsed);
    const flags = await readFlags(spec, line, env);
    if (spec.withoutConfig !== true) mendHome(homeOf(flags), (warning) => io.err(`${printable(warning)}\n`));
    const run = await spec.load();
    return (await run({ args: line.args, flags, io })) ?? EXIT.done;
  } catch (error) {
    throw await withRemedy(error, command.name(), spec);
  }
}

/** A word that a group does not know, with the nearest known one. */
async function unknownWord(spec: CommandSpec, group: string, word: string): Promise<UsageError> {
  const names = ((await spec.commands?.()) ?? []).map((each) => each.name);
  return new UsageError(`unknown command "${word}" for "${group}"`, didYouMean(word, names, `see: ${group} --help`));
}

/** Flags of the command line, then of the environment, then of `client.toml`, whose home is a flag as well. */
export async function readFlags(spec: CommandSpec, { flags }: ParsedLine, env: Environment): Promise<Flags> {
  const specs = allFlags(spec);
  const given = resolveFlags(specs, flags, env);
  if (spec.withoutConfig === true) return given;
  if (given.optional("profile") === undefined && !existsSync(configPath(homeOf(given)))) return given;
  const { fileSettings } = await import("./config/settings.ts");
  return resolveFlags(specs, flags, env, fileSettings(given));
}
