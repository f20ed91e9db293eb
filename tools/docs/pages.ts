import { cliPage } from "./cli.ts";
import { errorsPage } from "./errors.ts";
import { eventsPage } from "./events.ts";
import { libraryPage } from "./library.ts";
import { messagesPage } from "./messages.ts";
import { messageGas, paramsPage } from "./params.ts";
import { protoRegistry } from "./protos.ts";

/** The generated pages by file name. `root` is the folder of the checkout. */
export async function referencePages(root: string): Promise<ReadonlyMap<string, string>> {
  const registry = protoRegistry(root);
  return new Map([
    ["cli.md", await cliPage()],
    ["errors.md", errorsPage()],
    ["events.md", eventsPage(root)],
    ["library.md", libraryPage(root)],
    ["messages.md", messagesPage(registry, messageGas())],
    ["params.md", paramsPage(registry)],
  ]);
}
