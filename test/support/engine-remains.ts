import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";
import { Firewall } from "../../src/provider/cluster/docker/host/firewall.ts";
import { LABEL, Naming } from "../../src/provider/cluster/docker/labels.ts";
import { removeDocker } from "../e2e/docker-engine.ts";
import { podmanOn } from "../e2e/engine.ts";
import { killProcessesOn, removeFolder } from "./abandoned.ts";
import { removeDeadPorts } from "./dead-ports.ts";

const run = promisify(execFile);

/** Time limit of the programs below. */
const PATIENCE = { timeout: 60_000, killSignal: "SIGKILL" } as const;

/** Folders of container engines whose test was killed. */
export interface EngineFolders {
  readonly podman: readonly string[];
  readonly docker: readonly string[];
}

/** Removes the engines in those folders, and ports of the machine that lead to networks which no longer exist. */
export async function removeRemains({ podman, docker }: EngineFolders): Promise<void> {
  for (const folder of podman) {
    console.log(`removing ${folder}, left by a test run that was killed`);
    // Without its settings it never began.
    if (existsSync(podmanOn(folder).env.CONTAINERS_CONF ?? "")) await removeContainers(folder);
    // The engine itself, if only the test was killed.
    killProcessesOn(folder);
    removeFolder(folder);
  }
  for (const folder of docker) await removeDocker(folder);
  await removeDeadPorts();
}

async function removeContainers(folder: string): Promise<void> {
  const { storage, env } = podmanOn(folder);
  const options = { ...PATIENCE, env: { ...process.env, ...env } };
  const podman = async (...args: string[]) => (await run("podman", [...storage, ...args], options)).stdout;
  const homes = await podman("ps", "--all", "--format", `{{index .Labels "${LABEL.home}"}}`);
  await podman("rm", "--all", "--force", "--time", "0");
  for (const home of new Set(homes.split("\n").filter(Boolean))) {
    const networks = await podman("network", "ls", "--quiet", "--filter", `label=${LABEL.home}=${home}`);
    for (const name of networks.split("\n").filter(Boolean)) await podman("network", "rm", "--force", name);
    await new Firewall(new Naming(home)).clear();
  }
}
