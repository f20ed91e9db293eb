import { createHash } from "node:crypto";
import type { LeaseKey } from "../../../wire/index.ts";
import { type AdoptedLease, type LeaseSpec, leaseNamespace } from "../contract/index.ts";

export type Labels = Readonly<Record<string, string>>;

/** Keys of the labels on every network and container, from which a lost journal can be rebuilt. */
export const LABEL = {
  home: "svc.home",
  namespace: "svc.lease",
  owner: "svc.lease.owner",
  dseq: "svc.lease.dseq",
  gseq: "svc.lease.gseq",
  oseq: "svc.lease.oseq",
  provider: "svc.lease.provider",
  service: "svc.service",
  replica: "svc.replica",
  version: "svc.manifest-version",
  generation: "svc.generation",
  config: "svc.config",
  /** TCP ports that make the replica ready, with commas between them. */
  readyPorts: "svc.ready-ports",
  /** Devices that the container has, with commas between them. */
  gpus: "svc.gpus",
} as const;

/** Names of one provider's objects on the engine. */
export class Naming {
  readonly prefix: string;
  readonly #short: string;

  constructor(prefix: string) {
    this.prefix = prefix;
    this.#short = createHash("sha256").update(prefix).digest("hex").slice(0, 6);
  }

  network(namespace: string): string {
    return `${this.prefix}-${namespace.slice(0, 12)}`;
  }

  /** Interface names have at most 15 characters; all of one provider share the first seven. */
  bridge(namespace: string): string {
    return `${this.bridgePrefix}${namespace.slice(0, 8)}`;
  }

  get bridgePrefix(): string {
    return `s${this.#short}`;
  }

  /** The nft table of rules that keep tenants off the host. */
  get tenants(): string {
    return `${this.prefix}-tenants`;
  }

  /** Name of the chain of such rules in version 0.1. */
  get chain(): string {
    return `SVC-${this.#short}`;
  }

  container(namespace: string, replica: string, generation: number): string {
    return `${this.prefix}-${namespace.slice(0, 12)}-${replica}-g${generation}`;
  }

  leaseLabels(spec: LeaseSpec): Labels {
    return {
      [LABEL.home]: this.prefix,
      [LABEL.namespace]: leaseNamespace(spec.id),
      [LABEL.owner]: spec.id.owner,
      [LABEL.dseq]: spec.id.dseq.toString(),
      [LABEL.gseq]: spec.id.gseq.toString(),
      [LABEL.oseq]: spec.id.oseq.toString(),
      [LABEL.provider]: spec.id.provider,
      [LABEL.version]: spec.version,
      [LABEL.generation]: spec.generation.toString(),
    };
  }
}

/** The lease an engine object belongs to, or undefined if the labels do not say. */
export function leaseOfLabels(labels: Labels): LeaseKey | undefined {
  const { owner, provider, dseq } = {
    owner: labels[LABEL.owner],
    provider: labels[LABEL.provider],
    dseq: labels[LABEL.dseq],
  };
  const gseq = Number(labels[LABEL.gseq]);
  const oseq = Number(labels[LABEL.oseq]);
  if (owner === undefined || provider === undefined || dseq === undefined || !/^\d{1,20}$/.test(dseq)) return undefined;
  if (!Number.isSafeInteger(gseq) || !Number.isSafeInteger(oseq)) return undefined;
  return { owner, dseq: BigInt(dseq), gseq, oseq, provider };
}

/** The leases that engine objects belong to, by namespace, each with its latest generation. */
export function leasesOf(objects: readonly Labels[]): Map<string, AdoptedLease> {
  const found = new Map<string, AdoptedLease>();
  for (const labels of objects) {
    const id = leaseOfLabels(labels);
    if (id === undefined) continue;
    const namespace = leaseNamespace(id);
    const generation = Number(labels[LABEL.generation]);
    if (generation < (found.get(namespace)?.generation ?? 0)) continue;
    found.set(namespace, { id, version: labels[LABEL.version] ?? "", generation, spec: undefined });
  }
  return found;
}
