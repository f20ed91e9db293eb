import { ENV_PREFIX, tryParseInt } from "../../util/index.ts";
import { UsageError } from "../errors.ts";
import type { FlagSpec } from "./flag-spec.ts";
import { type NetworkProfile, OWN_PROFILE } from "./profile.ts";

export const MAX_UINT64 = 2n ** 64n - 1n;

/** The source of a flag's value; a default is not a choice of the user. */
export type FlagSource = "flag" | "env" | "file" | "default";

interface FlagValue {
  readonly value: string | boolean | readonly string[];
  readonly source: FlagSource;
}

/** `--keyring-backend` reads `SVC_KEYRING_BACKEND`. */
export function envName(flag: string): string {
  return ENV_PREFIX + flag.toUpperCase().replaceAll(/[-.]/g, "_");
}

/** The contents of the home's configuration file. */
export interface FileSettings {
  /** Texts by name of the flag. */
  readonly values: ReadonlyMap<string, string>;
  /** The network that commands talk to. */
  readonly profile: NetworkProfile;
}

export const NO_SETTINGS: FileSettings = { values: new Map(), profile: OWN_PROFILE };

/** The flags of one invocation: flag, then environment, then `client.toml`, then default. */
export class Flags {
  /** The network whose addresses and names are used. */
  readonly profile: NetworkProfile;
  readonly #values: ReadonlyMap<string, FlagValue>;

  constructor(values: ReadonlyMap<string, FlagValue>, profile: NetworkProfile = OWN_PROFILE) {
    this.#values = values;
    this.profile = profile;
  }

  /** Whether it has a value, be it a default. */
  has(name: string): boolean {
    return this.#values.has(name);
  }

  /** Whether it is on the command line. */
  typed(name: string): boolean {
    return this.#values.get(name)?.source === "flag";
  }

  /** Whether the user gave it, as a flag, in the environment or in `client.toml`. */
  given(name: string): boolean {
    return this.source(name) !== "default";
  }

  source(name: string): FlagSource {
    return this.#values.get(name)?.source ?? "default";
  }

  /** The name by which the user knows the value: the flag, or its variable or key. */
  label(name: string): string {
    return labelOf(name, this.source(name));
  }

  /** Text of a flag; empty when it has neither value nor default. */
  text(name: string): string {
    const value = this.#values.get(name)?.value;
    return typeof value === "string" ? value : "";
  }

  /** Text of a flag, undefined when it is empty. */
  optional(name: string): string | undefined {
    const text = this.text(name);
    return text === "" ? undefined : text;
  }

  list(name: string): readonly string[] {
    const value = this.#values.get(name)?.value;
    return typeof value === "object" ? value : [];
  }

  /** Words of a flag whose value is a list separated by commas. */
  words(name: string): readonly string[] {
    return this.text(name)
      .split(",")
      .map((word) => word.trim())
      .filter((word) => word !== "");
  }

  bool(name: string): boolean {
    return this.#values.get(name)?.value === true;
  }

  /** A required text. */
  need(name: string): string {
    const value = this.text(name);
    if (value === "") throw new UsageError(`required flag --${name} is not set (or ${envName(name)})`);
    return value;
  }

  /** A whole number that is not negative; `fallback` where the flag is empty. */
  uint(name: string, fallback = 0n): bigint {
    const text = this.text(name);
    if (text === "") return fallback;
    const value = tryParseInt(text);
    if (value === undefined && /^\d+$/.test(text)) throw new UsageError(`${this.label(name)} is too large`);
    if (value === undefined || value < 0n)
      throw new UsageError(`${this.label(name)} takes a whole number, not "${text}"`);
    return value;
  }

  /** A whole number of 64 bits; `fallback` where the flag is empty. */
  uint64(name: string, fallback = 0n): bigint {
    const value = this.uint(name, fallback);
    if (value > MAX_UINT64)
      throw new UsageError(`${this.label(name)} takes a whole number up to ${MAX_UINT64}, not ${value}`);
    return value;
  }

  /** A small whole number. */
  count(name: string, fallback = 0): number {
    const value = this.uint(name, BigInt(fallback));
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new UsageError(`${this.label(name)} is too large: ${value}`);
    return Number(value);
  }
}

/** Flags as they were written, by name. */
export type Parsed = ReadonlyMap<string, string | boolean | readonly string[]>;

export type Environment = Readonly<Record<string, string | undefined>>;

/** Resolves a command's flags from the parsed words, the environment and the defaults. */
export function resolveFlags(
  specs: readonly FlagSpec[],
  parsed: Parsed,
  env: Environment,
  file: FileSettings = NO_SETTINGS,
): Flags {
  const values = new Map<string, FlagValue>();
  for (const spec of specs) {
    const value = resolve(spec, parsed, env) ?? unwritten(spec, file);
    if (value === undefined) continue;
    checkChoice(spec, value);
    values.set(spec.name, value);
  }
  return new Flags(values, file.profile);
}

function resolve(spec: FlagSpec, parsed: Parsed, env: Environment): FlagValue | undefined {
  const given = parsed.get(spec.name) ?? (spec.alias === undefined ? undefined : parsed.get(spec.alias));
  if (given !== undefined) return { value: given, source: "flag" };
  const text = env[envName(spec.name)];
  if (text === undefined || text === "") return undefined;
  if (text.includes("\ufffd")) throw new UsageError(`${envName(spec.name)} is not UTF-8 text`, "write it in UTF-8");
  return { value: fromEnv(spec, text), source: "env" };
}

/** Whether a text sets a switch. */
export function isTrue(text: string): boolean {
  return ["true", "1", "yes"].includes(text.toLowerCase());
}

export function isFalse(text: string): boolean {
  return ["false", "0", "no"].includes(text.toLowerCase());
}

function unwritten(spec: FlagSpec, file: FileSettings): FlagValue | undefined {
  const text = spec.value === undefined ? undefined : file.values.get(spec.name);
  if (text !== undefined) return { value: text, source: "file" };
  return spec.default === undefined ? undefined : { value: spec.default, source: "default" };
}

function fromEnv(spec: FlagSpec, text: string): string | boolean | readonly string[] {
  if (spec.repeat === true) return text.split(",");
  if (spec.value !== undefined) return text;
  if (isTrue(text)) return true;
  if (isFalse(text)) return false;
  throw new UsageError(`${envName(spec.name)} takes true or false, not "${text}"`);
}

function checkChoice(spec: FlagSpec, { value, source }: FlagValue): void {
  if (spec.choices === undefined || spec.anySpelling === true) return;
  if (typeof value !== "string" || spec.choices.includes(value)) return;
  throw new UsageError(`${labelOf(spec.name, source)} takes ${spec.choices.join(", ")}, not "${value}"`);
}

function labelOf(name: string, source: FlagSource): string {
  if (source === "env") return envName(name);
  return source === "file" ? `client.toml: ${name}` : `--${name}`;
}
