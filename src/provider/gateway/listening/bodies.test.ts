import { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { expect, it } from "vitest";
import { parseNetworks } from "../../../util/servers/index.ts";
import { limitBodies } from "./bodies.ts";
import { GatewayClients } from "./clients.ts";

/** A request with its answer, which ends when told. */
function sending(remoteAddress: string, headers: object): [IncomingMessage, ServerResponse] {
  return [{ headers, socket: { remoteAddress } } as IncomingMessage, new EventEmitter() as ServerResponse];
}

it("has room for so much of the bodies of one network, and for those of others", () => {
  const enter = limitBodies({ body: 1_000, bodiesPerNetwork: 2_000 }, new GatewayClients(parseNetworks([])));
  const long = { "content-length": "1000" };
  const first = sending("192.0.2.1", long);
  enter(...first);
  enter(...sending("192.0.2.1", { "transfer-encoding": "chunked" }));
  const more = () => enter(...sending("192.0.2.1", { "content-length": "1" }));
  expect(more).toThrow("too much is being sent from your network at the moment");
  // A request without a body, or with one beyond the limit, takes no room.
  for (const headers of [{}, { "content-length": "1001" }]) enter(...sending("192.0.2.1", headers));
  enter(...sending("192.0.2.2", long));
  first[1].emit("close");
  expect(more).not.toThrow();
});
