import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ACCEPTED_IN_A_ROW, FLOOD_TURNS, FRESH_BYTES, READING_AT_A_TIME, READING_SLICE_MS } from "./limits.ts";
import { Reading } from "./reading.ts";

interface Double {
  readonly socket: Socket;
  readonly handle: { reading: boolean; isRead: boolean; started: number; readStart(): unknown };
  /** As when bytes of it have been read. */
  sent(bytes: number): void;
}

let starts = 0;
/** The test's own clock: the machine may keep this process waiting for longer than a turn may take. */
let now = 0;
beforeEach(() => {
  vi.spyOn(performance, "now").mockImplementation(() => now);
});
afterEach(() => {
  vi.restoreAllMocks();
});

function connection(remoteAddress: string): Double {
  const handle = {
    reading: true,
    isRead: true,
    started: 0,
    readStart: () => Object.assign(handle, { isRead: true, started: ++starts }),
    readStop: () => Object.assign(handle, { isRead: false }),
  };
  const socket = Object.assign(new EventEmitter(), { remoteAddress, bytesRead: 0, destroyed: false, _handle: handle });
  const sent = (bytes: number): void => {
    socket.bytesRead += bytes;
  };
  return { socket: socket as unknown as Socket, handle, sent };
}

/** Connections of a client that were let in before. */
async function connected(reading: Reading, address: string, count: number): Promise<Double[]> {
  const all = Array.from({ length: count }, () => connection(address));
  for (const { socket } of all) reading.add(socket);
  for (let i = 0; i < 3; i++) await nextTurn();
  return all;
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

function workFor(reading: Reading, ms: number): void {
  reading.worked();
  now += ms;
  reading.worked();
}

const read = (all: readonly Double[]) => all.filter(({ handle }) => handle.isRead).length;

it("reads all connections where they make little work", async () => {
  const reading = new Reading();
  const all = await connected(reading, "10.0.0.1", 3);
  for (let i = 0; i < 10; i++) reading.worked();
  expect(read(all)).toBe(3);
});

it("stops all connections where they make much work, and reads some of them in each turn that follows", async () => {
  const reading = new Reading();
  const all = await connected(reading, "10.0.0.1", 2 * READING_AT_A_TIME + 1);
  for (const { sent } of all) sent(FRESH_BYTES);
  workFor(reading, READING_SLICE_MS);
  expect(read(all)).toBe(0);
  const seen: number[] = [];
  for (let i = 0; i < 3; i++) {
    await nextTurn();
    seen.push(read(all));
  }
  expect(seen).toEqual([READING_AT_A_TIME, 2 * READING_AT_A_TIME, all.length]);
});

it("reads another client in the next turn, and first who was passed by", async () => {
  const reading = new Reading();
  const flood = await connected(reading, "10.0.0.1", 3 * READING_AT_A_TIME);
  const [other] = (await connected(reading, "10.0.0.2", 1)) as [Double];
  for (const { sent } of [...flood, other]) sent(FRESH_BYTES);
  workFor(reading, READING_SLICE_MS);
  await nextTurn();
  expect(other.handle.isRead).toBe(true);
  // All but one of these are passed by.
  flood[0]?.sent(1);
  workFor(reading, READING_SLICE_MS);
  await nextTurn();
  expect([other.handle.isRead, flood[0]?.handle.isRead]).toEqual([true, false]);
});

it("keeps the place of those that it did not reach, however many turns others fill", async () => {
  const reading = new Reading();
  const all: Double[] = [];
  for (let i = 0; i < READING_AT_A_TIME + 8; i++) all.push(...(await connected(reading, `10.0.1.${i}`, 1)));
  for (const { sent } of all) sent(FRESH_BYTES);
  workFor(reading, READING_SLICE_MS);
  await nextTurn();
  for (const [turn, each] of all.slice(0, READING_AT_A_TIME).entries()) {
    expect([turn, read(all), each.handle.isRead]).toEqual([turn, READING_AT_A_TIME, true]);
    const before = all.slice(turn).filter(({ handle }) => handle.started < each.handle.started && handle.isRead);
    expect(before).toEqual([]);
    each.sent(1);
    workFor(reading, READING_SLICE_MS);
    await nextTurn();
  }
});

it("counts no turn that was over before a connection was reached", async () => {
  const reading = new Reading();
  const all: Double[] = [];
  for (let i = 0; i < 4; i++) all.push(...(await connected(reading, `10.0.1.${i}`, 1)));
  workFor(reading, READING_SLICE_MS);
  await nextTurn();
  const turns = () => all.map(({ socket }) => reading.turnsOf(socket));
  expect(turns()).toEqual([1, 1, 1, 1]);
  all[2]?.sent(1);
  workFor(reading, READING_SLICE_MS);
  expect(turns()).toEqual([1, 1, 1, 0]);
  expect(all.map(({ socket }) => reading.isWaiting(socket))).toEqual([true, true, true, true]);
});

it("reads at once what comes of some that were silent", async () => {
  const reading = new Reading();
  const flood = await connected(reading, "10.0.0.1", 3 * READING_AT_A_TIME);
  const [silent] = (await connected(reading, "10.0.0.2", 1)) as [Double];
  for (const { sent } of [...flood, silent]) sent(FRESH_BYTES);
  workFor(reading, READING_SLICE_MS);
  for (let turn = 0; turn < 3 * READING_AT_A_TIME; turn++) {
    await nextTurn();
    expect([turn, silent.handle.isRead]).toEqual([turn, true]);
    flood
      .filter(({ handle }) => handle.isRead)
      .at(-1)
      ?.sent(1);
    workFor(reading, READING_SLICE_MS);
  }
});

it("reads newcomers first, also of the same client", async () => {
  const reading = new Reading();
  const flood = await connected(reading, "10.0.0.1", 3 * READING_AT_A_TIME);
  for (const { sent } of flood) sent(FRESH_BYTES);
  const [newcomer] = (await connected(reading, "10.0.0.1", 1)) as [Double];
  newcomer.sent(FRESH_BYTES - 1);
  workFor(reading, READING_SLICE_MS);
  await nextTurn();
  expect(newcomer.handle.isRead).toBe(true);
});

it("reads newcomers and others by turns, since the turn may be over before the last", async () => {
  const reading = new Reading();
  const others = await connected(reading, "10.0.0.1", READING_AT_A_TIME);
  for (const { sent } of others) sent(FRESH_BYTES);
  const newcomers = await connected(reading, "10.0.0.1", READING_AT_A_TIME);
  const first: string[] = [];
  for (let i = 0; i < 2; i++) {
    for (const { sent } of newcomers) sent(1);
    for (const { sent } of others) sent(1);
    workFor(reading, READING_SLICE_MS);
    await nextTurn();
    const all = [...others, ...newcomers].sort((a, b) => b.handle.started - a.handle.started);
    const order = all.slice(0, READING_AT_A_TIME).toReversed();
    expect(order.filter((each) => newcomers.includes(each))).toHaveLength(READING_AT_A_TIME / 2);
    first.push(...order.slice(0, 2).map((each) => (newcomers.includes(each) ? "newcomer" : "other")));
  }
  expect(first.toSorted()).toEqual(["newcomer", "newcomer", "other", "other"]);
  expect(first[0]).not.toBe(first[2]);
});

it("reads a busy connection behind any number of silent ones", async () => {
  const reading = new Reading();
  const silent: Double[] = [];
  for (let i = 0; i < 3 * READING_AT_A_TIME; i++) silent.push(...(await connected(reading, `10.0.1.${i}`, 1)));
  const [busy] = (await connected(reading, "10.0.0.2", 1)) as [Double];
  for (const { sent } of [...silent, busy]) sent(FRESH_BYTES);
  let turns = 0;
  do {
    workFor(reading, READING_SLICE_MS);
    await nextTurn();
    turns += 1;
  } while (!busy.handle.isRead && turns < 20);
  expect(turns).toBe(7);
});

it("gives no turn to connections that have closed meanwhile, nor keeps them", async () => {
  const reading = new Reading();
  const others = await connected(reading, "10.0.0.1", 1);
  for (let i = 0; i < 2 * READING_AT_A_TIME; i++) others.push(...(await connected(reading, `10.0.1.${i}`, 1)));
  const [last] = (await connected(reading, "10.0.0.2", 1)) as [Double];
  for (const { sent } of [...others, last]) sent(FRESH_BYTES);
  workFor(reading, READING_SLICE_MS);
  for (const { socket } of others) Object.assign(socket, { destroyed: true }).emit("close");
  await nextTurn();
  expect(last.handle.isRead).toBe(true);
  expect(reading.isPressed).toBe(false);
});

it("takes for a flood what keeps connections waiting turn after turn, not for a moment", async () => {
  const reading = new Reading();
  await connected(reading, "10.0.0.1", READING_AT_A_TIME + 1);
  const floods: boolean[] = [];
  for (let i = 0; i <= FLOOD_TURNS; i++) {
    workFor(reading, READING_SLICE_MS);
    expect(reading.isPressed).toBe(true);
    floods.push(reading.isFlooded);
    await nextTurn();
  }
  expect(floods).toEqual([...Array(FLOOD_TURNS).fill(false), true]);
  for (let i = 0; i < 3; i++) await nextTurn();
  expect([reading.isPressed, reading.isFlooded]).toEqual([false, false]);
});

it("leaves alone what a socket does itself, until HTTP/2 has it", async () => {
  const reading = new Reading();
  const [own, handedOver] = (await connected(reading, "10.0.0.1", 2)) as [Double, Double];
  own.handle.reading = false;
  handedOver.handle.reading = false;
  reading.handOver(handedOver.socket);
  workFor(reading, READING_SLICE_MS);
  expect([own.handle.isRead, handedOver.handle.isRead]).toEqual([true, false]);
  await nextTurn();
  expect(handedOver.handle.isRead).toBe(true);
});

it("knows a connection that was handed over by the TLS above it", async () => {
  const reading = new Reading();
  const [below] = (await connected(reading, "10.0.0.1", 1)) as [Double];
  below.handle.reading = false;
  reading.handOver(Object.assign(connection("10.0.0.1").socket, { _parent: below.socket }));
  workFor(reading, READING_SLICE_MS);
  expect(below.handle.isRead).toBe(false);
});

it("stops those again that go on by themselves before their turn", async () => {
  const reading = new Reading();
  const flood = await connected(reading, "10.0.0.1", 3 * READING_AT_A_TIME);
  const [handedOver, paused] = flood.slice(-2) as [Double, Double];
  reading.handOver(handedOver.socket);
  paused.handle.reading = false;
  for (const { sent } of flood) sent(FRESH_BYTES);
  workFor(reading, READING_SLICE_MS);
  paused.handle.reading = true;
  for (const each of [handedOver, paused]) each.handle.readStart();
  await nextTurn();
  expect([read(flood), handedOver.handle.isRead, paused.handle.isRead]).toEqual([READING_AT_A_TIME, false, false]);
  for (let i = 0; i < 2; i++) await nextTurn();
  expect(read(flood)).toBe(flood.length);
});

it("takes one for a newcomer up to the bytes of its kind", async () => {
  const reading = new Reading();
  const flood = await connected(reading, "10.0.0.1", 3 * READING_AT_A_TIME);
  const newcomer = connection("10.0.0.1");
  reading.add(newcomer.socket, 2 * FRESH_BYTES);
  for (let i = 0; i < 3; i++) await nextTurn();
  for (const { sent } of [...flood, newcomer]) sent(FRESH_BYTES);
  workFor(reading, READING_SLICE_MS);
  await nextTurn();
  expect(newcomer.handle.isRead).toBe(true);
});

it("takes new connections turn by turn before other work, up to a limit", async () => {
  const reading = new Reading();
  let turns = 0;
  do {
    reading.add(connection("10.0.0.1").socket);
    await nextTurn();
    turns += 1;
  } while (reading.isAccepting && turns <= ACCEPTED_IN_A_ROW);
  expect(turns).toBe(ACCEPTED_IN_A_ROW);
  reading.add(connection("10.0.0.1").socket);
  await nextTurn();
  expect(reading.isAccepting).toBe(true);
});

it("reads no more of the new connections than there is time for in one turn, before all are taken", async () => {
  const reading = new Reading();
  const begun = now;
  const all: Double[] = [];
  for (let i = 0; i < 12; i++) {
    const next = connection("10.0.0.1");
    reading.add(next.socket);
    all.push(next);
    await nextTurn();
    // What comes of each at once, as the beginning of its handshake, makes work.
    if (next.handle.isRead) now += READING_SLICE_MS / 2;
  }
  expect([read(all), now - begun]).toEqual([0, READING_SLICE_MS]);
  for (let i = 0; i < 2; i++) await nextTurn();
  expect(read(all)).toBe(all.length);
});

it("reads connections that this end has opened by whom they stand for, each once", async () => {
  const reading = new Reading();
  const flood = Array.from({ length: 3 * READING_AT_A_TIME }, () => connection("10.0.0.1"));
  const other = connection("10.0.0.1");
  for (const { socket } of flood) reading.follow(socket, "one lease");
  for (let i = 0; i < 2; i++) reading.follow(other.socket, "another lease");
  expect(reading.isAccepting).toBe(false);
  for (const { sent } of [...flood, other]) sent(FRESH_BYTES);
  workFor(reading, READING_SLICE_MS);
  await nextTurn();
  expect([other.handle.isRead, read(flood)]).toEqual([true, READING_AT_A_TIME - 1]);
});

it("reads nothing while another takes new connections", async () => {
  const clients = new Reading();
  const reading = new Reading(clients);
  const { socket, handle } = connection("10.0.0.1");
  reading.follow(socket, "a lease");
  workFor(reading, READING_SLICE_MS);
  clients.add(connection("10.0.0.2").socket);
  await nextTurn();
  expect(handle.isRead).toBe(false);
  for (let i = 0; i < 3; i++) await nextTurn();
  expect(handle.isRead).toBe(true);
});

it("reads a connection again at once that is not used any more, and in turns when it is used again", async () => {
  const reading = new Reading();
  const all = Array.from({ length: 3 * READING_AT_A_TIME }, () => connection("10.0.0.1"));
  const [idle] = all as [Double];
  for (const { socket } of all) reading.follow(socket, "a lease");
  for (let i = 0; i < 3; i++) {
    workFor(reading, READING_SLICE_MS);
    expect(idle.handle.isRead).toBe(false);
    reading.release(idle.socket);
    workFor(reading, READING_SLICE_MS);
    expect(idle.handle.isRead).toBe(true);
    reading.follow(idle.socket, "a lease");
  }
  expect(idle.socket.listenerCount("close")).toBe(1);
});

it("has a connection wait until the network was polled in its turn", async () => {
  const reading = new Reading();
  const [first] = await connected(reading, "10.0.0.1", 1);
  if (first === undefined) throw new Error("there is no connection");
  const seen = () => [first.handle.isRead, reading.isWaiting(first.socket), reading.turnsOf(first.socket)];
  expect(seen()).toEqual([true, false, 0]);
  workFor(reading, READING_SLICE_MS);
  expect(seen()).toEqual([false, true, 0]);
  await nextTurn();
  expect(seen()).toEqual([true, true, 1]);
  await nextTurn();
  expect(seen()).toEqual([true, false, 1]);
});
