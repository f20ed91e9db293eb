import * as v from "valibot";
import { parseDec } from "../../util/index.ts";
import { gatewayClientErrors } from "./errors.ts";

/** Answers are untrusted: only the fields we read are kept, and they must have the right type. */

const count = v.optional(v.number(), 0);
const texts = v.nullish(v.array(v.string()), []);

const pod = v.object({
  name: v.string(),
  ready: v.boolean(),
  restarts: v.number(),
  state: v.string(),
  reason: v.exactOptional(v.string()),
});

const service = v.object({
  name: v.string(),
  available: count,
  total: count,
  uris: texts,
  observed_generation: count,
  replicas: count,
  updated_replicas: count,
  ready_replicas: count,
  available_replicas: count,
  urls: texts,
  error: v.exactOptional(v.string()),
  pods: v.optional(v.array(pod), []),
});

const port = v.object({
  host: v.optional(v.string(), ""),
  port: v.number(),
  externalPort: v.number(),
  proto: v.string(),
  name: v.string(),
});

const ip = v.object({
  Port: v.number(),
  ExternalPort: v.number(),
  Protocol: v.string(),
  IP: v.string(),
  /** Other providers report neither the name nor whether the address is in use yet. */
  Endpoint: v.optional(v.string(), ""),
  Assigned: v.optional(v.boolean(), true),
  Problem: v.exactOptional(v.string()),
});

const lease = v.object({
  services: v.record(v.string(), service),
  forwarded_ports: v.nullish(v.record(v.string(), v.array(port)), {}),
  ips: v.nullish(v.record(v.string(), v.array(ip)), {}),
  state: v.optional(v.string(), ""),
  health: v.optional(v.string(), ""),
  version: v.optional(v.string(), ""),
  generation: count,
  withheld_hosts: texts,
  withheld_endpoints: texts,
  error: v.exactOptional(v.string()),
});

const order = v.object({
  phase: v.string(),
  reason: v.exactOptional(v.string()),
  /** Older providers send neither. */
  code: v.exactOptional(v.string()),
  remedy: v.exactOptional(v.string()),
  final: v.exactOptional(v.boolean()),
});
const decimal = v.pipe(v.string(), v.regex(/^\d{1,60}(?:\.\d{1,18})?$/), v.transform(parseDec));
const decimalCoin = v.object({ denom: v.string(), amount: decimal });
const price = v.object({ min_bid_price: decimalCoin });
const screening = v.variant("bid", [
  v.object({ bid: v.literal(true), price: decimalCoin }),
  v.object({ bid: v.literal(false), reason: v.string() }),
]);
const transferred = v.object({ transferred: v.array(v.string()) });
const logLine = v.object({
  name: v.string(),
  message: v.string(),
  /** Older providers do not send it. */
  time: v.exactOptional(v.string()),
  stream: v.exactOptional(v.string()),
});

const event = v.object({
  type: v.string(),
  reason: v.string(),
  note: v.string(),
  object: v.object({ kind: v.string(), namespace: v.string(), name: v.string() }),
  service: v.optional(v.string(), ""),
  time: v.optional(v.string(), ""),
});

/** A service of a lease. `uris` are host names, `urls` addresses that open as printed. */
export type ServiceStatus = v.InferOutput<typeof service>;
/** A lease as its provider sees it. `forwarded_ports[].externalPort` is the port on `host`; `ips` are leased addresses. */
export type LeaseStatus = v.InferOutput<typeof lease>;
/** A provider's decision on an order: whether it bids, and if not, why. */
export type OrderStatus = v.InferOutput<typeof order>;
/** The price per block of the bid that a group would get now, or why it would get none. */
export type Screening = v.InferOutput<typeof screening>;
/** One line that a replica of a service wrote. */
export type GatewayLogLine = v.InferOutput<typeof logLine>;
/** Something that happened to the containers of a lease. */
export type GatewayEvent = v.InferOutput<typeof event>;

function reader<T extends v.GenericSchema>(schema: T, what: string): (value: unknown) => v.InferOutput<T> {
  return (value) => {
    const result = v.safeParse(schema, value);
    if (result.success) return result.output;
    const path = result.issues[0].path?.map(({ key }) => String(key)).join(".") ?? "";
    throw gatewayClientErrors.badAnswer(`${what}${path === "" ? "" : `, field ${path}`}`);
  };
}

export const readServiceStatus = reader(service, "status of a service");
export const readLeaseStatus = reader(lease, "status of a lease");
export const readOrderStatus = reader(order, "status of an order");
export const readTransferred = reader(transferred, "names that moved");
export const readLogLine = reader(logLine, "log line");
export const readEvent = reader(event, "event");
export const readPrice = reader(price, "price of a group");
export const readScreening = reader(screening, "bid on a group");
