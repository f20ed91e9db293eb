import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execFileSync } from "../../support/bounded.ts";
import { waitFor } from "../../support/index.ts";
import { isRunning } from "../../support/ports.ts";

/** Prefix of the network's names; the id of the process that made it follows. */
const PREFIX = "svcw";

/** Runs beside each other take other addresses. */
const OWN = (process.pid % 250) + 1;
const QUARTER = (process.pid % 60) * 4;

/** The link to it: a private network, and a public range on the same wire. */
const LINK = { host: `10.212.${OWN}.1`, world: `10.212.${OWN}.2` };
const ON_LINK = { host: `198.51.100.${QUARTER + 1}`, world: `198.51.100.${QUARTER + 2}` };

/** Where the world finds the host. */
export const HOST = LINK.host;

/** An address for documents, which stands for the public network. */
export const PUBLIC = `203.0.113.${OWN}`;

/** Addresses behind the same router that no tenant may reach. */
const BEHIND = ["10.214", "100.64", "169.254", "172.16", "192.168", "198.18"].map((range) => `${range}.213.${OWN}`);
export const PRIVATE = [LINK.world, ON_LINK.world, ...BEHIND, `192.0.0.${OWN}`];

/**
 * A network beside the host's own, with a page at each address, so that an answer can be told from a dropped request.
 */
export class World {
  readonly #name = `${PREFIX}${process.pid}`;
  readonly #folder = mkdtempSync(join(tmpdir(), "svc-world-"));
  #server: ReturnType<typeof spawn> | undefined;

  async open(): Promise<void> {
    const [outside, inside] = [`${this.#name}a`, `${this.#name}b`];
    writeFileSync(join(this.#folder, "index.html"), "reached\n");
    removeAbandoned();
    ip("netns", "add", this.#name);
    ip("link", "add", outside, "type", "veth", "peer", "name", inside, "netns", this.#name);
    for (const { host, world } of [LINK, ON_LINK]) {
      ip("addr", "add", `${host}/30`, "dev", outside);
      this.#inside("addr", "add", `${world}/30`, "dev", inside);
    }
    ip("link", "set", outside, "up");
    this.#inside("link", "set", "lo", "up");
    this.#inside("link", "set", inside, "up");
    this.#inside("route", "add", "default", "via", LINK.host);
    for (const address of [PUBLIC, ...PRIVATE.slice(2)]) {
      this.#inside("addr", "add", `${address}/32`, "dev", "lo");
      ip("route", "add", `${address}/32`, "via", LINK.world);
    }
    const server = ["busybox", "httpd", "-f", "-p", "80", "-h", this.#folder];
    this.#server = spawn("ip", ["netns", "exec", this.#name, ...server], { stdio: "ignore" });
    for (const address of [PUBLIC, ...PRIVATE]) {
      const answers = () =>
        fetch(`http://${address}/`).then(
          (response) => response.ok,
          () => false,
        );
      await waitFor(answers, `${address} to answer the host`);
    }
  }

  /** Answer of an address, seen from there. */
  ask(host: string, port: number): string {
    const args = ["netns", "exec", this.#name, "busybox", "nc", "-w", "5", host, `${port}`];
    const input = `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
    return execFileSync("ip", args, { encoding: "utf8", input, stdio: ["pipe", "pipe", "pipe"], timeout: 10_000 });
  }

  /** Routes and links go with the other end. */
  close(): void {
    this.#server?.kill("SIGKILL");
    for (const args of [
      ["link", "del", `${this.#name}a`],
      ["netns", "del", this.#name],
    ]) {
      try {
        ip(...args);
      } catch {
        // It was not made.
      }
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #inside(...args: readonly string[]): void {
    ip("-n", this.#name, ...args);
  }
}

/** Removes the remains of killed runs. */
function removeAbandoned(): void {
  const names = existsSync("/run/netns") ? readdirSync("/run/netns") : [];
  for (const name of names.filter((each) => each.startsWith(PREFIX) && !isRunning(each.slice(PREFIX.length)))) {
    ip("netns", "del", name);
  }
}

function ip(...args: readonly string[]): void {
  execFileSync("ip", args, { stdio: ["ignore", "ignore", "pipe"] });
}
