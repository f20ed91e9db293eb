import { stat } from "node:fs/promises";
import { platform } from "node:os";
import { errorText } from "../../../../util/index.ts";
import { clusterErrors } from "../../contract/index.ts";
import { EngineApi } from "./api.ts";

export interface FoundEngine {
  /** For `DockerOptions.socket`. */
  readonly socket: string;
  /** `podman` or `docker`. */
  readonly kind: string;
  readonly version: string;
}

/** Milliseconds for an answer: of one of the usual sockets, and of the operator's named one. */
const PATIENCE = { usual: 5_000, named: 60_000 };

/**
 * Finds a container engine that answers: the given address, otherwise `DOCKER_HOST`, otherwise the usual sockets in
 * order. Rejects with the tried places and the package to install. A named engine is waited for: a busy one must not
 * keep a provider from starting.
 */
export async function discoverEngine(
  given?: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
  patience = PATIENCE,
): Promise<FoundEngine> {
  const tried: string[] = [];
  const isNamed = [given, env.DOCKER_HOST].some((each) => each !== undefined && each !== "");
  for (const socket of candidates(given, env)) {
    try {
      return await probe(socket, isNamed ? patience.named : patience.usual);
    } catch (error) {
      tried.push(`${socket}: ${errorText(error)}`);
    }
  }
  throw clusterErrors.notFound(tried.join("; "), { hint: remedy(platform(), given ?? env.DOCKER_HOST) });
}

function candidates(given: string | undefined, env: Readonly<Record<string, string | undefined>>): string[] {
  if (given !== undefined && given !== "") return [given];
  const host = env.DOCKER_HOST;
  if (host !== undefined && host !== "") return [host];
  const runtime = env.XDG_RUNTIME_DIR;
  const home = env.HOME;
  return [
    "/run/podman/podman.sock",
    ...(runtime === undefined || runtime === "" ? [] : [`${runtime}/podman/podman.sock`]),
    "/var/run/docker.sock",
    ...(platform() === "darwin" && home !== undefined ? [`${home}/.docker/run/docker.sock`] : []),
  ];
}

async function probe(socket: string, timeoutMs: number): Promise<FoundEngine> {
  const path = socket.replace(/^unix:\/\//, "");
  if (path.startsWith("/")) {
    const info = await stat(path).catch(() => undefined);
    if (info === undefined) throw new Error("no such socket");
    if (!info.isSocket()) throw new Error("not a socket");
  }
  const api = await EngineApi.open(socket, { call: timeoutMs, work: timeoutMs });
  const { kind, version } = await api.ping();
  return { socket, kind, version };
}

/** The next step, by operating system. */
export function remedy(system: string, given: string | undefined): string {
  if (given !== undefined && given !== "") return `start the engine that serves ${given}, or name another socket`;
  if (system === "linux") {
    return "as root on Debian or Ubuntu: apt-get install podman, then podman system service --time=0 unix:///run/podman/podman.sock";
  }
  if (system === "darwin") return "install and start Podman Desktop or Docker Desktop";
  return "run the provider on Linux with Podman or Docker installed";
}
