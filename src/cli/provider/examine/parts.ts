import { clusterErrors } from "../../../provider/index.ts";
import { errorText, isOneOf, readSetting } from "../../../util/index.ts";
import { flagSettings } from "../../command/flag-settings.ts";
import type { Flags } from "../../command/flags.ts";
import type { ChosenKind } from "../run/cluster.ts";
import { readClusterIngress } from "../run/config.ts";
import { CLUSTER } from "../run/settings.ts";
import { type Check, Unknown } from "./finding.ts";

const STORAGE = /^capabilities\/storage\/([^/]+)\/(class|persistent)$/;

interface StorageHolder extends Pick<ChosenKind, "address"> {
  readonly kind: Pick<ChosenKind["kind"], "storage">;
}

interface StorageOffer {
  record(): Promise<{ readonly attributes: readonly { readonly key: string; readonly value: string }[] }>;
}

/** A check for each object of the cluster that the settings name. */
export async function partChecks({ kind, address }: ChosenKind, flags: Flags): Promise<Check[]> {
  const ingress = readClusterIngress(flags);
  const runtime = readSetting(CLUSTER.clusterRuntimeClass, flagSettings(flags));
  const named = {
    ingress,
    ...(address === undefined ? {} : { address }),
    ...(runtime === undefined ? {} : { runtime }),
  };
  const parts = (await kind.parts?.(named)) ?? [];
  return parts.map((part) => ({
    name: part.name,
    fix: "fix what the detail names",
    look: () =>
      part.look().catch((error: unknown) => {
        if (isOneOf([clusterErrors.partMissing], error)) throw error;
        throw new Unknown(`the cluster does not answer: ${errorText(error)}`);
      }),
  }));
}

/** Checks that the cluster has the storage that the provider offers, if the cluster provides storage. */
export function storageChecks({ kind, address }: StorageHolder, facts: StorageOffer): Check[] {
  const { storage } = kind;
  if (storage === undefined) return [];
  return [
    {
      name: "storage classes",
      fix: "kubectl annotate storageclass <class> svc.capacity=1Ti, or stop offering it: svc tx provider update <file>",
      async look() {
        const pools = await storage(address).catch((error: unknown) => {
          throw new Unknown(`the cluster does not answer: ${errorText(error)}`);
        });
        const found = pools.flatMap(({ classes }) => classes);
        const offered = offeredClasses((await facts.record()).attributes);
        const missing = offered.filter((each) => !found.includes(each));
        const text = `${found.join(", ") || "none with svc.capacity"}; offered: ${offered.join(", ") || "none"}`;
        if (missing.length > 0)
          throw new Error(`offered, but missing on the cluster or without svc.capacity: ${missing.join(", ")}`);
        return text;
      },
    },
  ];
}

interface PoolHolder extends Pick<ChosenKind, "address"> {
  readonly kind: Pick<ChosenKind["kind"], "poolUse">;
}

/** Whether leases can have addresses of the pool that the settings name, if they name one. */
export function poolChecks({ kind, address }: PoolHolder, pool: readonly string[]): Check[] {
  const { poolUse } = kind;
  if (poolUse === undefined || pool.length === 0) return [];
  return [
    {
      name: "leased addresses",
      fix: "give the Services that have them other addresses, or name others with --cluster-leased-ips",
      async look() {
        const { leased, foreign } = await poolUse(pool, address).catch((error: unknown) => {
          throw new Unknown(`the cluster does not tell: ${errorText(error)}`);
        });
        if (foreign === pool.length)
          throw new Error(`other Services of the cluster have all ${pool.length} of the pool`);
        return `${pool.length} in the pool: ${leased} leased, ${foreign} of other Services, ${pool.length - leased - foreign} left`;
      },
    },
  ];
}

/** The offered classes of persistent volumes. */
function offeredClasses(attributes: Awaited<ReturnType<StorageOffer["record"]>>["attributes"]): string[] {
  const offers = new Map<string, Map<string, string>>();
  for (const { key, value } of attributes) {
    const [, number, word] = STORAGE.exec(key) ?? [];
    if (number === undefined || word === undefined) continue;
    const offer = offers.get(number) ?? new Map<string, string>();
    offers.set(number, offer.set(word, value));
  }
  return [...offers.values()].flatMap((offer) => {
    const name = offer.get("class");
    return name !== undefined && offer.get("persistent") === "true" ? [name] : [];
  });
}
