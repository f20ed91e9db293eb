import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { WebSocket } from "ws";
import { TestApiServer } from "../../../../../test/support/kubernetes/api-server.ts";
import type { KubernetesApi } from "./api.ts";
import type { Channels } from "./channels.ts";

let server: TestApiServer;
let api: KubernetesApi;

beforeEach(async () => {
  server = await TestApiServer.start();
  api = server.client();
});

afterEach(async () => {
  api.close();
  await server.close();
});

const SUCCESS = { status: "Success" };
const exitOf = (code: number) => ({
  status: "Failure",
  reason: "NonZeroExitCode",
  details: { causes: [{ reason: "ExitCode", message: String(code) }] },
});

const say = (socket: WebSocket, channel: number, text: string) =>
  socket.send(Buffer.concat([Uint8Array.of(channel), Buffer.from(text)]));

function end(socket: WebSocket, account: object | string): void {
  say(socket, 3, typeof account === "string" ? account : JSON.stringify(account));
  socket.close();
}

const PLACE = { namespace: "a", pod: "web-1", container: "web" };

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 2));
}

const run = (change: { command?: string[]; tty?: boolean; stdin?: boolean } = {}) =>
  api.exec({ ...PLACE, command: ["true"], tty: false, stdin: false, ...change });

async function textOf(channels: Channels): Promise<{ stdout: string; stderr: string }> {
  const text = { stdout: "", stderr: "" };
  for await (const { stream, data } of channels.output) text[stream] += Buffer.from(data).toString("utf8");
  return text;
}

describe("a command in a container", () => {
  test("has two outputs and an exit code, and every word arrives as it is", async () => {
    let search = "";
    server.command = (socket, url) => {
      search = url.search;
      say(socket, 1, "out\n");
      say(socket, 2, "err\n");
      say(socket, 1, "");
      end(socket, exitOf(7));
    };
    const channels = await run({ command: ["sh", "-c", "echo a&b; exit 7"] });
    expect(await textOf(channels)).toEqual({ stdout: "out\n", stderr: "err\n" });
    expect(await channels.exitCode).toBe(7);
    expect([...new URLSearchParams(search)]).toEqual([
      ["container", "web"],
      ["command", "sh"],
      ["command", "-c"],
      ["command", "echo a&b; exit 7"],
      ["stdin", "false"],
      ["stdout", "true"],
      ["stderr", "true"],
      ["tty", "false"],
    ]);
    expect(server.requests).toEqual(["EXEC /api/v1/namespaces/a/pods/web-1/exec"]);
  });

  test("gets its input, the size of its terminal, and the end of the input", async () => {
    const got: string[] = [];
    let bytes = 0;
    server.command = (socket) =>
      socket.on("message", (data: Buffer) => {
        const channel = data[0] ?? -1;
        if (channel === 0) bytes += data.length - 1;
        else got.push(`${channel} ${channel === 255 ? data[1] : data.subarray(1)}`);
        if (channel === 255) end(socket, SUCCESS);
      });
    const channels = await run({ stdin: true, tty: true });
    channels.resize(80, 24);
    await channels.write(Buffer.alloc(200_000, "x"));
    channels.endInput();
    channels.endInput();
    await channels.write(Buffer.from("too late"));
    expect(await channels.exitCode).toBe(0);
    expect([bytes, got]).toEqual([200_000, ['4 {"Width":80,"Height":24}', "255 0"]]);
  });

  test("without input is sent none, nor an end of it", async () => {
    const got: Buffer[] = [];
    server.command = (socket) => socket.on("message", (data: Buffer) => got.push(data));
    const channels = await run();
    await channels.write(Buffer.from("x"));
    channels.endInput();
    channels.resize(1, 2);
    await until(() => got.length > 0);
    channels.close();
    expect(got.map(String)).toEqual(['\u0004{"Width":1,"Height":2}']);
  });

  test("that says nothing is kept by signs of life, which end with it", async () => {
    const brisk = server.client({ pingMs: 5 });
    let pings = 0;
    let last: WebSocket | undefined;
    server.command = (socket) => {
      last = socket.on("ping", () => pings++);
    };
    const channels = await brisk.exec({ ...PLACE, command: ["sleep", "1000"], tty: false, stdin: false });
    await until(() => pings >= 3);
    if (last !== undefined) end(last, SUCCESS);
    expect(await channels.exitCode).toBe(0);
    brisk.close();
  });

  test.each([
    ['exec: "nope": executable file not found in $PATH', 127],
    ["open /x: permission denied", 126],
  ])("that cannot be started (%s) ends with %i and a line", async (message, code) => {
    server.command = (socket) => end(socket, { kind: "Status", status: "Failure", code: 500, message });
    const channels = await run();
    expect((await textOf(channels)).stderr).toBe(`status 500: ${message}\n`);
    expect(await channels.exitCode).toBe(code);
  });

  test.each([
    [
      "another failure",
      (socket: WebSocket) => end(socket, { kind: "Status", code: 500, message: "no such container id" }),
    ],
    ["no account at all", (socket: WebSocket) => socket.close()],
    ["a cut connection", (socket: WebSocket) => socket.terminate()],
    ["an account that is none", (socket: WebSocket) => end(socket, "{]")],
    ["an exit code that is none", (socket: WebSocket) => end(socket, { ...exitOf(1), details: { causes: [null] } })],
    ["a message over the most", (socket: WebSocket) => say(socket, 1, "x".repeat(1 << 20))],
  ])("that ends with %s has no exit code", async (_, command) => {
    server.command = command;
    // A connection that is cut at once may never have been open for the caller.
    const exitCode = run().then(async (channels) => {
      await textOf(channels);
      return channels.exitCode;
    });
    await expect(exitCode).rejects.toMatchObject({ kind: "unreachable" });
  });

  test("whose output nobody reads is held back", async () => {
    let sent = 0;
    server.command = (socket) => {
      const more = () => {
        if (socket.readyState !== socket.OPEN || sent >= 20_000) return;
        sent++;
        socket.send(Buffer.alloc(32 << 10, 1), more);
      };
      more();
    };
    const channels = await run();
    let before = -1;
    // The rest in the buffers of system and queue: far less than the command's 640 MB.
    while (sent !== before) {
      before = sent;
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    expect(sent).toBeLessThan(10_000);
    channels.close();
    await expect(channels.exitCode).rejects.toMatchObject({ kind: "unreachable" });
  });

  test("is refused with the server's words", async () => {
    const body = JSON.stringify({ kind: "Status", reason: "NotFound", message: 'pods "web-1" not found' });
    server.refusal = `HTTP/1.1 404 Not Found\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    await expect(run()).rejects.toMatchObject({ kind: "notFound", message: 'status 404: pods "web-1" not found' });
    await server.close();
    await expect(run()).rejects.toMatchObject({ kind: "unreachable" });
  });
});
