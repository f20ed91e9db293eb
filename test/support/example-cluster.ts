import type { ClusterKind } from "../../src/provider/cluster/contract/index.ts";
import { answersCheck } from "../../src/provider/cluster/shared/index.ts";
import { asText, asWords, optional, type SettingTable } from "../../src/util/index.ts";
import { MemoryCluster } from "./memory-cluster/index.ts";

const PLACES = {
  room: {
    name: "cluster-example-room",
    value: "<name>",
    summary: "room of the example cluster",
    parse: optional(asText),
  },
} as const satisfies SettingTable;

const SETTINGS = {
  addresses: {
    name: "cluster-example-addresses",
    value: "<addresses>",
    summary: "addresses that the example cluster leases",
    default: "203.0.113.1,203.0.113.2,203.0.113.3",
    parse: asWords,
  },
} as const satisfies SettingTable;

/** The name of an image that no example cluster has. */
export const MISSING_IMAGE = "localhost/svc-no-such-image:1";

const opened: MemoryCluster[] = [];

/** Removes what the examples of a test had. */
export async function destroyExamples(): Promise<void> {
  for (const cluster of opened.splice(0)) await cluster.destroy();
}

/** A driver as the checklist asks for it: replicas live in this process. */
export const exampleCluster: ClusterKind = {
  name: "example",
  heading: "Flags of the example:",
  page: "CONTRIBUTING.md",
  folder: "example",
  places: PLACES,
  settings: SETTINGS,
  localnetFlags: [],
  configure(read) {
    const room = read(PLACES.room) ?? "nowhere";
    const leasedIps = read(SETTINGS.addresses);
    const cluster = new MemoryCluster({ hasImage: (image) => image !== MISSING_IMAGE, leasedIps });
    opened.push(cluster);
    const find = async () => ({ address: room, kind: "example", version: "1" });
    return {
      capabilities: { carriesTraffic: false, tries: false },
      find,
      open: async () => cluster.open(),
      checks: async () => [answersCheck(find, "start the example")],
    };
  },
};
