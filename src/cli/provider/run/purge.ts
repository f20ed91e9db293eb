import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { CLUSTER_KINDS, endPlane } from "../../../provider/index.ts";
import { EXIT } from "../../../util/index.ts";
import { formatLeaseId } from "../../../wire/index.ts";
import { homeOf } from "../../command/home.ts";
import type { CommandInput } from "../../command/spec.ts";
import { lockHome } from "../../config/home-lock.ts";
import { commandError } from "../../errors.ts";
import { printAs } from "../../terminal/output.ts";
import { openForRemoval } from "./cluster.ts";
import { providerDir } from "./config.ts";

/** `svc provider purge`: for workloads whose end no chain will ever report. */
export async function providerPurge(input: CommandInput): Promise<number> {
  const { flags, io } = input;
  const home = homeOf(flags);
  const state = providerDir(home);
  if (!existsSync(state))
    throw commandError(`no provider has ever run in ${home}`, { hint: "name its home with --home" });
  const lock = lockHome(state, { text: `the provider of ${home} is running`, hint: "stop it first" });
  try {
    const driver = await openForRemoval(flags, home);
    try {
      const leases = (await driver.adopt()).map(({ id }) => formatLeaseId(id));
      printAs(input, { leases }, leases.map((lease) => `${lease}\n`).join(""));
      const question = `remove containers and volumes of ${leases.length} leases for good, whatever the chain says about them`;
      if (!flags.bool("yes") && !(await io.confirm(question))) throw commandError("nothing was removed");
      await endPlane(state);
      await driver.purge();
    } finally {
      await driver.close();
    }
    removeRecords(state);
    return EXIT.done;
  } finally {
    lock.release();
  }
}

/** Removes the daemon's records of leases; the folder itself holds the lock. */
function removeRecords(state: string): void {
  const drivers = CLUSTER_KINDS.map(({ folder }) => folder);
  for (const name of ["leases", "events", "reservations.json", "reservations.jsonl", ...drivers, "chain.json"])
    rmSync(join(state, name), { recursive: true, force: true });
}
