import { expect, it } from "vitest";
import { sampleExpose, sampleService, sampleSpec } from "../../../../../test/support/conformance/index.ts";
import { silentLogger } from "../../../../util/index.ts";
import type { PortCarrier } from "../../contract/index.ts";
import type { DriverContext } from "../context.ts";
import type { Observed } from "../replica/observe.ts";
import { NodePorts } from "./node-ports.ts";
import { LeaseState } from "./state.ts";
import { leaseHealth } from "./status.ts";

/** A replica whose program listens. */
const UNIT = { id: "c", service: "web", index: 0, config: "", running: true, ports: new Map(), addresses: new Map() };

/** A lease of one service with a node port, on an engine that only needs a carrier of ports. */
function leaseWith(carrier: Pick<PortCarrier, "carry">): LeaseState {
  const settings = { carrier, nodePortAddress: "127.0.0.1", timing: {} };
  const context = { settings, log: silentLogger, events: { add() {} }, host: { hide: (text: string) => text } };
  const ports = [{ service: "web", port: 80, externalPort: 9000, proto: "TCP" as const, hostPort: 30_000 }];
  const spec = sampleSpec([sampleService("app", { expose: [sampleExpose({ externalPort: 9000 })] })], { ports });
  const record = { spec, images: {}, earlier: [], volumes: [], failed: {}, closing: false };
  const state = new LeaseState(context as unknown as DriverContext, record);
  state.units = [UNIT as unknown as Observed];
  state.historyOf(UNIT as unknown as Observed).ready = true;
  return state;
}

it("a replica is ready when the node ports of its service lead to it, and not before", async () => {
  let open = (_failures: ReadonlyMap<string, string>) => {};
  const opened = new Promise<ReadonlyMap<string, string>>((resolve) => {
    open = resolve;
  });
  const state = leaseWith({ carry: () => opened });
  const told = new NodePorts(state).reconcile();
  expect(leaseHealth(state, true)).toMatchObject({ health: "bad", services: [{ available: 0 }] });
  open(new Map());
  await told;
  expect(leaseHealth(state, true)).toMatchObject({ health: "ok", services: [{ available: 1 }] });
});

it("a port that cannot be opened is told, and its replica is ready all the same", async () => {
  const state = leaseWith({ carry: async () => new Map([["30000/TCP", "taken"]]) });
  await new NodePorts(state).reconcile();
  const services = [{ available: 1, error: expect.stringContaining("30000/TCP cannot be opened: taken") }];
  expect(leaseHealth(state, true)).toMatchObject({ health: "ok", services });
});
