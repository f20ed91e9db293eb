import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { freePorts, pause, ROOT, waitFor } from "../support/index.ts";
import { AttackedNode } from "./lib/attacked-node.ts";
import { Flooder } from "./lib/flood.ts";
import { besiege } from "./lib/siege.ts";

/** The configurations of docs/operations, with the ports of this test, in front of a node that is flooded through them. */

const HOST = "rpc.example.com";
const FLOODING = ["127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5"];
const CONNECTIONS = 256;
const VISITOR = "127.0.0.99";
const FLOOD_MS = Number(process.env.SVC_TEST_ATTACK_MS ?? 5_000);

let node: AttackedNode;
let flooder: Flooder;
let ports: readonly number[];
beforeAll(async () => {
  ports = await freePorts(3);
  const [, rest = 0, grpc = 0] = ports;
  node = await AttackedNode.start({
    flags: [
      "--api.enable",
      "--api.address",
      `tcp://127.0.0.1:${rest}`,
      "--grpc.address",
      `tcp://127.0.0.1:${grpc}`,
    ].concat(["--trusted-proxies", "127.0.0.1", "--rpc.allowed-hosts", HOST]),
  });
  flooder = await Flooder.make();
});
afterAll(async () => {
  await flooder?.close();
  await node?.close();
});

/** A configuration of docs/operations, changed so that it runs here. */
function configuration(name: string, [web, calls]: readonly [number, number], folder: string): string {
  const [, rest = 0, grpc = 0] = ports;
  const changes: readonly [string, string][] = [
    ["127.0.0.1:26657", `127.0.0.1:${node.door.port}`],
    ["127.0.0.1:1317", `127.0.0.1:${rest}`],
    ["127.0.0.1:9090", `127.0.0.1:${grpc}`],
    ["listen 443 ", `listen 127.0.0.1:${web} `],
    ["listen 9443 ", `listen 127.0.0.1:${calls} `],
    ["bind :443 ", `bind 127.0.0.1:${web} `],
    ["bind :9443 ", `bind 127.0.0.1:${calls} `],
    ["/etc/ssl/node/fullchain.pem", join(folder, "cert.pem")],
    ["/etc/ssl/node/key.pem", join(folder, "key.pem")],
    ["/etc/ssl/node/node.pem", join(folder, "both.pem")],
  ];
  const text = readFileSync(join(ROOT, "docs/operations", name), "utf8");
  return changes.reduce((changed, [from, to]) => changed.replaceAll(from, to), text);
}

async function makeCertificate(folder: string): Promise<void> {
  const names = ["-subj", `/CN=${HOST}`, "-days", "2", "-keyout", "key.pem", "-out", "cert.pem"];
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  await promisify(execFile)("openssl", ["req", "-x509", ...key, ...names], { cwd: folder, timeout: 60_000 });
  const both = ["cert.pem", "key.pem"].map((name) => readFileSync(join(folder, name), "utf8")).join("");
  writeFileSync(join(folder, "both.pem"), both);
}

const PROXIES = {
  nginx: {
    file: "nginx.conf",
    args: (file: string, folder: string) => [
      "-c",
      file,
      "-p",
      folder,
      "-e",
      "stderr",
      "-g",
      `daemon off; pid ${folder}/pid;`,
    ],
  },
  haproxy: { file: "haproxy.cfg", args: (file: string) => ["-db", "-f", file] },
} as const;

async function start(name: keyof typeof PROXIES): Promise<number> {
  const folder = join(node.fixture.folder, name);
  mkdirSync(folder);
  await makeCertificate(folder);
  const { file, args } = PROXIES[name];
  const [web = 0, calls = 0] = await freePorts(2);
  const path = join(folder, file);
  writeFileSync(path, configuration(file, [web, calls], folder));
  const child: ChildProcess = spawn(name, args(path, folder), { stdio: ["ignore", "ignore", "inherit"] });
  const ended = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGTERM");
    await ended;
  });
  await waitFor(async () => (await visit(web).catch(() => 0)) === 200, `${name} to answer`);
  return web;
}

/** Asks the node through the proxy, as a visitor of its own address; resolves with the HTTP status. */
async function visit(port: number): Promise<number> {
  const place = { host: "127.0.0.1", port, localAddress: VISITOR, servername: HOST, rejectUnauthorized: false };
  const asked = request({ ...place, path: "/status", headers: { host: HOST }, agent: false }).end();
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  answer.resume();
  await once(answer, "end");
  return answer.statusCode ?? 0;
}

describe.each(["nginx", "haproxy"] as const)("a node behind %s", (name) => {
  it("answers a visitor beside a flood from four addresses, and makes its blocks", async () => {
    const port = await start(name);
    const { begin } = await flooder.start();
    const waits: number[] = [];
    await besiege(
      node,
      async () => {
        begin({
          kind: "http1",
          path: "/status",
          requests: 16,
          port,
          isSecure: true,
          host: HOST,
          addresses: FLOODING,
          connections: CONNECTIONS,
        });
        for (const end = performance.now() + FLOOD_MS; performance.now() < end; await pause(100)) {
          const began = performance.now();
          expect(await visit(port)).toBe(200);
          waits.push(Math.round(performance.now() - began));
        }
      },
      { atLeastMs: 0 },
    );
    await flooder.end();
    console.log(`a visitor behind ${name} waited ${waits.sort((a, b) => a - b).join(" ")} ms`);
  });
});
