import { EventEmitter } from "node:events";
import { BlockList, type Socket } from "node:net";
import { beforeEach, expect, it } from "vitest";
import { ManualClock } from "../../testing/clock.ts";
import { HANDSHAKES, HandshakeGate } from "./handshakes.ts";

const PROXY = "192.0.2.1";
const { all, network, waiting } = HANDSHAKES;

let clock: ManualClock;
let gate: HandshakeGate;
let begun: string[];

beforeEach(() => {
  const trustedProxies = new BlockList();
  trustedProxies.addAddress(PROXY);
  clock = new ManualClock();
  gate = new HandshakeGate({ trustedProxies }, clock);
  begun = [];
});

/** A connection that has come from an address. */
function come(remoteAddress: string): Socket {
  const socket = Object.assign(new EventEmitter(), { remoteAddress, destroyed: false });
  const destroy = (): void => {
    if (!socket.destroyed) Object.assign(socket, { destroyed: true }).emit("close");
  };
  const whole = Object.assign(socket, { destroy }) as unknown as Socket;
  gate.enter(whole, () => begun.push(remoteAddress));
  return whole;
}

const comeAll = (address: string, count: number) => Array.from({ length: count }, () => come(address));
const left = (all: readonly Socket[]) => all.filter(({ destroyed }) => !destroyed).length;

/** As many networks as use up what all may begin at once. */
function useUp(): void {
  for (let i = 0; i < all.burst / network.burst; i++) comeAll(`10.0.0.${i}`, network.burst);
  expect(begun).toHaveLength(all.burst);
  begun = [];
}

/** Time for so many handshakes of all. */
const handshakes = (count: number) => (count * 1000) / all.perSecond;

it("begins handshakes of one network at once up to its burst, and closes the rest", () => {
  expect(left(comeAll("10.0.0.1", network.burst + 1))).toBe(network.burst);
  expect(begun).toHaveLength(network.burst);
});

it("begins one of each network in turn where handshakes have to wait", async () => {
  useUp();
  comeAll("10.0.1.1", 10);
  come("10.0.1.2");
  await clock.advance(handshakes(3));
  expect(begun).toEqual(["10.0.1.1", "10.0.1.2", "10.0.1.1"]);
});

it("gives each visitor of a trusted proxy a turn like a network of its own", async () => {
  useUp();
  comeAll("10.0.1.1", 10);
  comeAll(PROXY, 3);
  come("10.0.1.2");
  await clock.advance(handshakes(5));
  expect(begun).toEqual(["10.0.1.1", PROXY, PROXY, PROXY, "10.0.1.2"]);
});

it("lets few of one network wait, and more of a trusted proxy", async () => {
  useUp();
  expect(left(comeAll("10.0.1.1", waiting.network + 1))).toBe(waiting.network);
  expect(left(comeAll(PROXY, waiting.proxy + 1))).toBe(waiting.proxy);
  await clock.advance(handshakes(2 * waiting.network));
  const next = comeAll("10.0.1.1", 1);
  expect(left(next)).toBe(1);
});

it("forgets who has left while waiting", async () => {
  useUp();
  for (const socket of comeAll("10.0.1.1", waiting.network)) socket.destroy();
  for (const socket of comeAll(PROXY, waiting.proxy)) socket.destroy();
  expect(left(comeAll("10.0.1.1", waiting.network))).toBe(waiting.network);
  come("10.0.1.2");
  await clock.advance(handshakes(2));
  expect(begun).toEqual(["10.0.1.1", "10.0.1.2"]);
});

it("begins nothing after its end", async () => {
  useUp();
  come("10.0.1.1");
  gate.close();
  await clock.advance(1_000);
  expect(begun).toEqual([]);
});
