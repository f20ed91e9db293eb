import { didYouMean } from "../../util/index.ts";
import type { FileSettings, Flags } from "../command/flags.ts";
import { homeOf } from "../command/home.ts";
import { KNOWN_PROFILES, type NetworkProfile, OWN_PROFILE } from "../command/profile.ts";
import { usageError } from "../errors.ts";
import { type ClientConfig, type ConfigValues, readConfig } from "./file.ts";
import { CONFIG_KEYS, findConfigKey } from "./keys.ts";

/** The value of a key and its source. */
export interface Setting {
  readonly value: string;
  readonly source: string;
}

/**
 * The contents of the home's `client.toml` and the chosen profile; `flags` come from the command line and environment.
 */
export function fileSettings(flags: Flags): FileSettings {
  return settingsOf(readConfig(homeOf(flags)), flags);
}

function settingsOf(config: ClientConfig, flags: Flags): FileSettings {
  const found = new Map(CONFIG_KEYS.flatMap(({ name }) => entryOf(name, layersOf(config, flags))));
  // The profile is already chosen: commands ask the flags for the network, never for its name.
  const isText = (name: string): boolean => name !== "profile" && findConfigKey(name)?.isFlag === true;
  const values = [...found].filter(([name]) => isText(name)).map(([name, { value }]) => [name, value] as const);
  return { values: new Map(values), profile: profileOf(profileName(config, flags), found) };
}

/** Every key with the value in effect, and its source. */
export function effectiveSettings(config: ClientConfig, flags: Flags): Map<string, Setting> {
  const layers = layersOf(config, flags);
  return new Map(CONFIG_KEYS.map((key) => [key.name, written(key.name, flags) ?? lower(key.name, layers)]));
}

function written(name: string, flags: Flags): Setting | undefined {
  const isGiven = findConfigKey(name)?.isFlag === true && flags.text(name) !== "";
  const source = flags.source(name);
  return isGiven && (source === "flag" || source === "env")
    ? { value: flags.text(name), source: flags.label(name) }
    : undefined;
}

function lower(name: string, layers: readonly Layer[]): Setting {
  const [entry] = entryOf(name, layers);
  return entry?.[1] ?? { value: findConfigKey(name)?.default ?? "", source: "default" };
}

interface Layer {
  readonly source: string;
  readonly values: ConfigValues;
}

/**
 * Settings after flags and variables, in order. Keys above the tables describe the network that the file itself names;
 * with another profile, only keys that belong to no network apply.
 */
function layersOf(config: ClientConfig, flags: Flags): Layer[] {
  const name = profileName(config, flags);
  const isOwn = name === (config.values.get("profile") ?? OWN_PROFILE.name);
  const table = config.profiles.get(name);
  const known = KNOWN_PROFILES.get(name);
  if (table === undefined && known === undefined) throw unknownProfile(name, config, flags);
  const general = [...config.values].filter(([key]) => isOwn || findConfigKey(key)?.ofNetwork === false);
  return [
    { source: `client.toml [profiles.${name}]`, values: table ?? new Map() },
    { source: "client.toml", values: new Map(general) },
    { source: `profile ${name}`, values: profileValues(known ?? OWN_PROFILE) },
  ];
}

function profileName(config: ClientConfig, flags: Flags): string {
  return flags.optional("profile") ?? config.values.get("profile") ?? OWN_PROFILE.name;
}

function entryOf(name: string, layers: readonly Layer[]): [string, Setting][] {
  for (const { values, source } of layers) {
    const value = values.get(name);
    if (value !== undefined) return [[name, { value, source }]];
  }
  return [];
}

function profileValues({ bech32Prefix, coinType, denom, namespace, aminoNames }: NetworkProfile): ConfigValues {
  return new Map([
    ["bech32-prefix", bech32Prefix],
    ["coin-type", String(coinType)],
    ["denom", denom],
    ["namespace", namespace],
    ["amino-names", aminoNames],
  ]);
}

function profileOf(name: string, found: ReadonlyMap<string, Setting>): NetworkProfile {
  const text = (key: string): string => found.get(key)?.value ?? "";
  return {
    name,
    bech32Prefix: text("bech32-prefix"),
    coinType: Number(text("coin-type")),
    denom: text("denom"),
    namespace: text("namespace") === "cosmos" ? "cosmos" : "sdk",
    aminoNames: text("amino-names") === "older" ? "older" : "current",
    trust: trustOf(text),
  };
}

/** A height without a hash says nothing. */
function trustOf(text: (key: string) => string): NetworkProfile["trust"] {
  const hash = text("trust-height") === "" ? "" : text("trust-hash");
  return { height: text("trust-height"), hash, period: text("trust-period"), witnesses: text("witnesses") };
}

function unknownProfile(name: string, { profiles }: ClientConfig, flags: Flags): Error {
  const names = [...new Set([...KNOWN_PROFILES.keys(), ...profiles.keys()])];
  const label = flags.given("profile") ? flags.label("profile") : "client.toml: profile";
  const choice = `choose ${names.join(" or ")}, or make one: svc config set bech32-prefix <prefix> --profile <name>`;
  const text = `${label}: there is no profile ${JSON.stringify(name.slice(0, 64))}`;
  return usageError(text, didYouMean(name, names, choice));
}
