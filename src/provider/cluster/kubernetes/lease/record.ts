import { errorText } from "../../../../util/index.ts";
import { checksum, decodeJson, encodeJson } from "../../../durable.ts";
import { type LeaseSpec, leaseNamespace } from "../../contract/index.ts";
import type { ApiObject } from "../api/objects.ts";
import type { DriverContext } from "../context.ts";
import { KIND, LABEL, leaseLabels, type Wanted, wanted } from "../objects/index.ts";

/** State of one lease that outlives the daemon and its disk, in the lease's namespace. */
export interface LeaseRecord {
  readonly spec: LeaseSpec;
  /** How often the tenant had a service started again. */
  readonly restarts: Readonly<Record<string, number>>;
}

const FORMAT = 1;
export const RECORD_NAME = "svc-lease";
/** Labels of records, of all leases. */
export const RECORD_LABEL = { "svc.kind": "record" } as const;
/** Bytes of a record. Clusters take objects of about a million and a half. */
export const MAX_RECORD = 900 << 10;

export interface ApiSecret extends ApiObject {
  readonly data?: Readonly<Record<string, string>>;
}

/** The object that holds a record. It is a secret, because manifests have passwords in them. */
export function recordObject(record: LeaseRecord, provider: string): Wanted {
  const metadata = {
    name: RECORD_NAME,
    namespace: leaseNamespace(record.spec.id),
    labels: { ...leaseLabels(provider, record.spec.id), ...RECORD_LABEL },
  };
  return wanted(KIND.secret, metadata, { data: { record: Buffer.from(encodeRecord(record)).toString("base64") } });
}

/** Selects the records of a provider. */
export function recordLabels(provider: string): string {
  return `${LABEL.provider}=${provider},svc.kind=${RECORD_LABEL["svc.kind"]}`;
}

export function encodeRecord({ spec, restarts }: LeaseRecord): string {
  const text = encodeJson({ format: FORMAT, spec: { ...spec, hosts: [...spec.hosts] }, restarts });
  return `${text}\n${checksum(text)}\n`;
}

interface Stored {
  readonly format: number;
  readonly spec: Omit<LeaseSpec, "hosts"> & { readonly hosts: readonly (readonly [string, readonly string[]])[] };
  readonly restarts: Readonly<Record<string, number>>;
}

/** Throws unless it is an intact record of this namespace. */
export function decodeRecord({ metadata, data }: ApiSecret): LeaseRecord {
  const [body = "", sum] = Buffer.from(data?.record ?? "", "base64")
    .toString("utf8")
    .split("\n");
  if (sum !== checksum(body)) throw new Error("its checksum is another");
  const stored = decodeJson(body) as Stored;
  if (stored.format !== FORMAT) throw new Error(`it has the unknown format ${stored.format}`);
  const { spec, restarts } = stored;
  if (leaseNamespace(spec.id) !== metadata.namespace) throw new Error("it belongs to another lease");
  return { spec: { ...spec, hosts: new Map(spec.hosts) }, restarts };
}

/** Namespaces of leases of this provider that are not on their way out. */
export async function leaseSpaces({ api, provider }: DriverContext): Promise<readonly ApiObject["metadata"][]> {
  const { objects } = await api.list(KIND.namespace, { labels: `${LABEL.provider}=${provider},${LABEL.lease}` });
  return objects.map(({ metadata }) => metadata).filter(({ deletionTimestamp }) => deletionTimestamp === undefined);
}

/** Leases recorded on the cluster. An unreadable record stays, and its workload keeps running. */
export async function leaseRecords(context: DriverContext): Promise<LeaseRecord[]> {
  const { api, provider, log } = context;
  const open = new Set((await leaseSpaces(context)).map(({ name }) => name));
  const { objects } = await api.list<ApiSecret>(KIND.secret, { labels: recordLabels(provider) });
  return objects.flatMap((object) => {
    const { namespace = "" } = object.metadata;
    if (!open.has(namespace)) return [];
    try {
      return [decodeRecord(object)];
    } catch (error) {
      const text = "the record of a lease cannot be read, its workload is left alone";
      log.error(text, { namespace, err: errorText(error) });
      return [];
    }
  });
}
