import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Logger, parseDec, silentLogger } from "../../util/index.ts";
import type { OrderEntry } from "../orders/index.ts";
import { askProvider, CONTROL_LIMITS, ControlServer } from "./index.ts";
import { CONTROL_SOCKET } from "./protocol.ts";
import type { ControlView } from "./server.ts";

let folder: string;
const closing: (() => Promise<void>)[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-control-"));
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  rmSync(folder, { recursive: true, force: true });
});

const entry = (dseq: bigint, change: Partial<OrderEntry> = {}): OrderEntry => ({
  id: { owner: "svc1tenant", dseq, gseq: 1, oseq: 1 },
  phase: "open",
  detectedAt: 0,
  ...change,
});

async function serve(change: Partial<ControlView> = {}, where = folder, log: Logger = silentLogger): Promise<void> {
  const view = {
    provider: "svc1p",
    started_at: "now",
    draining: false,
    leases: 2,
    obstacles: [],
    orders: [],
    ...change,
  };
  const server = new ControlServer({ folder: where, log, view: () => view });
  closing.push(() => server.close());
  await server.listen();
}

describe("the operator's socket", () => {
  it("lists orders with price, reason and obstacle", async () => {
    const refused = entry(2n, { phase: "refused", reason: "too dear", obstacle: "final" });
    await serve({ orders: [entry(1n, { price: parseDec("1.5") }), refused], draining: true });
    expect(await askProvider(folder)).toEqual({
      provider: "svc1p",
      started_at: "now",
      draining: true,
      obstacles: [],
      leases: 2,
      omitted: 0,
      orders: [
        { order: "svc1tenant/1/1/1", phase: "open", price: "1.5", detected_at: "1970-01-01T00:00:00.000Z" },
        {
          order: "svc1tenant/2/1/1",
          phase: "refused",
          reason: "too dear",
          obstacle: "final",
          detected_at: "1970-01-01T00:00:00.000Z",
        },
      ],
    });
  });

  it("is its owner's alone, and leaves nothing behind", async () => {
    await serve();
    expect(statSync(join(folder, CONTROL_SOCKET)).mode & 0o777).toBe(0o600);
    await closing.pop()?.();
    expect(await askProvider(folder)).toBeUndefined();
  });

  it("lists the latest of many orders, and shortens long reasons", async () => {
    const reason = "x".repeat(CONTROL_LIMITS.reason + 1);
    const orders = Array.from({ length: CONTROL_LIMITS.orders + 1 }, (_, i) => entry(BigInt(i + 1), { reason }));
    await serve({ orders });
    const state = await askProvider(folder);
    expect(state?.omitted).toBe(1);
    expect(state?.orders).toHaveLength(CONTROL_LIMITS.orders);
    expect(state?.orders[0]).toMatchObject({
      order: "svc1tenant/2/1/1",
      reason: `${"x".repeat(CONTROL_LIMITS.reason)}...`,
    });
  });

  it("is reached below a long path, and takes the place of what a crash left", async () => {
    const deep = join(folder, "d".repeat(90), "e".repeat(90));
    mkdirSync(join(deep, CONTROL_SOCKET), { recursive: true });
    await serve({}, deep);
    expect(await askProvider(deep)).toMatchObject({ leases: 2 });
  });

  it("may be missing without harm", async () => {
    const said: string[] = [];
    const file = join(folder, "file");
    writeFileSync(file, "");
    await serve({}, file, { ...silentLogger, warn: (text) => void said.push(text) });
    expect(said).toEqual(["svc provider orders and why cannot ask this provider"]);
    expect(await askProvider(file)).toBeUndefined();
    expect(await askProvider(join(folder, "none"))).toBeUndefined();
  });
});

describe("a socket of something else", () => {
  function pretend(answer: string): Promise<void> {
    const server: Server = createServer((socket) => {
      socket.on("error", () => {});
      const flood = (): void => {
        while (socket.writable && socket.write(answer));
        if (socket.writable) socket.once("drain", flood);
      };
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      flood();
    });
    closing.push(() => new Promise((resolve) => server.close(() => resolve())));
    return new Promise((resolve) => server.listen(join(folder, CONTROL_SOCKET), resolve));
  }

  it("cannot fill the memory of the command", async () => {
    await pretend("a".repeat(1 << 20));
    await expect(askProvider(folder)).rejects.toThrow("has no end");
  });
});
