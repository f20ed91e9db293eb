import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { basename } from "node:path";
import { promisify } from "node:util";
import { Firewall } from "../../src/provider/cluster/docker/host/firewall.ts";
import { LABEL, Naming } from "../../src/provider/cluster/docker/labels.ts";
import { DOCKER_FOLDER, removeDocker } from "../e2e/docker-engine.ts";
import { ENGINE_FOLDER, podmanOn } from "../e2e/engine.ts";
import { killProcessesOn, makeOwnedFolder, removeFolder, takeAbandonedFolders } from "./abandoned.ts";
import { removeDeadPorts } from "./dead-ports.ts";
import { removeGroups } from "./machine-room.ts";
import { RUN_FOLDER, runFolder } from "./run-folder.ts";

const run = promisify(execFile);

/** Time limit of the programs below. */
const PATIENCE = { timeout: 60_000, killSignal: "SIGKILL" } as const;

/**
 * Before any test: removes what killed test runs left. The ports that their containers published would keep leading
 * nowhere, and take the connections of the next listener there.
 */
export async function sweep(): Promise<void> {
  for (const folder of takeAbandonedFolders(ENGINE_FOLDER)) {
    console.log(`removing ${folder}, left by a test run that was killed`);
    // Without its settings it never began.
    if (existsSync(podmanOn(folder).env.CONTAINERS_CONF ?? "")) await removeContainers(folder);
    // The engine itself, if only the test was killed.
    killProcessesOn(folder);
    removeFolder(folder);
  }
  for (const folder of takeAbandonedFolders(DOCKER_FOLDER)) await removeDocker(folder);
  for (const folder of takeAbandonedFolders("svc-test-")) {
    removeGroups(basename(folder));
    removeFolder(folder);
  }
  takeAbandonedFolders(RUN_FOLDER).forEach(removeFolder);
  await removeDeadPorts();
}

/** Before the tests of a run. */
export async function setup(): Promise<void> {
  await sweep();
  makeOwnedFolder(runFolder());
}

/** After them. */
export function teardown(): void {
  removeFolder(runFolder());
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
    const naming = new Naming(home);
    await new Firewall(naming.chain, naming.bridgePrefix).clear();
  }
}
