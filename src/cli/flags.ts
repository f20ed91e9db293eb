import { ENV_PREFIX, tryParseInt } from "../util/index.ts";
import { UsageError } from "./errors.ts";
import type { FlagSpec } from "./spec.ts";

/** Where a flag's value came from; a default is not a choice of the user. */
export type FlagSource = "flag" | "env" | "default";

interface FlagValue {
  readonly value: string | boolean | readonly string[];
  readonly source: FlagSource;
}

/** `--keyring-backend` reads `SVC_KEYRING_BACKEND`. */
export function envName(flag: string): string {
  return ENV_PREFIX + flag.toUpperCase().replaceAll(/[-.]/g, "_");
}

/** The flags of one invocation: flag, then environment, then default. */
export class Flags {
  readonly #values: ReadonlyMap<string, FlagValue>;

  constructor(values: ReadonlyMap<string, FlagValue>) {
    this.#values = values;
  }

  /** Whether it stands on the command line. */
  typed(name: string): boolean {
    return this.#values.get(name)?.source === "flag";
  }

  /** Whether the user gave it, as a flag or in the environment. */
  given(name: string): boolean {
    const source = this.#values.get(name)?.source;
    return source === "flag" || source === "env";
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
    return Array.isArray(value) ? (value as readonly string[]) : [];
  }

  /** Words of a flag whose value has commas between them. */
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
    if (value === undefined || value < 0n) throw new UsageError(`--${name} takes a whole number, not "${text}"`);
    return value;
  }

  /** A small whole number. */
  count(name: string, fallback = 0): number {
    const value = this.uint(name, BigInt(fallback));
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new UsageError(`--${name} is too large: ${value}`);
    return Number(value);
  }

  /** A decimal that is not negative. */
  decimal(name: string): number {
    const text = this.text(name);
    if (!/^\d+(\.\d+)?$/.test(text)) throw new UsageError(`--${name} takes a number, not "${text}"`);
    return Number(text);
  }
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Resolves a command's flags from what was parsed, the environment and the defaults. */
export function resolveFlags(
  specs: readonly FlagSpec[],
  parsed: ReadonlyMap<string, string | boolean | readonly string[]>,
  env: Environment,
): Flags {
  const values = new Map<string, FlagValue>();
  for (const spec of specs) {
    const value = resolve(spec, parsed, env);
    if (value === undefined) continue;
    checkChoice(spec, value.value);
    values.set(spec.name, value);
  }
  return new Flags(values);
}

function resolve(
  spec: FlagSpec,
  parsed: ReadonlyMap<string, string | boolean | readonly string[]>,
  env: Environment,
): FlagValue | undefined {
  const given = parsed.get(spec.name) ?? (spec.alias === undefined ? undefined : parsed.get(spec.alias));
  if (given !== undefined) return { value: given, source: "flag" };
  const text = env[envName(spec.name)];
  if (text !== undefined && text !== "") return { value: fromEnv(spec, text), source: "env" };
  return spec.default === undefined ? undefined : { value: spec.default, source: "default" };
}

function fromEnv(spec: FlagSpec, text: string): string | boolean | readonly string[] {
  if (spec.repeat === true) return text.split(",");
  if (spec.value !== undefined) return text;
  if (["true", "1", "yes"].includes(text.toLowerCase())) return true;
  if (["false", "0", "no"].includes(text.toLowerCase())) return false;
  throw new UsageError(`${envName(spec.name)} takes true or false, not "${text}"`);
}

function checkChoice(spec: FlagSpec, value: string | boolean | readonly string[]): void {
  if (spec.choices === undefined || typeof value !== "string" || spec.choices.includes(value)) return;
  throw new UsageError(`--${spec.name} takes ${spec.choices.join(", ")}, not "${value}"`);
}
