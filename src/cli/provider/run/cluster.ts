import { CLUSTER_KINDS, type Cluster, type ClusterDriver, type ClusterKind } from "../../../provider/index.ts";
import { type SettingTable, settingReader } from "../../../util/index.ts";
import { flagSettings } from "../../command/flag-settings.ts";
import type { FlagSpec } from "../../command/flag-spec.ts";
import type { Flags } from "../../command/flags.ts";
import { usageError } from "../../errors.ts";
import { providerDir } from "./config.ts";

const CHOICE = "cluster";

/** Kinds of cluster that an administrator prepares. */
export const PREPARED_KINDS = CLUSTER_KINDS.filter(({ installation }) => installation !== undefined);

/** Flags that choose a cluster of one of the kinds. */
export function placeFlags(kinds: readonly ClusterKind[]): readonly FlagSpec[] {
  return [...choiceFlag(kinds), ...kinds.flatMap(({ places, heading }) => grouped(places, heading))];
}

/** All flags of clusters: the choice, then those of each kind below its heading. */
export function clusterFlags(kinds: readonly ClusterKind[]): readonly FlagSpec[] {
  const own = kinds.flatMap(({ places, settings, heading }) => grouped({ ...places, ...settings }, heading));
  return [...choiceFlag(kinds), ...own];
}

function choiceFlag(kinds: readonly ClusterKind[]): FlagSpec[] {
  const names = kinds.map(({ name }) => name);
  if (names.length === 1) return [];
  const summary = `kind of cluster that runs leases (default: ${names[0]}, or the kind of another flag)`;
  return [{ name: CHOICE, value: `<${names.join("|")}>`, summary, choices: names }];
}

function grouped(table: SettingTable, group: string): FlagSpec[] {
  return Object.values(table).map((row) => ({ ...row, group }));
}

/** The kind that is named, or else the one whose place is; the first by default. */
export function chosenKind(flags: Flags, kinds: readonly ClusterKind[] = CLUSTER_KINDS): ClusterKind {
  const wishes = kinds.flatMap((kind) => {
    const given = Object.values(kind.places).filter((row) => isGiven(row, flags));
    const places = given.map(({ name }) => name);
    const names = flags.text(CHOICE) === kind.name ? [CHOICE, ...places] : places;
    return names.map((name) => ({ flag: flags.label(name), kind }));
  });
  const [first, ...others] = wishes;
  const other = others.find(({ kind }) => kind !== first?.kind);
  if (first !== undefined && other !== undefined)
    throw usageError(
      `${first.flag} and ${other.flag} cannot be used together`,
      `${first.flag} chooses ${first.kind.name}, ${other.flag} ${other.kind.name}`,
    );
  const kind = first?.kind ?? kinds[0];
  if (kind === undefined) throw new Error("there is no kind of cluster");
  return kind;
}

/** A switch that is off chooses nothing. */
function isGiven({ name, value }: FlagSpec, flags: Flags): boolean {
  return flags.given(name) && (value !== undefined || flags.bool(name));
}

/** The cluster that the flags name, with its settings. */
export function chosenCluster(flags: Flags): Cluster {
  const kind = chosenKind(flags);
  const cluster = kind.configure(settingReader(flagSettings(flags)));
  if (cluster.capabilities.carriesTraffic && flags.text("ingress") === "external")
    throw usageError(
      `--ingress external cannot be used with --${CHOICE} ${kind.name}`,
      "leave it out: the ingress of the cluster carries HTTP to tenants' services",
    );
  return cluster;
}

/** Opens the cluster of a home's provider for a command that removes things from it. */
export async function openForRemoval(flags: Flags, home: string): Promise<ClusterDriver> {
  const cluster = chosenCluster(flags);
  const { address } = await cluster.find();
  return cluster.open({ address, stateDir: providerDir(home) });
}
