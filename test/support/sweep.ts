import { basename } from "node:path";
import { run } from "../../src/provider/cluster/docker/host/command.ts";
import { ENGINES, makeOwnedFolder, removeFolder, takeAbandonedFolders } from "./abandoned.ts";
import { removeGroups } from "./machine-room.ts";
import { RUN_FOLDER, runFolder } from "./run-folder.ts";

/**
 * Before any test: removes what killed test runs left. The ports that their containers published would keep leading
 * nowhere, and take the connections of the next listener there.
 */
export async function sweep(): Promise<void> {
  const podman = takeAbandonedFolders(ENGINES.podman);
  const docker = takeAbandonedFolders(ENGINES.docker);
  // Loaded only where there is something: it needs half of the sources, which takes seconds.
  if (podman.length > 0 || docker.length > 0 || (await hasPorts())) {
    const { removeRemains } = await import("./engine-remains.ts");
    await removeRemains({ podman, docker });
  }
  for (const folder of takeAbandonedFolders("svc-test-")) {
    removeGroups(basename(folder));
    removeFolder(folder);
  }
  takeAbandonedFolders(RUN_FOLDER).forEach(removeFolder);
}

/** Whether a port of this machine leads anywhere else. */
async function hasPorts(): Promise<boolean> {
  const rules = await run("iptables", ["-w", "10", "-t", "nat", "-S"]).catch(() => "");
  return rules.includes("--to-destination");
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
