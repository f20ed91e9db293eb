import { errorText, fromUtf8 } from "../../util/index.ts";
import type { GroupSpec } from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { GroupSpecSchema } from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { fromJson, readBoundedJson } from "../../wire/index.ts";
import type { ClusterDriver } from "../cluster/index.ts";
import type { LeaseService } from "../leases/index.ts";
import { gatewayErrors, toFailure } from "./errors.ts";
import type { GatewaySources, InventoryStatus } from "./sources.ts";

export interface PublicOptions {
  readonly provider: string;
  readonly publicHostname: string;
  readonly version: string;
  readonly driver: ClusterDriver;
  readonly leases: LeaseService;
  readonly sources: GatewaySources;
}

/** Public figures of the provider; they never name a tenant. */
export interface StatusFigures {
  readonly leases: number;
  readonly inventory: InventoryStatus;
  readonly orders: number;
  readonly refusals: Readonly<Record<string, number>>;
  readonly deployments: number;
  /** Messages that are not yet in a block. */
  readonly pending: number;
}

export async function statusFigures({ leases, sources }: PublicOptions): Promise<StatusFigures> {
  const records = leases.records();
  return {
    leases: records.filter(({ phase }) => phase !== "closing").length,
    inventory: await sources.inventory(),
    orders: sources.orderCount(),
    refusals: sources.refusals(),
    deployments: records.filter(({ group }) => group !== null).length,
    pending: sources.outboxDepth(),
  };
}

/** `/status`. */
export async function statusAnswer(options: PublicOptions, grpcPort: number | undefined): Promise<object> {
  const { leases, inventory, orders, refusals, deployments, pending } = await statusFigures(options);
  return {
    address: options.provider,
    cluster: {
      leases,
      inventory: {
        active: inventory.active,
        pending: inventory.pending,
        available: {
          nodes: inventory.available,
          ...(inventory.leasedIps === undefined ? {} : { leased_ips: inventory.leasedIps }),
        },
        ...(inventory.error === undefined ? {} : { error: inventory.error }),
      },
    },
    bidengine: { orders, refusals },
    manifest: { deployments },
    broadcaster: { pending },
    cluster_public_hostname: options.publicHostname,
    ...(grpcPort === undefined ? {} : { grpc_port: grpcPort }),
  };
}

/** `/version`. A cluster that cannot be asked does not hide our own version. */
export async function versionAnswer({ version, driver }: PublicOptions): Promise<object> {
  const svc = { version, node: process.version };
  try {
    return { svc, cluster: { driver: driver.name, ...(await driver.version()) } };
  } catch (error) {
    return { svc, cluster: { driver: driver.name, error: toFailure(error).body.message } };
  }
}

/** `/validate`: the price that would be bid for a group. */
export async function priceAnswer(body: Uint8Array, { sources }: PublicOptions): Promise<object> {
  const group = readGroup(body);
  try {
    return { min_bid_price: await sources.price(group) };
  } catch (cause) {
    throw gatewayErrors.noPrice(errorText(cause), { cause });
  }
}

/** `/screen`: the price of the bid that the group would get now, or why it would get none. */
export async function screenAnswer(body: Uint8Array, { sources }: PublicOptions): Promise<object> {
  const group = readGroup(body);
  return sources.screen(group).catch((cause: unknown) => {
    // Strangers learn nothing of the node that did not answer.
    throw gatewayErrors.chainUnreachable(undefined, { cause });
  });
}

function readGroup(body: Uint8Array): GroupSpec {
  try {
    return fromJson(GroupSpecSchema, readBoundedJson(fromUtf8(body)));
  } catch (cause) {
    const hint = 'send the group as the chain prints it: {"name":...,"requirements":...,"resources":[...]}';
    throw gatewayErrors.body(errorText(cause), { hint, cause });
  }
}
