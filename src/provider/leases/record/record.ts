import * as v from "valibot";
import type { ManifestGroup } from "../../../sdl/index.ts";
import { assert } from "../../../util/index.ts";
import type { LeaseKey } from "../../../wire/index.ts";
import type { PortAssignment } from "../../cluster/index.ts";

/** Life of a lease at this provider; a lease that is gone has no record. */
export type LeasePhase = "awaiting" | "deploying" | "running" | "closing";

/** Why the provider knows that a lease has ended: a block it followed, or the chain's answer about this very lease. */
export interface CloseProof {
  readonly source: "block" | "query";
  /** Height at which the lease ended. */
  readonly height: bigint;
}

/** The durable record of a lease. */
export interface LeaseRecord {
  readonly id: LeaseKey;
  readonly phase: LeasePhase;
  /** Milliseconds since 1970 at which the provider learned of the lease; the wait for the manifest counts from here. */
  readonly firstSeen: number;
  /** Its workload was found on the cluster without a record: it has no time limit for the manifest. */
  readonly adopted: boolean;
  /** The lease's group as the tenant sent it. */
  readonly group: ManifestGroup | null;
  /** Hash of the whole manifest, lower-case hex; empty before the first. */
  readonly version: string;
  /** Grows with every new manifest. */
  readonly generation: number;
  readonly ports: readonly PortAssignment[];
  /** Host names by service. */
  readonly hosts: Readonly<Record<string, readonly string[]>>;
  /** Host names that another deployment of the same owner still holds. */
  readonly withheld: readonly string[];
  /** Loopback ports of the ingress by service, kept so that URLs outlive a restart. */
  readonly loopback: Readonly<Record<string, number>>;
  readonly proof: CloseProof | null;
}

const NEXT: Readonly<Record<LeasePhase, readonly LeasePhase[]>> = {
  awaiting: ["deploying", "closing"],
  deploying: ["deploying", "running", "closing", "awaiting"],
  running: ["deploying", "running", "closing"],
  closing: [],
};

/** The record in another phase; a step that is not in the life of a lease is a programming error. */
export function advance(record: LeaseRecord, phase: LeasePhase, change: Partial<LeaseRecord> = {}): LeaseRecord {
  assert(NEXT[record.phase].includes(phase), `a lease goes from ${record.phase} to ${phase}`);
  return { ...record, ...change, phase };
}

export function newRecord(id: LeaseKey, firstSeen: number, adoptedGeneration?: number): LeaseRecord {
  return {
    id,
    phase: "awaiting",
    firstSeen,
    adopted: adoptedGeneration !== undefined,
    group: null,
    version: "",
    generation: adoptedGeneration ?? 0,
    ports: [],
    hosts: {},
    withheld: [],
    loopback: {},
    proof: null,
  };
}

const port = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(65_535));
const count = v.pipe(v.number(), v.integer(), v.minValue(0));

const id = v.object({ owner: v.string(), dseq: v.bigint(), gseq: count, oseq: count, provider: v.string() });

/** Only its outline is checked: it was checked in full when it was accepted, by the rules of that time. */
const group = v.custom<ManifestGroup>(
  (value) =>
    v.safeParse(v.object({ name: v.string(), services: v.array(v.object({ name: v.string() })) }), value).success,
);

const recordSchema = v.object({
  id,
  phase: v.picklist(["awaiting", "deploying", "running", "closing"]),
  firstSeen: v.number(),
  adopted: v.boolean(),
  group: v.nullable(group),
  version: v.string(),
  generation: count,
  ports: v.array(
    v.object({ service: v.string(), port, externalPort: port, proto: v.picklist(["TCP", "UDP"]), hostPort: port }),
  ),
  hosts: v.record(v.string(), v.array(v.string())),
  withheld: v.array(v.string()),
  loopback: v.record(v.string(), port),
  proof: v.nullable(v.object({ source: v.picklist(["block", "query"]), height: v.bigint() })),
});

/** The record of a parsed file; throws if it is malformed. */
export function parseRecord(value: unknown): LeaseRecord {
  return v.parse(recordSchema, value);
}
