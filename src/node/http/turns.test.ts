import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { expect, it } from "vitest";
import { Reading } from "../../util/index.ts";
import { Turns } from "./turns.ts";

it("begins calls in the order in which they came", async () => {
  const [turns, begun]: [Turns, number[]] = [new Turns(), []];
  await Promise.all([1, 2, 3, 4].map((i) => turns.next().then(() => begun.push(i))));
  expect(begun).toEqual([1, 2, 3, 4]);
});

it("begins the first call of a connection before the second of any other", async () => {
  const [turns, begun]: [Turns, string[]] = [new Turns(), []];
  const [busy, other, third] = [{}, {}, {}].map((connection) => ({ client: "10.0.0.1", connection }));
  const calls = [
    ...["a1", "a2", "a3"].map((name) => turns.next(busy).then(() => begun.push(name))),
    ...["b1", "b2"].map((name) => turns.next(other).then(() => begun.push(name))),
    turns.next(third).then(() => begun.push("c1")),
  ];
  await Promise.all(calls);
  expect(begun).toEqual(["a1", "b1", "c1", "a2", "b2", "a3"]);
});

it("begins a call of each client before the second of any other, however many connections it has", async () => {
  const [turns, begun]: [Turns, string[]] = [new Turns(), []];
  const next = (client: string) => turns.next({ client, connection: {} }).then(() => begun.push(client));
  await Promise.all(["flood", "flood", "flood", "other"].map(next));
  expect(begun).toEqual(["flood", "other", "flood", "flood"]);
});

it("waits while new connections are taken", async () => {
  let looks = 0;
  const reading = {
    turn: 0,
    get isAccepting() {
      looks += 1;
      return looks < 4;
    },
  };
  const turns = new Turns({ reading });
  await turns.next();
  expect(looks).toBe(4);
});

it("does not wait for a new connection that sends nothing", async () => {
  const reading = new Reading();
  const turns = new Turns({ reading });
  const idle = Object.assign(new EventEmitter(), { remoteAddress: "10.0.0.1", bytesRead: 0 });
  const begun: string[] = [];
  void turns.next().then(() => begun.push("in the same turn"));
  reading.add(idle as Socket);
  for (let i = 0; i < 10; i++) await new Promise(setImmediate);
  expect(begun).toEqual(["in the same turn"]);
});

it("lets other work of the process have its turn", async () => {
  const turns = new Turns();
  const begun: string[] = [];
  const work = (): void => {
    const end = performance.now() + 6;
    while (performance.now() < end);
  };
  const calls = [1, 2, 3].map((i) =>
    turns.next().then(() => {
      begun.push(`${i}`);
      work();
      if (i === 1) setImmediate(() => begun.push("other"));
    }),
  );
  await Promise.all(calls);
  expect(begun).toEqual(["1", "other", "2", "3"]);
});

/** Turns with a clock and a count of the event loop's turns that the test moves. */
function counted() {
  const clock = { now: 0 };
  const reading = { isAccepting: false, turn: 0 };
  const turns = new Turns({ reading, now: () => clock.now });
  const begun: string[] = [];
  const ask = (name: string) => turns.single().then(() => begun.push(name));
  return { clock, reading, turns, begun, ask };
}

it("begins a single call at once while nobody waits, until it is time for other work", async () => {
  const { clock, reading, turns, begun, ask } = counted();
  await turns.next();
  await new Promise(setImmediate);
  setImmediate(() => begun.push("other"));
  await ask("at once");
  await Promise.all([turns.next().then(() => begun.push("of many")), ask("behind it")]);
  expect(begun).toEqual(["at once", "other", "of many", "behind it"]);
  for (let turn = 1; turn <= 2; turn++) {
    reading.turn = turn;
    clock.now += 6;
    setImmediate(() => begun.push("other again"));
    await ask("later");
  }
  expect(begun.slice(4)).toEqual(["other again", "later", "other again", "later"]);
});

it("begins single calls together where a turn of the event loop has brought several, until one has brought one", async () => {
  const { reading, turns, begun, ask } = counted();
  await turns.next();
  await new Promise(setImmediate);
  const inTurn = async (turn: number, ...names: string[]) => {
    reading.turn = turn;
    setImmediate(() => begun.push("other"));
    await Promise.all([...names.map(ask), new Promise(setImmediate)]);
  };
  await inTurn(1, "a1", "b1");
  await inTurn(2, "a2");
  await inTurn(3, "a3");
  expect(begun).toEqual(["a1", "other", "b1", "other", "a2", "a3", "other"]);
});
