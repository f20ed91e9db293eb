import type { Peer } from "../../interop/peers.ts";
import { freePorts } from "../index.ts";
import { waitFor } from "../wait.ts";

export interface TestTraefik {
  readonly port: number;
  readonly tlsPort: number;
  close(): Promise<void>;
}

/** Starts Traefik as `docs/operations/traefik.md` says, with ports of its own, on the file of routes. */
export async function startTraefik(peer: Peer, routesFile: string): Promise<TestTraefik> {
  const [port = 0, tlsPort = 0] = await freePorts(2);
  const { process, output, ended } = peer.start([
    "--global.checknewversion=false",
    "--global.sendanonymoususage=false",
    "--log.level=INFO",
    `--entrypoints.web.address=127.0.0.1:${port}`,
    `--entrypoints.websecure.address=127.0.0.1:${tlsPort}`,
    "--entrypoints.websecure.http.tls=true",
    `--providers.file.filename=${routesFile}`,
    "--providers.providersthrottleduration=100ms",
  ]);
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
  return { port, tlsPort, close };
}
