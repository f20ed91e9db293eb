import { expect, it } from "vitest";
import { FakeChain } from "../../../../test/support/provider/chain.ts";
import { PROVIDER } from "../../../../test/support/provider/leases.ts";
import { parseNetworks } from "../../../util/servers/index.ts";
import { DEFAULT_LIMITS } from "../limits.ts";
import { GatewayClients } from "../listening/clients.ts";
import { Authorizer } from "./authorizer.ts";
import type { CredentialCarrier } from "./credential.ts";

/** A request without a credential. */
function from(remoteAddress: string): CredentialCarrier {
  return { headers: {}, rawHeaders: [], url: "/", socket: { remoteAddress } as CredentialCarrier["socket"] };
}

const clients = new GatewayClients(parseNetworks([]));
const networkOf = ({ socket }: CredentialCarrier) => clients.networkOf(socket);

it("counts callers without a credential by their network: a home has more addresses than there are limits", async () => {
  const limits = { ...DEFAULT_LIMITS, burst: 3, perSecond: 0.001 };
  const authorizer = new Authorizer({ provider: PROVIDER, chain: new FakeChain(), limits, networkOf, now: () => 0 });
  const names = new Set<string>();
  for (const end of ["1", "2", "ffff:1"]) names.add((await authorizer.identify(from(`2001:db8:0:7::${end}`))).name);
  expect(names.size).toBe(1);
  await expect(authorizer.identify(from("2001:db8:0:7::4"))).rejects.toThrow(/too many/i);
  const other = await authorizer.identify(from("2001:db8:0:8::1"));
  expect(names.has(other.name)).toBe(false);
  // The same host over IPv4, however the system writes it.
  const mapped = await authorizer.identify(from("::ffff:192.0.2.1"));
  expect((await authorizer.identify(from("192.0.2.1"))).name).toBe(mapped.name);
});
