import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { page, table } from "./markdown.ts";

const INTRO = `A transaction's events stand in \`logs\` and \`raw_log\` of its result, grouped by type and without \`msg_index\`; those of a block
come from \`block_results\`. Stored events of messages carry a last attribute \`msg_index\`. Every attribute is searchable:
\`svc query txs --events 'transfer.recipient=<address>'\`.

Events of the marketplace have the type \`svc.v1\` and name \`module\`, \`action\` and the ids (\`owner\`, \`dseq\`, \`gseq\`, \`oseq\`,
\`provider\`, as far as they apply). Where something ends, \`reason\` says why.`;

const COMMON: readonly (readonly string[])[] = [
  ["`tx`", "`acc_seq` (address/sequence), `signature` (base64), `fee` and `fee_payer`", "each transaction"],
  ["`message`", "`action`: the message's action; see [messages](messages.md)", "each message"],
  ["`transfer`", "`recipient`, `sender`, `amount`", "each movement of coins, the fee among them"],
  ["`message`", "`sender`", "behind each `transfer`"],
  [
    "`block_item_failed`",
    "`item`, `codespace`, `code`, `reason`",
    "work at the end of a block that failed and will be tried again",
  ],
];

/** The page of events: first the common ones, then the line of each module's README. */
export function eventsPage(root: string): string {
  return page("Events", [
    INTRO,
    "## Common",
    table(["Type", "Attributes", "When"], COMMON),
    "## Of the modules",
    table(["Module", "Events"], moduleRows(root)),
  ]);
}

function moduleRows(root: string): (readonly string[])[] {
  const modules = join(root, "src", "modules");
  return readdirSync(modules)
    .toSorted()
    .flatMap((name) => {
      const readme = readFileSync(join(modules, name, "README.md"), "utf8");
      const [, text = ""] = /^\| *Events *\| *(.*?) *\|$/m.exec(readme) ?? [];
      return text === "" ? [] : [[name, text]];
    });
}
