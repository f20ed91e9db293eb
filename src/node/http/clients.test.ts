import { expect, it } from "vitest";
import { Clients } from "./clients.ts";

const request = (remoteAddress: string, forwardedFor?: string) => ({
  socket: { remoteAddress },
  headers: { "x-forwarded-for": forwardedFor },
});

it("takes the client from X-Forwarded-For of a trusted proxy alone", () => {
  const clients = new Clients({ trustedProxies: ["10.0.0.0/8"], requestsPerSecond: 1 });
  expect(clients.of(request("10.0.0.1", "203.0.113.7"))).toBe("203.0.113.7");
  expect(clients.of(request("::ffff:10.0.0.1", "198.51.100.1, 203.0.113.7, 10.0.0.2"))).toBe("203.0.113.7");
  expect(clients.of(request("192.0.2.1", "203.0.113.7"))).toBe("192.0.2.1");
  expect(clients.of(request("10.0.0.1"))).toBe("10.0.0.1");
  expect(clients.of(request("10.0.0.1", "nobody"))).toBe("10.0.0.1");
  expect(clients.of(request("10.0.0.1", "2001:db8:0:1::7"))).toBe("2001:db8:0:1::/64");
});

it("takes the other end of the connection without trusted proxies", () => {
  const clients = new Clients();
  expect(clients.of(request("::ffff:10.0.0.1", "203.0.113.7"))).toBe("10.0.0.1");
  expect(clients.of(request("2001:db8:0:1::7", "203.0.113.7"))).toBe("2001:db8:0:1::/64");
});

it("admits twice the requests of a second at once, of each client by itself, and all of this machine", () => {
  const clients = new Clients({ trustedProxies: [], requestsPerSecond: 2 });
  const admitted = (client: string) => Array.from({ length: 6 }, () => clients.admits(client)).filter(Boolean).length;
  expect([admitted("203.0.113.7"), admitted("203.0.113.8")]).toEqual([4, 4]);
  expect([admitted("127.0.0.1"), admitted(clients.of(request("::1")))]).toEqual([6, 6]);
});
