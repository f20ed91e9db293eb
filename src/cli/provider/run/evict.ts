import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { marketReader } from "../../../client/index.ts";
import { knownChain, leaseNamespace } from "../../../provider/index.ts";
import { EXIT, errorText } from "../../../util/index.ts";
import { formatLeaseId, type LeaseKey, parseLeaseId } from "../../../wire/index.ts";
import type { CommandInput } from "../../command/spec.ts";
import { lockHome } from "../../config/home-lock.ts";
import { type CliContext, createContext } from "../../context/context.ts";
import { commandError, usageError } from "../../errors.ts";
import { printAs } from "../../terminal/output.ts";
import { openForRemoval } from "./cluster.ts";
import { providerDir } from "./config.ts";

/** `svc provider evict`: ends a workload that the chain does not know. */
export async function providerEvict(input: CommandInput): Promise<number> {
  const context = createContext(input);
  const { flags, io } = input;
  const id = leaseArgument(input.args[0] ?? "");
  const state = providerDir(context.home);
  if (!existsSync(state))
    throw commandError(`no provider has ever run in ${context.home}`, { hint: "name its home with --home" });
  const lock = lockHome(state, { text: `the provider of ${context.home} is running`, hint: "stop it first" });
  try {
    const driver = await openForRemoval(flags, context.home);
    try {
      const text = formatLeaseId(id);
      const here = (await driver.adopt()).map((lease) => formatLeaseId(lease.id));
      if (!here.includes(text)) {
        const hint = here.length === 0 ? "nothing is left here" : `here are: ${here.join(", ")}`;
        throw commandError(`no workload of lease ${text} runs here`, { hint });
      }
      await checkUnknown(context, id, state);
      const question = `remove containers and volumes of ${text} for good`;
      if (!flags.bool("yes") && !(await io.confirm(question))) throw commandError("nothing was removed");
      await driver.teardown(id);
    } finally {
      await driver.close();
    }
    removeRecord(state, id);
    const lease = formatLeaseId(id);
    printAs(input, { lease }, `${lease}\n`);
    return EXIT.done;
  } finally {
    lock.release();
  }
}

function leaseArgument(text: string): LeaseKey {
  try {
    return parseLeaseId(text);
  } catch (error) {
    throw usageError(`${errorText(error)}: write a lease as <owner>/<dseq>/<gseq>/<oseq>/<provider>`);
  }
}

/**
 * The provider ends by itself what the chain says has ended, and a chain that knows the lease as active is paying for it.
 * A chain that started over says nothing about the workloads of the one before.
 */
async function checkUnknown(context: CliContext, id: LeaseKey, state: string): Promise<void> {
  const chain = await context.chain();
  try {
    const known = knownChain(state);
    if (known !== undefined && known.genesis !== (await chain.node.genesisHash())) return;
    const lease = await marketReader(chain.query).lease(id);
    if (lease?.state !== "active") return;
    throw commandError(`lease ${formatLeaseId(id)} is active on the chain`, {
      hint: "close it there first: svc tx market bid close",
    });
  } finally {
    chain.close();
  }
}

function removeRecord(state: string, id: LeaseKey): void {
  const name = leaseNamespace(id);
  rmSync(join(state, "leases", `${name}.json`), { recursive: true, force: true });
  rmSync(join(state, "events", `${name}.jsonl`), { recursive: true, force: true });
}
