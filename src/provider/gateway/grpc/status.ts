import { create } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import { type Status, StatusSchema } from "../../../wire/gen/svc/provider/v1/status_pb.js";
import { fromNanos } from "../../../wire/index.ts";
import { type PublicOptions, statusFigures } from "../public-routes.ts";
import type { ResourceSum } from "../sources.ts";

const NANOS = 1_000_000n;

/** The status as the gateway tells it over gRPC; `now` in milliseconds since 1970. */
export async function statusMessage(options: PublicOptions, now: number): Promise<Status> {
  const { leases, inventory, orders, refusals, deployments, pending } = await statusFigures(options);
  const { active, pending: waiting, available, error } = inventory;
  return create(StatusSchema, {
    errors: error === undefined ? [] : [error],
    cluster: {
      leases: { active: leases },
      inventory: {
        cluster: { nodes: available.map(({ name, ...left }) => ({ name, available: left })) },
        reservations: { pending: totalOf(waiting), active: totalOf(active) },
      },
    },
    bidEngine: { orders, refusals: { ...refusals } },
    manifest: { deployments },
    publicHostnames: [options.publicHostname],
    timestamp: create(TimestampSchema, fromNanos(BigInt(now) * NANOS)),
    broadcaster: { pending },
    address: options.provider,
  });
}

function totalOf(list: readonly ResourceSum[]) {
  const sum = (name: keyof ResourceSum) => list.reduce((total, each) => total + each[name], 0n);
  return {
    count: list.length,
    resources: { cpu: sum("cpu"), memory: sum("memory"), gpu: sum("gpu"), storage: sum("storage") },
  };
}
