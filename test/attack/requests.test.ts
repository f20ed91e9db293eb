import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { pause } from "../support/index.ts";
import { AttackedNode } from "./lib/attacked-node.ts";
import { besiege } from "./lib/siege.ts";
import { ask, callText, nextStranger } from "./lib/sockets.ts";

let node: AttackedNode;
beforeAll(async () => {
  node = await AttackedNode.start();
});
afterAll(() => node?.close());

const PROTOTYPE_NAMES = ["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf"];
const DEEP = 100_000;

describe("JSON that is made to harm", () => {
  it.each([
    ["lists in lists", "[".repeat(DEEP)],
    ["closed lists in lists", "[".repeat(DEEP) + "]".repeat(DEEP)],
    ["objects in objects", [`{"a":`.repeat(DEEP), "1", "}".repeat(DEEP)].join("")],
    ["parameters in parameters", `{"id":1,"method":"status","params":${"[".repeat(DEEP)}${"]".repeat(DEEP)}}`],
    ["a number of 900,000 digits", `{"id":${"9".repeat(900_000)},"method":"health"}`],
    ["a height of 900,000 digits", `{"id":1,"method":"block","params":{"height":"${"9".repeat(900_000)}"}}`],
    ["a method of 900,000 characters", callText("a".repeat(900_000))],
    ["half a character", '{"id":"\\ud800","method":"health"}'],
    ["200,000 keys", `{${Array.from({ length: 80_000 }, (_, i) => `"k${i}":0`).join(",")}}`],
    ["a key twice", '{"id":1,"id":2,"method":"health","method":"status"}'],
    ["a prototype", '{"id":1,"method":"status","__proto__":{"params":[1,2,3]}}'],
    ...PROTOTYPE_NAMES.map((name): [string, string] => [`the method ${name}`, callText(name)]),
    ...PROTOTYPE_NAMES.map((name): [string, string] => [
      `the parameter ${name}`,
      `{"id":1,"method":"block","params":{"${name}":{"height":"1"}}}`,
    ]),
    ...PROTOTYPE_NAMES.map((name): [string, string] => [
      `the path ${name}`,
      callText("abci_query", { path: `/store/${name}/key`, data: "00" }),
    ]),
  ])("is answered in a moment and changes nothing: %s", async (_, body) => {
    const { status, bytes } = await ask(node.door, "/", body);
    expect([200, 500]).toContain(status);
    expect(bytes).toBeLessThan(1_000_000);
    expect((await ask(node.door, "/", callText("health"))).text).toContain('"result":{}');
  });

  it.each(PROTOTYPE_NAMES)("GET /%s finds no method", async (name) => {
    expect((await ask(node.door, `/${name}`)).status).toBe(404);
  });

  it("keeps no block waiting, nor others, when many send it", async () => {
    const bodies = ["[".repeat(900_000), `{"id":1,"method":"block","params":{"height":"${"9".repeat(900_000)}"}}`];
    await besiege(node, () => Promise.all([...bodies, ...bodies, ...bodies].map((body) => ask(node.door, "/", body))));
  });
});

describe("searches that are made to take long", () => {
  const conditions = (count: number, one: (i: number) => string): string =>
    Array.from({ length: count }, (_, i) => one(i)).join(" AND ");

  it.each([
    ["a thousand conditions", conditions(1_000, (i) => `transfer.amount CONTAINS '${i}'`)],
    ["a thousand equal conditions", conditions(1_000, () => "message.action EXISTS")],
    ["quotes in quotes", "tx.hash='".repeat(10_000)],
    ["900,000 characters", `a.b CONTAINS '${"x".repeat(900_000)}'`],
    ["a pattern", "message.action CONTAINS '(a+)+$'"],
    ["spaces", `${" ".repeat(900_000)}tx.height=1`],
    ["conditions without an end", "tx.height=1 AND ".repeat(50_000)],
    ["all pages", "tx.height > 0"],
    ["a range beyond all numbers", `tx.height > ${"9".repeat(5_000)}`],
  ])("keep no block waiting, nor others: %s", async (_, query) => {
    for (const method of ["tx_search", "block_search"]) {
      const { status } = await ask(node.door, "/", callText(method, { query, per_page: "100", page: "1" }));
      expect([200, 500]).toContain(status);
    }
  });

  it("keep no block waiting when many ask for them", async () => {
    const query = conditions(1_000, (i) => `transfer.amount CONTAINS '${i}'`);
    await besiege(node, () =>
      Promise.all(Array.from({ length: 10 }, () => ask(node.door, "/", callText("tx_search", { query })))),
    );
  });
});

describe("websockets", () => {
  function open(): Promise<WebSocket> {
    const place = `ws://${node.door.host}:${node.door.port}/websocket`;
    const socket = new WebSocket(place, { localAddress: nextStranger() });
    socket.on("error", () => {});
    return new Promise((resolve) => {
      socket.once("open", () => resolve(socket));
      socket.once("close", () => resolve(socket));
    });
  }

  it("with a thousand subscriptions of large queries keep no block waiting, nor others", async () => {
    const query = (i: number): string =>
      Array.from({ length: 300 }, (_, j) => `tm.event CONTAINS '${i}-${j}'`).join(" AND ");
    await besiege(node, async () => {
      const sockets = await Promise.all(Array.from({ length: 120 }, open));
      for (const socket of sockets) {
        for (let i = 0; i < 10; i++)
          if (socket.readyState === socket.OPEN) socket.send(callText("subscribe", { query: query(i) }, i));
      }
      await pause(2_000);
      for (const socket of sockets) socket.terminate();
    });
  });

  it("that subscribe and leave, and ask without reading, keep no block waiting, nor others", async () => {
    await besiege(node, async () => {
      const sockets = await Promise.all(Array.from({ length: 50 }, open));
      for (const socket of sockets) {
        socket.pause();
        for (let i = 0; i < 60; i++)
          if (socket.readyState === socket.OPEN)
            socket.send(callText("subscribe", { query: "tm.event='NewBlock'" }, i));
        for (let i = 0; i < 60; i++) if (socket.readyState === socket.OPEN) socket.send(callText("genesis", {}, i));
      }
      await pause(1_000);
      for (const socket of sockets) socket.terminate();
    });
  });

  it("a thousand of them keep nobody out", async () => {
    await besiege(node, async () => {
      const sockets = await Promise.all(Array.from({ length: 1_000 }, open));
      await pause(1_000);
      for (const socket of sockets) socket.terminate();
    });
  });
});
