import { didYouMean, largest } from "../../util/index.ts";
import { printJson } from "../../wire/index.ts";
import type { Flags } from "../command/flags.ts";
import { homeOf } from "../command/home.ts";
import type { CommandInput } from "../command/spec.ts";
import { UsageError, usageError } from "../errors.ts";
import { printAs } from "../terminal/output.ts";
import { setConfig } from "./edit.ts";
import { readConfig } from "./file.ts";
import { CONFIG_KEYS, type ConfigKey, configFault, findConfigKey } from "./keys.ts";
import { effectiveSettings, type Setting } from "./settings.ts";

/** `config [key] [value]`: all values, one value, or a new value, as in older tools of the ecosystem. */
export async function config(input: CommandInput): Promise<void> {
  const [key, value] = input.args;
  if (value !== undefined) return configSet(input);
  if (key !== undefined) return configGet(input);
  const values = [...settingsOf(input.flags)].map(([name, setting]) => [name, setting.value] as const);
  input.io.out(`${JSON.stringify(Object.fromEntries(values), undefined, "\t")}\n`);
}

/** `config get KEY`: the value in effect, whatever its source. */
export async function configGet(input: CommandInput): Promise<void> {
  const key = requireKey(input.args[0] ?? "");
  const value = settingsOf(input.flags).get(key.name)?.value ?? "";
  printAs(input, { [key.name]: value }, `${value}\n`);
}

/** `config trust HEIGHT HASH`: sets the block from which answers are verified. */
export async function configTrust(input: CommandInput): Promise<void> {
  const [height = "", hash = ""] = input.args;
  const values = {
    "trust-height": height,
    "trust-hash": hash.toUpperCase(),
    "trust-period": input.flags.text("period"),
  };
  const labels = { "trust-height": "<height>", "trust-hash": "<hash>", "trust-period": "--period" };
  for (const [name, value] of Object.entries(values)) {
    const reason = configFault(requireKey(name), value);
    if (reason === undefined) continue;
    throw usageError(`${new Map(Object.entries(labels)).get(name)}: ${JSON.stringify(value.slice(0, 100))} ${reason}`);
  }
  for (const [name, value] of Object.entries(values)) await configSet({ ...input, args: [name, value] });
}

/** `config set KEY VALUE`: writes it to `client.toml`, with `--profile` to the table of that profile. */
export async function configSet({ args: [name = "", value = ""], flags }: CommandInput): Promise<void> {
  const key = requireKey(name);
  const reason = value === "" ? undefined : configFault(key, value);
  if (reason !== undefined) throw usageError(`<value>: ${JSON.stringify(value.slice(0, 100))} ${reason}`);
  setConfig(homeOf(flags), { key, value, profile: profileTable(key, flags) });
}

function profileTable(key: ConfigKey, flags: Flags): string | undefined {
  const profile = flags.typed("profile") ? flags.optional("profile") : undefined;
  if (profile === undefined) return undefined;
  const reason = configFault(requireKey("profile"), profile);
  if (reason !== undefined) throw usageError(`--profile: ${JSON.stringify(profile.slice(0, 100))} ${reason}`);
  if (key.name === "profile") throw usageError('the key "profile" cannot be inside a profile: leave out --profile');
  return profile;
}

/** `config view`: every key with its value and its source. */
export async function configView({ flags, io }: CommandInput): Promise<void> {
  const settings = [...settingsOf(flags)];
  if (flags.text("output") === "json") {
    io.out(`${printJson(Object.fromEntries(settings.map(([name, setting]) => [name, { ...setting }])))}\n`);
    return;
  }
  const entries = settings.map(([name, { value }]) => `${name} = ${JSON.stringify(value)}`);
  const width = largest(
    entries.map((entry) => entry.length),
    0,
  );
  io.out(entries.map((entry, at) => `${entry.padEnd(width)}  # ${sourceAt(settings, at)}\n`).join(""));
}

function sourceAt(settings: readonly (readonly [string, Setting])[], at: number): string {
  return settings[at]?.[1].source ?? "";
}

function settingsOf(flags: Flags): Map<string, Setting> {
  return effectiveSettings(readConfig(homeOf(flags)), flags);
}

function requireKey(name: string): ConfigKey {
  const key = findConfigKey(name);
  if (key !== undefined) return key;
  const names = CONFIG_KEYS.map((each) => each.name);
  const text = `<key>: there is no key ${JSON.stringify(name.slice(0, 64))}`;
  throw new UsageError(text, didYouMean(name, names, `the keys are ${names.join(", ")}`));
}
