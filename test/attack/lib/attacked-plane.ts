import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AUTHORITY, openAuthority } from "../../../src/provider/certificates/index.ts";
import { endPlane, PlaneLink, type PlaneSettings } from "../../../src/provider/plane/index.ts";
import { silentLogger } from "../../../src/util/index.ts";
import { freePorts } from "../../support/ports.ts";
import { bundle, Flooder, programFolder } from "./flood.ts";
import type { FloodOrder } from "./flood-process.ts";

/** Connections that an address may have. */
export const PER_ADDRESS = 256;

const OPTIONS = { maxBodySize: 1 << 20, readTimeout: 60_000, sendTimeout: 60_000, nextTries: 3, nextTimeout: 0 };
const leaseOf = (dseq: bigint) => ({ owner: "svc1owner", dseq, gseq: 1, oseq: 1, provider: "svc1provider" });

/** The process that carries tenants' traffic, without and with TLS, and another that floods it. */
export class AttackedPlane {
  readonly port: number;
  readonly tlsPort: number;
  /** Authority of the certificates of all hosts. */
  readonly ca: string;
  readonly #folder: string;
  readonly #stateDir: string;
  readonly #link: PlaneLink;
  readonly #flooder: Flooder;

  private constructor(
    link: PlaneLink,
    {
      flooder,
      folder,
      stateDir,
      ports,
    }: { flooder: Flooder; folder: string; stateDir: string; ports: readonly number[] },
  ) {
    const [port = 0, tlsPort = 0] = ports;
    this.#link = link;
    this.#flooder = flooder;
    this.#folder = folder;
    this.#stateDir = stateDir;
    this.port = port;
    this.tlsPort = tlsPort;
    this.ca = readFileSync(join(folder, AUTHORITY.certificate), "utf8");
  }

  static async start(hosts: readonly string[]): Promise<AttackedPlane> {
    const folder = programFolder();
    const stateDir = mkdtempSync(join(tmpdir(), "svc-ingress-"));
    const main = join(folder, "plane.mjs");
    await bundle("src/provider/plane/process.ts", main);
    const flooder = await Flooder.make();
    const authority = await openAuthority(folder);
    for (const host of hosts) {
      const { chain, key } = await authority.issue(host, new AbortController().signal);
      writeFileSync(join(stateDir, `${host}.pem`), chain + key, { mode: 0o600 });
    }
    const ports = await freePorts(2);
    const program = { command: process.execPath, args: [main, "data-plane", stateDir], identity: "one" };
    const settings = settingsOf(stateDir, ports);
    const link = await PlaneLink.open({ stateDir, settings, program, log: silentLogger });
    return new AttackedPlane(link, { flooder, folder, stateDir, ports });
  }

  /** Gives a lease one host, before one replica. */
  async route(dseq: bigint, host: string, backend: string): Promise<void> {
    const lease = leaseOf(dseq);
    const target = { lease, service: "web", port: 80, options: OPTIONS };
    const routing = {
      ingress: "provider",
      backends: () => [backend],
      isSeen: () => true,
      watch: () => () => {},
    } as const;
    await this.#link.router(routing).route(lease, [{ target, hosts: [host] }], {});
  }

  get pid(): number {
    const [name = ""] = readdirSync(join(this.#stateDir, "plane")).filter((each) => each.endsWith(".sock"));
    return Number(name.replace(".sock", ""));
  }

  /** Begins a flood from another process, which also is the one replica of the attacked host. */
  async flood({ dseq, ...order }: Omit<FloodOrder, "port"> & { readonly dseq: bigint }): Promise<void> {
    const { replica, begin } = await this.#flooder.start();
    await this.route(dseq, order.host, replica);
    begin({ ...order, port: order.isSecure ? this.tlsPort : this.port });
  }

  get flooder(): Flooder {
    return this.#flooder;
  }

  endFlood(): Promise<void> {
    return this.#flooder.end();
  }

  async close(): Promise<void> {
    await this.#flooder.close();
    await this.#link.close();
    await endPlane(this.#stateDir);
    for (const each of [this.#folder, this.#stateDir]) rmSync(each, { recursive: true, force: true });
  }
}

function settingsOf(stateDir: string, [port = 0, tlsPort = 0]: readonly number[]): PlaneSettings {
  return {
    ingress: {
      host: "127.0.0.1",
      port,
      loopbackPorts: false,
      connectionsPerAddress: PER_ADDRESS,
      trustedProxies: [],
      forwardedFrom: [],
      tls: { host: "127.0.0.1", port: tlsPort, folders: [stateDir], redirect: false },
    },
  };
}
