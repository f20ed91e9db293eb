import { stringify } from "yaml";
import { type ClusterInstallation, clusterKind, type InstalledObject } from "../../../provider/index.ts";
import { EXIT } from "../../../util/index.ts";
import type { JsonValue } from "../../../wire/index.ts";
import type { Flags } from "../../command/flags.ts";
import type { CommandInput } from "../../command/spec.ts";
import { createContext } from "../../context.ts";
import { usageError } from "../../errors.ts";
import type { OutputFormat } from "../../terminal/output.ts";
import { printResult } from "../../terminal/output.ts";
import { givenConfiguration } from "../run/cluster.ts";

/** A namespace, as clusters take its name. */
const SPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
/** Where descriptions of leases lie, and nothing runs. */
const KEPT = "lease";

/** `svc provider cluster install`. */
export async function providerClusterInstall(input: CommandInput): Promise<number> {
  const { flags, io, output } = createContext(input);
  const namespace = spaceOf(flags);
  const installation = installationOf(clusterKind({ orchestrator: true }).installation);
  if (flags.bool("dry-run")) {
    io.out(manifestText(await installation.objects(namespace), output));
    return EXIT.done;
  }
  const address = givenConfiguration(flags);
  const objects = await installation.install(namespace, address);
  if (output === "json") printResult({ namespace, objects: objects.map((each) => ({ ...each })) }, output, io);
  else io.out(objects.map(lineOf).join(""));
  return EXIT.done;
}

function spaceOf(flags: Flags): string {
  const name = flags.text("provider-namespace");
  const label = flags.label("provider-namespace");
  if (!SPACE.test(name))
    throw usageError(`${label}: ${name} is not the name of a namespace; write one such as svc-provider`);
  if (name === KEPT) throw usageError(`${label}: ${KEPT} is reserved for the records of leases; choose another one`);
  return name;
}

function installationOf(installation: ClusterInstallation | undefined): ClusterInstallation {
  if (installation === undefined) throw new Error("no kind of cluster is prepared");
  return installation;
}

/** What `kubectl apply -f -` takes. */
function manifestText(objects: readonly object[], output: OutputFormat): string {
  if (output === "json") return `${JSON.stringify({ apiVersion: "v1", kind: "List", items: objects as JsonValue })}\n`;
  return objects.map((each) => `---\n${stringify(each, { lineWidth: 0, aliasDuplicateObjects: false })}`).join("");
}

function lineOf({ kind, name, namespace, result }: InstalledObject): string {
  return `${result.padEnd("unchanged".length)}  ${kind} ${namespace === undefined ? "" : `${namespace}/`}${name}\n`;
}
