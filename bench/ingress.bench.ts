/**
 * The provider's ingress beside nginx, without TLS and with it: the same page of the same replica, each proxy on core 0,
 * replica and clients on core 1, in turn.
 *
 *   npm run bench -- ingress [rounds] [seconds]
 *
 * Needs `nginx` and `wrk` of Debian: apt-get install nginx-light wrk
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openAuthority } from "../src/provider/certificates/index.ts";
import { endPlane, PlaneLink } from "../src/provider/index.ts";
import type { IngressTls } from "../src/provider/ingress/index.ts";
import { silentLogger } from "../src/util/index.ts";
import type { LeaseKey } from "../src/wire/index.ts";
import { Fixture, ROOT } from "../test/support/index.ts";
import { freePorts } from "../test/support/ports.ts";
import { Report } from "./lib/report.ts";

const [rounds = 5, seconds = 4] = process.argv.slice(2).map(Number);
const CONNECTIONS = 32;
/** The host that wrk names in its handshakes: the host of the address. */
const HOST = "localhost";
const ADMIN = `${process.env.PATH ?? ""}:/usr/sbin:/sbin`;

interface Sample {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
}

const fixture = new Fixture();
try {
  const [replica = 0, nginx = 0, plane = 0, nginxTls = 0, planeTls = 0] = await freePorts(5);
  const certificates = await makeCertificate();
  await startNginx("replica", 1, `server { listen 127.0.0.1:${replica}; location / { return 200 "hello\\n"; } }`);
  await startNginx(
    "proxy",
    0,
    `upstream web { server 127.0.0.1:${replica}; keepalive 64; }
     ssl_certificate ${certificates}/host.crt; ssl_certificate_key ${certificates}/host.key;
     server { listen 127.0.0.1:${nginx}; listen 127.0.0.1:${nginxTls} ssl; server_name ${HOST}; location / {
       proxy_pass http://web; proxy_http_version 1.1; proxy_set_header Connection "";
       proxy_set_header Host $host; proxy_set_header X-Forwarded-For $remote_addr; } }`,
  );
  const tls = { host: "127.0.0.1", port: planeTls, folders: [certificates], redirect: false };
  await startPlane(plane, replica, tls);
  const addresses = new Map([
    ["ingress", `http://${HOST}:${plane}/`],
    ["nginx", `http://${HOST}:${nginx}/`],
    ["ingress with TLS", `https://${HOST}:${planeTls}/`],
    ["nginx with TLS", `https://${HOST}:${nginxTls}/`],
  ]);
  const results = new Map([...addresses.keys()].map((name) => [name, [] as Sample[]]));
  for (const address of addresses.values()) load(address, 1);
  for (let round = 0; round < rounds; round++) {
    for (const [name, address] of addresses) results.get(name)?.push(load(address, seconds));
  }
  const method = `wrk with ${CONNECTIONS} kept connections for ${seconds} s, in turn; proxy on core 0, replica and wrk on core 1`;
  const report = new Report("ingress", method);
  for (const [name, samples] of results) {
    report.add({ name: `${name}: requests`, unit: "1/s", samples: samples.map(({ perSecond }) => perSecond) });
    report.add({ name: `${name}: latency p50`, unit: "ms", samples: samples.map(({ p50 }) => p50) });
    report.add({ name: `${name}: latency p99`, unit: "ms", samples: samples.map(({ p99 }) => p99) });
  }
  report.save();
} finally {
  await fixture.close();
}

async function startNginx(name: string, core: number, server: string): Promise<void> {
  const folder = join(fixture.folder, name);
  mkdirSync(folder);
  const conf = join(folder, "nginx.conf");
  const temp = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  );
  writeFileSync(
    conf,
    `daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/error.log;
     events { worker_connections 1024; }
     http { access_log off; keepalive_requests 1000000; ${temp.join(" ")} ${server} }`,
  );
  const child = spawn("taskset", ["-c", `${core}`, "nginx", "-p", folder, "-c", conf], {
    env: { ...process.env, PATH: ADMIN },
    stdio: "inherit",
  });
  fixture.defer(() => ended(child));
  await new Promise((resolve) => setTimeout(resolve, 500));
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once("exit", () => resolve());
    child.kill();
  });
}

/** A folder with a certificate for the host. */
async function makeCertificate(): Promise<string> {
  const folder = join(fixture.folder, "certificates");
  mkdirSync(folder);
  const authority = await openAuthority(join(fixture.folder, "authority"));
  const { chain, key } = await authority.issue(HOST, new AbortController().signal);
  writeFileSync(join(folder, "host.crt"), chain);
  writeFileSync(join(folder, "host.key"), key, { mode: 0o600 });
  return folder;
}

async function startPlane(port: number, replica: number, tls: IngressTls): Promise<void> {
  const stateDir = join(fixture.folder, "provider");
  mkdirSync(stateDir);
  const ingress = {
    host: "127.0.0.1",
    port,
    loopbackPorts: false,
    connectionsPerAddress: 256,
    trustedProxies: [],
    forwardedFrom: [],
    tls,
  };
  const main = join(ROOT, "dist", "svc.cjs");
  const args = ["-c", "0", process.execPath, main, "data-plane", stateDir];
  const program = { command: "taskset", args, identity: "bench" };
  const link = await PlaneLink.open({ stateDir, settings: { ingress }, program, log: silentLogger });
  fixture.defer(async () => {
    await link.close();
    await endPlane(stateDir);
  });
  samePriority(stateDir);
  const id: LeaseKey = { owner: "owner", dseq: 1n, gseq: 1, oseq: 1, provider: "provider" };
  const options = {
    maxBodySize: 1 << 20,
    readTimeout: 60_000,
    sendTimeout: 60_000,
    nextTries: 3,
    nextTimeout: 0,
    nextCases: ["error", "timeout"],
    proxyBufferSize: 0,
  };
  const router = link.router({
    ingress: "provider",
    backends: () => [`127.0.0.1:${replica}`],
    isSeen: () => true,
    watch: () => () => {},
  });
  await router.route(id, [{ target: { lease: id, service: "web", port: 80, options }, hosts: [HOST] }], {});
}

/** The plane is a session, and so a scheduling group, of its own: it gets the weight of this process's group. */
function samePriority(stateDir: string): void {
  const [, nice = "0"] = /nice (-?\d+)/.exec(readFileSync("/proc/self/autogroup", "utf8")) ?? [];
  for (const name of readdirSync(join(stateDir, "plane")).filter((each) => each.endsWith(".sock"))) {
    writeFileSync(`/proc/${name.replace(".sock", "")}/autogroup`, nice);
  }
}

function load(address: string, duration: number): Sample {
  const args = ["-c", "1", "wrk", "-t1", `-c${CONNECTIONS}`, `-d${duration}s`, "--latency", "-H", `Host: ${HOST}`];
  const text = execFileSync("taskset", [...args, address], { encoding: "utf8" });
  if (/Non-2xx|Socket errors/.test(text)) throw new Error(text);
  const number = (pattern: RegExp) => Number(pattern.exec(text)?.[1] ?? Number.NaN);
  const time = (share: string) => {
    const [, value, unit] = new RegExp(`${share}%\\s+([\\d.]+)(us|ms|s)`).exec(text) ?? [];
    return Number(value) * (unit === "us" ? 0.001 : unit === "s" ? 1000 : 1);
  };
  return { perSecond: number(/Requests\/sec:\s+([\d.]+)/), p50: time("50"), p99: time("99") };
}
