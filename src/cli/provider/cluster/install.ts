import { stringify } from "yaml";
import type { InstalledObject } from "../../../provider/index.ts";
import { EXIT, settingReader } from "../../../util/index.ts";
import type { JsonValue } from "../../../wire/index.ts";
import { flagSettings } from "../../command/flag-settings.ts";
import type { CommandInput } from "../../command/spec.ts";
import { createContext } from "../../context/context.ts";
import type { OutputFormat } from "../../terminal/output.ts";
import { printResult } from "../../terminal/output.ts";
import { chosenKind, PREPARED_KINDS } from "../run/cluster.ts";

/** `svc provider cluster install`. */
export async function providerClusterInstall(input: CommandInput): Promise<number> {
  const { flags, io, output } = createContext(input);
  const { installation } = chosenKind(flags, PREPARED_KINDS);
  if (installation === undefined) throw new Error("clusters of this kind are not prepared");
  const { namespace, ...prepared } = installation.configure(settingReader(flagSettings(flags)));
  if (flags.bool("dry-run")) {
    io.out(manifestText(await prepared.objects(), output));
    return EXIT.done;
  }
  const objects = await prepared.install();
  if (output === "json") printResult({ namespace, objects: objects.map((each) => ({ ...each })) }, output, io);
  else io.out(objects.map(lineOf).join(""));
  return EXIT.done;
}

/** The input of `kubectl apply -f -`. */
function manifestText(objects: readonly object[], output: OutputFormat): string {
  if (output === "json") return `${JSON.stringify({ apiVersion: "v1", kind: "List", items: objects as JsonValue })}\n`;
  return objects.map((each) => `---\n${stringify(each, { lineWidth: 0, aliasDuplicateObjects: false })}`).join("");
}

function lineOf({ kind, name, namespace, result }: InstalledObject): string {
  return `${result.padEnd("unchanged".length)}  ${kind} ${namespace === undefined ? "" : `${namespace}/`}${name}\n`;
}
