import { GROUP, GROUP_VERSION, type Wanted, wanted } from "../objects/index.ts";
import { INSTALL } from "./kinds.ts";
import { FORM, INSTALLED_FORM } from "./names.ts";

const TEXT = { type: "string" };
const COUNT = { type: "integer", minimum: 0 };
const PORT = { type: "integer", minimum: 1, maximum: 65_535 };
/** Numbers that are larger than JSON's. */
const NUMBER_TEXT = { type: "string", pattern: "^[0-9]{1,20}$" };

const listOf = (items: object) => ({ type: "array", items });
const record = (properties: Readonly<Record<string, object>>, required = Object.keys(properties)) => ({
  type: "object",
  properties,
  ...(required.length === 0 ? {} : { required }),
});

const SEQUENCES = { dseq: NUMBER_TEXT, gseq: COUNT, oseq: COUNT };

const SERVICE = record({
  name: TEXT,
  image: TEXT,
  count: COUNT,
  resources: record({ cpu: TEXT, memory: TEXT, storage: TEXT, gpu: TEXT }),
  expose: listOf(record({ port: PORT, externalPort: PORT, proto: TEXT, global: { type: "boolean" } })),
  hosts: listOf(TEXT),
  nodePorts: listOf(PORT),
});

const MANIFEST_SPEC = record(
  {
    lease: record({ owner: TEXT, ...SEQUENCES, provider: TEXT }),
    namespace: TEXT,
    group: TEXT,
    version: TEXT,
    generation: COUNT,
    services: listOf(SERVICE),
    closedAt: { ...NUMBER_TEXT, description: "The height at which the lease ended; nothing of it comes back." },
  },
  ["lease", "namespace", "group", "version", "generation", "services"],
);

const CONDITION = record(
  {
    type: TEXT,
    status: { type: "string", enum: ["True", "False", "Unknown"] },
    reason: TEXT,
    message: TEXT,
    lastTransitionTime: { type: "string", format: "date-time" },
    observedGeneration: { type: "integer" },
  },
  ["type", "status", "reason", "message", "lastTransitionTime"],
);

const MANIFEST_STATUS = record(
  {
    conditions: { ...listOf(CONDITION), "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"] },
    services: listOf(
      record({ name: TEXT, total: COUNT, available: COUNT, error: TEXT }, ["name", "total", "available"]),
    ),
  },
  [],
);

const MANIFEST_COLUMNS = [
  column("Owner", ".spec.lease.owner"),
  column("Dseq", ".spec.lease.dseq"),
  column("Group", ".spec.group"),
  column("Ready", '.status.conditions[?(@.type=="Ready")].status'),
  column("Message", '.status.conditions[?(@.type=="Ready")].message'),
  column("Closed", ".spec.closedAt"),
  { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
];

const HOST_SPEC = record({
  hostname: TEXT,
  owner: TEXT,
  ...SEQUENCES,
  provider: TEXT,
  service_name: TEXT,
  external_port: PORT,
});

const HOST_COLUMNS = [
  column("Owner", ".spec.owner"),
  column("Dseq", ".spec.dseq"),
  column("Service", ".spec.service_name"),
  { name: "Port", type: "integer", jsonPath: ".spec.external_port" },
];

const LEASED_IP = {
  address: TEXT,
  endpoint: TEXT,
  owner: TEXT,
  ...SEQUENCES,
  provider: TEXT,
  sharing_key: TEXT,
  since: { type: "string", format: "date-time" },
};

/** Records from before groups shared addresses have no list of groups. */
const LEASED_IP_SPEC = record(
  { ...LEASED_IP, groups: listOf(record({ gseq: COUNT, oseq: COUNT })) },
  Object.keys(LEASED_IP),
);

const LEASED_IP_COLUMNS = [
  column("Address", ".spec.address"),
  column("Endpoint", ".spec.endpoint"),
  column("Owner", ".spec.owner"),
  column("Dseq", ".spec.dseq"),
  { name: "Since", type: "date", jsonPath: ".spec.since" },
];

function column(name: string, jsonPath: string) {
  return { name, type: "string", jsonPath };
}

/** The provider's own kinds of objects: `kubectl get mani,ph,plip -n lease`. */
export const DEFINITIONS: readonly Wanted[] = [
  definition(
    { kind: "Manifest", plural: "manifests", singular: "manifest", shortNames: ["mani"] },
    { schema: record({ spec: MANIFEST_SPEC, status: MANIFEST_STATUS }, []), columns: MANIFEST_COLUMNS },
  ),
  definition(
    { kind: "ProviderHost", plural: "providerhosts", singular: "providerhost", shortNames: ["ph"] },
    { schema: record({ spec: HOST_SPEC }), columns: HOST_COLUMNS },
  ),
  definition(
    { kind: "ProviderLeasedIP", plural: "providerleasedips", singular: "providerleasedip", shortNames: ["plip"] },
    { schema: record({ spec: LEASED_IP_SPEC }), columns: LEASED_IP_COLUMNS },
  ),
];

function definition(
  names: { readonly kind: string; readonly plural: string; readonly singular: string; readonly shortNames: string[] },
  { schema, columns }: { readonly schema: { properties: object }; readonly columns: readonly object[] },
): Wanted {
  const version = {
    name: GROUP_VERSION,
    served: true,
    storage: true,
    schema: { openAPIV3Schema: schema },
    ...("status" in schema.properties ? { subresources: { status: {} } } : {}),
    additionalPrinterColumns: columns,
  };
  const metadata = { name: `${names.plural}.${GROUP}`, annotations: { [FORM]: INSTALLED_FORM } };
  const spec = {
    group: GROUP,
    names: { ...names, listKind: `${names.kind}List` },
    scope: "Namespaced",
    versions: [version],
  };
  return wanted(INSTALL.definition, metadata, { spec });
}
