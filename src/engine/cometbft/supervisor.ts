import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Logger } from "../../util/index.ts";
import type { CometPaths } from "./settings.ts";

/** Pauses before a new start: twice as long each time, until an engine has run for a while. */
const RESTART_MS = { first: 1_000, most: 30_000 } as const;
const STEADY_MS = 60_000;
/** Starts in vain after which an engine that never answered is not started again. */
const MAX_STARTS = 3;
/** Time to end in order. */
const STOP_MS = 10_000;
const MAX_LINE = 4_000;
/**
 * The message after which the engine decides no more blocks, though its process stays. Fields behind a message may hold words
 * of other nodes.
 */
const CONSENSUS_FAILURE = /^E\[[^\]]*\] CONSENSUS FAILURE!!! /;
/** Last lines of an engine that found its blocks and the state of the application to differ, not of one that lost its connection. */
const MISFIT =
  /^(?:panic|ERROR): (?!.*(?:broken pipe|connection re|EOF)).*(?:AppHash|BlockHeight|height mismatch|error during handshake)/;
/** The messages after which an engine without a state waits for nothing. */
const STATE_SYNC_FAILURE =
  /^E\[[^\]]*\] (?:State sync failed|Failed to bootstrap node with new state|Failed to store last seen commit|Failed to switch to block sync) /;
/**
 * The words before the program. Linux ends the engine with the node, however the node ends: an engine whose application has
 * gone may wait for its answer without end, with its database locked.
 */
const WITH_NODE: readonly string[] = ["setpriv", "--pdeathsig", "KILL"];
/** Variables that would replace settings of the engine. */
const FOREIGN_SETTING = /^(?:CMT|TM)/i;

export interface SupervisorParts {
  readonly program: string;
  readonly paths: CometPaths;
  readonly logger: Logger;
  /** Whether the engine has answered since the node started. */
  readonly hasAnswered: () => boolean;
  /** Called once, for a failure that a new start does not mend. */
  readonly onFault: (sentence: string) => void;
  /** Called once, for an engine that never answered. */
  readonly onNoStart: (sentence: string) => void;
}

/** Keeps one engine running as a child in its own process group. */
export class Supervisor {
  readonly #parts: SupervisorParts;
  readonly #before: readonly string[];
  #child: ChildProcess | undefined;
  #restart: NodeJS.Timeout | undefined;
  #restartMs: number = RESTART_MS.first;
  #isStopped = false;
  #hasFailed = false;
  #starts = 0;
  /** Why the engine ends, in its own words. */
  #lastWords: string | undefined;

  constructor(parts: SupervisorParts) {
    this.#parts = parts;
    this.#before = canEndWithNode() ? WITH_NODE : [];
    if (this.#before.length > 0) return;
    parts.logger.warn("CometBFT may outlive a node that is killed: setpriv of util-linux is not there");
  }

  /** Process id of the engine; undefined while none runs. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  start(): void {
    const { program, paths } = this.#parts;
    this.#starts += 1;
    rmSync(paths.rpcSocket, { force: true });
    const startedAt = performance.now();
    const stdio: ["ignore", "pipe", "pipe"] = ["ignore", "pipe", "pipe"];
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !FOREIGN_SETTING.test(name)));
    const [command = program, ...words] = [...this.#before, program, "start", "--home", paths.root];
    const child = spawn(command, words, { cwd: paths.root, detached: true, stdio, env });
    this.#child = child;
    for (const stream of [child.stdout, child.stderr])
      createInterface({ input: stream }).on("line", (line) => this.#hear(line.slice(0, MAX_LINE)));
    let hasEnded = false;
    const ended = (reason: string): void => {
      if (hasEnded) return;
      hasEnded = true;
      this.#child = undefined;
      if (performance.now() - startedAt > STEADY_MS) this.#restartMs = RESTART_MS.first;
      this.#ended(reason);
    };
    child.once("error", (error) => ended(error.message));
    child.once("close", (code, signal) => ended(signal ?? `exit code ${code}`));
  }

  /** Ends the engine, with its whole group if it does not end in order. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#restart);
    const child = this.#child;
    if (child === undefined) return;
    const gone = new Promise<void>((resolve) => child.once("close", () => resolve()));
    child.kill("SIGTERM");
    const late = setTimeout(() => killGroup(child), STOP_MS);
    await gone;
    clearTimeout(late);
  }

  #hear(line: string): void {
    if (this.#isStopped) return;
    if (isFailure(line) || MISFIT.test(line)) this.#fail(sentenceOf(line), this.#parts.onFault);
    else if (line.startsWith("E[")) this.#parts.logger.error(sentenceOf(line));
    else if (/^[ID]\[/.test(line)) this.#parts.logger.debug(sentenceOf(line));
    else if (/^(?:panic|ERROR): /.test(line)) this.#lastWords = sentenceOf(line);
    else if (!/^(?:[A-Z]\[|\s*$)/.test(line)) this.#lastWords ??= sentenceOf(line);
  }

  #fail(sentence: string, tell: (sentence: string) => void): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    tell(sentence);
  }

  #ended(reason: string): void {
    if (this.#isStopped || this.#hasFailed) return;
    const why = this.#lastWords ?? reason;
    if (this.#starts >= MAX_STARTS && !this.#parts.hasAnswered()) {
      this.#fail(`it ended ${this.#starts} times before it answered: ${why}`, this.#parts.onNoStart);
      return;
    }
    const fields = { reason: why, "in-ms": this.#restartMs };
    this.#parts.logger.error("CometBFT ended and is started again", fields);
    this.#lastWords = undefined;
    this.#restart = setTimeout(() => this.start(), this.#restartMs);
    this.#restartMs = Math.min(this.#restartMs * 2, RESTART_MS.most);
  }
}

function canEndWithNode(): boolean {
  const [setpriv = "", ...words] = WITH_NODE;
  return spawnSync(setpriv, [...words, "true"], { stdio: "ignore", timeout: STOP_MS }).status === 0;
}

function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // It has just ended.
  }
}

function isFailure(line: string): boolean {
  return CONSENSUS_FAILURE.test(line) || STATE_SYNC_FAILURE.test(line);
}

/** A line of the engine without level, time and stack; of a failure, the error that caused it. */
function sentenceOf(line: string): string {
  const cause = isFailure(line) ? / err="((?:[^"\\]|\\.)*)"/.exec(line)?.[1] : undefined;
  const text = cause ?? line.replace(/^(?:[A-Z]\[[^\]]*\]|panic:|ERROR:)\s*/, "");
  return text.replace(/\s+/g, " ").trim();
}
