import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Peer } from "../../interop/peers.ts";
import { freePorts, ROOT } from "../index.ts";
import { waitFor } from "../wait.ts";

export interface TestTraefik extends TraefikPorts {
  readonly pid: number;
  close(): Promise<void>;
}

const PAGE = readFileSync(join(ROOT, "docs", "operations", "traefik.md"), "utf8");

/** The first block of that language on the page. */
export function printed(language: "sh" | "yaml"): string {
  const [, text] = new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, "s").exec(PAGE) ?? [];
  if (text === undefined) throw new Error(`docs/operations/traefik.md has no block of ${language}`);
  return text;
}

export interface TraefikPorts {
  readonly port: number;
  readonly tlsPort: number;
}

/** Starts Traefik with the configuration of `docs/operations/traefik.md` on the file of routes; only the ports are others. */
export async function startTraefik(peer: Peer, routesFile: string, ports?: TraefikPorts): Promise<TestTraefik> {
  const [port = 0, tlsPort = 0] = ports === undefined ? await freePorts(2) : [ports.port, ports.tlsPort];
  const file = join(peer.home, "traefik.yaml");
  const text = printed("yaml")
    .replace(":80", `127.0.0.1:${port}`)
    .replace(":443", `127.0.0.1:${tlsPort}`)
    .replace(/filename: .*/, `filename: ${routesFile}`);
  writeFileSync(file, text);
  const { process, output, ended } = peer.start([`--configfile=${file}`]);
  const close = async (): Promise<void> => {
    if (ended()) return;
    const gone = new Promise((resolve) => process.once("close", resolve));
    process.kill("SIGKILL");
    await gone;
  };
  const answers = async () => {
    if (ended()) throw new Error(`Traefik has ended: ${output()}`);
    return (await fetch(`http://127.0.0.1:${port}/`)).status === 404;
  };
  await waitFor(answers, "Traefik").catch(async (error: unknown) => {
    await close();
    throw error;
  });
  return { port, tlsPort, pid: process.pid ?? 0, close };
}
