import { createRequire } from "node:module";
import type { Level, Logger as PinoLogger } from "pino";
import { toHex } from "./bytes.ts";
import { escaped } from "./text.ts";

/** Values beside a message; secrets do not belong here, and fields that are named like one are blanked. */
export type LogFields = Readonly<Record<string, unknown>>;

/** A log: constant messages, everything that varies in the fields. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** The same log with fields that are in every line, for example `{ module: "rpc" }`. */
  child(fields: LogFields): Logger;
}

/** Names of `--log_level`, from the most to the fewest messages. At `fatal` and `panic` nothing is logged. */
export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "panic"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export const LOG_FORMATS = ["plain", "json"] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

export interface LogOptions {
  readonly level: LogLevel;
  readonly format: LogFormat;
  /** Takes a line with its end; standard error by default. */
  readonly write?: (line: string) => void;
  /** Milliseconds since 1970; the system's clock by default. */
  readonly now?: () => number;
}

export function isLogLevel(text: string): text is LogLevel {
  return LOG_LEVELS.some((level) => level === text);
}

export function isLogFormat(text: string): text is LogFormat {
  return LOG_FORMATS.some((format) => format === text);
}

/** Logs nothing. */
export const silentLogger: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silentLogger,
};

export function createLogger(options: LogOptions): Logger {
  const write = options.write ?? ((line: string) => void process.stderr.write(line));
  const now = options.now ?? Date.now;
  const emit = options.format === "json" ? jsonEmitter(write, now) : plainEmitter(write, now);
  return new LevelLogger(emit, LOG_LEVELS.indexOf(options.level), {});
}

type WrittenLevel = "debug" | "info" | "warn" | "error";
type Emit = (level: WrittenLevel, message: string, fields: LogFields) => void;

class LevelLogger implements Logger {
  readonly #emit: Emit;
  readonly #from: number;
  readonly #fields: LogFields;

  constructor(emit: Emit, from: number, fields: LogFields) {
    this.#emit = emit;
    this.#from = from;
    this.#fields = fields;
  }

  debug(message: string, fields?: LogFields): void {
    this.#log("debug", message, fields);
  }

  info(message: string, fields?: LogFields): void {
    this.#log("info", message, fields);
  }

  warn(message: string, fields?: LogFields): void {
    this.#log("warn", message, fields);
  }

  error(message: string, fields?: LogFields): void {
    this.#log("error", message, fields);
  }

  child(fields: LogFields): Logger {
    return new LevelLogger(this.#emit, this.#from, { ...this.#fields, ...fields });
  }

  #log(level: WrittenLevel, message: string, fields: LogFields = {}): void {
    if (LOG_LEVELS.indexOf(level) < this.#from) return;
    const all = Object.entries({ ...fields, ...this.#fields }).filter(([, value]) => value !== undefined);
    const readable = all.map(([key, value]) => [key, isSecretName(key) ? "[redacted]" : readableValue(value)]);
    this.#emit(level, message, Object.fromEntries(readable));
  }
}

const SECRET_NAMES = new Set([
  "mnemonic",
  "phrase",
  "passphrase",
  "password",
  "secret",
  "seed",
  "privatekey",
  "privkey",
  "jwt",
  "token",
  "authorization",
]);

function isSecretName(key: string): boolean {
  return SECRET_NAMES.has(key.toLowerCase().replace(/[^a-z]/g, ""));
}

function readableValue(value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  if (value instanceof Uint8Array) return toHex(value);
  if (value instanceof Error) return value.message;
  return value;
}

const LETTERS: Readonly<Record<WrittenLevel, string>> = { debug: "D", info: "I", warn: "W", error: "E" };
const MESSAGE_WIDTH = 44;

/** `I[2026-11-21|10:00:00.000] message, padded to 44                key=value`; times are UTC. */
function plainEmitter(write: (line: string) => void, now: () => number): Emit {
  return (level, message, fields) => {
    const time = new Date(now()).toISOString().replace("T", "|").replace("Z", "");
    const values = Object.entries(fields).map(([key, value]) => ` ${key}=${plainValue(value)}`);
    const text = escapeControls(message);
    write(`${LETTERS[level]}[${time}] ${values.length === 0 ? text : text.padEnd(MESSAGE_WIDTH)}${values.join("")}\n`);
  };
}

function plainValue(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? String(value));
  const isWord = text !== "" && /^[\x21\x23-\x3c\x3e-\x7e\u00a1-\uffff]+$/.test(text) && !CONTROL.test(text);
  return isWord ? text : escapeControls(JSON.stringify(text));
}

/** Text that a terminal interprets: control codes, foreign line ends, and overrides of the text direction. */
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;
const CONTROLS = new RegExp(CONTROL, "gu");

/** Logged values cannot forge log lines, or hide some. */
function escapeControls(text: string): string {
  return text.replace(CONTROLS, escaped);
}

function jsonEmitter(write: (line: string) => void, now: () => number): Emit {
  const log = loadPino(write, now);
  return (level: Level & WrittenLevel, message, fields) => log[level](fields, message);
}

/** The library is loaded here and not at the top, because most commands never log. */
function loadPino(write: (line: string) => void, now: () => number): PinoLogger {
  const pino: typeof import("pino") = createRequire(import.meta.url)("pino");
  const options = {
    level: "debug",
    base: null,
    messageKey: "message",
    timestamp: () => `,"time":${JSON.stringify(new Date(now()).toISOString())}`,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  return pino.pino(options, { write });
}
