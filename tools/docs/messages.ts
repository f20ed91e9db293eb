import type { DescField, DescMessage, DescMethod, DescService, FileRegistry } from "@bufbuild/protobuf";
import { defaultAppState } from "../../src/node/index.ts";
import { aminoName, cliOption, httpRule, messageAction, Scalar, scalarOf, signerPath } from "../../src/wire/index.ts";
import { code, page, table } from "./markdown.ts";
import { commentOf } from "./protos.ts";

const INTRO = `Messages that transactions carry, queries, and the types they are made of, from the files under \`proto/\`. Names are written
as in JSON; in protobuf the number counts. 64-bit integers are strings in JSON, decimals have 18 places, bytes are base64.

Type URLs, rpc paths and query paths are also understood with \`cosmos\` instead of \`sdk\`. A query is asked over JSON-RPC:
\`abci_query\` with the path of the rpc and the request in hexadecimal as \`data\`.

Where a message tells its gas, that is all it costs beside the bytes and signatures of its transaction (a parameter; this is
the default). Messages without it pay for what they read and write.`;

/** The page of messages, queries and types. */
export function messagesPage(registry: FileRegistry, gas: ReadonlyMap<string, string>): string {
  const services = [...registry].filter((type) => type.kind === "service");
  const ofKind = (name: string) =>
    services.filter((each) => each.name === name).toSorted((a, b) => a.typeName.localeCompare(b.typeName, "en"));
  const [msgs, queries] = [ofKind("Msg"), ofKind("Query")];
  return page("Messages and queries", [
    INTRO,
    elsewhere([...msgs, ...queries]),
    "## Messages",
    ...msgs.flatMap((service) => messageSections(service, gas)),
    "## Queries",
    ...queries.flatMap(querySections),
    "## Types",
    ...sharedTypes([...msgs, ...queries]).flatMap(typeSection),
  ]);
}

/** The modules that only other chains have. */
function elsewhere(services: readonly DescService[]): string {
  const own = new Set(Object.keys(defaultAppState()));
  const modules = services.map(({ typeName }) => typeName.split(".").slice(0, 2).join("."));
  const others = [...new Set(modules)].filter((name) => !own.has(name.split(".")[1] ?? "")).sort();
  return `Our chain does not have the modules ${others.map(code).join(", ")}: \`svc\` speaks to them as a client of other chains of the family.`;
}

function messageSections({ methods }: DescService, gas: ReadonlyMap<string, string>): string[] {
  return methods.flatMap((method) => [
    `### /${method.input.typeName}`,
    words(commentOf(method.input), cliOption(method)?.short),
    facts(method.input, gas.get(method.input.typeName)),
    fieldTable(method.input),
    method.output.fields.length === 0 ? "" : `Response:\n\n${fieldTable(method.output)}`,
  ]);
}

function facts(input: DescMessage, gas: string | undefined): string {
  const rows = [
    ["Signer", signerPath(input)],
    ["Action", messageAction(input)],
    ["Amino name", aminoName(input)],
    ["Gas", gas],
  ] as const;
  return rows.flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${code(value)}`])).join(" · ");
}

function querySections({ methods, typeName }: DescService): string[] {
  return methods.flatMap((method) => [
    `### /${typeName}/${method.name}`,
    words(commentOf(method), cliOption(method)?.short, restOf(method)),
    fieldTable(method.input),
    `Answer:\n\n${fieldTable(method.output)}`,
  ]);
}

function restOf(method: DescMethod): string {
  const rule = httpRule(method);
  return rule?.pattern.case === "get" ? `REST binding: ${code(`GET ${rule.pattern.value}`)}` : "";
}

/** Sentences, each with its full stop. */
function words(...texts: readonly (string | undefined)[]): string {
  const given = texts.filter((text) => text !== undefined && text !== "");
  return given.map((text) => (/[.!?]$/.test(text ?? "") ? text : `${text}.`)).join(" ");
}

function fieldTable(message: DescMessage): string {
  if (message.fields.length === 0) return "No fields.";
  return table(["No.", "Field", "Type", "Meaning"], message.fields.map(fieldRow));
}

function fieldRow(field: DescField): readonly string[] {
  return [field.number.toString(), code(field.name), code(typeText(field)), commentOf(field)];
}

const SCALARS: Readonly<Record<number, string>> = {
  1: "double",
  2: "float",
  3: "int64",
  4: "uint64",
  5: "int32",
  6: "fixed64",
  7: "fixed32",
  8: "bool",
  9: "string",
  12: "bytes",
  13: "uint32",
  15: "sfixed32",
  16: "sfixed64",
  17: "sint32",
  18: "sint64",
};

/** Meanings of texts and bytes, by the option of their field. */
const MEANINGS: Readonly<Partial<Record<Scalar, string>>> = {
  [Scalar.ADDRESS]: "string (address)",
  [Scalar.INT]: "string (integer)",
  [Scalar.DEC]: "string (decimal)",
  [Scalar.INT_BYTES]: "bytes (integer)",
  [Scalar.VALIDATOR_ADDRESS]: "string (validator address)",
  [Scalar.DEC_BYTES]: "bytes (decimal)",
};

function typeText(field: DescField): string {
  if (field.fieldKind === "map") return "map";
  const scalar = MEANINGS[scalarOf(field)] ?? SCALARS[field.scalar ?? 0] ?? "";
  const one = field.message?.typeName ?? field.enum?.typeName ?? scalar;
  return field.fieldKind === "list" ? `repeated ${one}` : one;
}

/** Messages that the fields of requests and answers are made of, by name. */
function sharedTypes(services: readonly DescService[]): DescMessage[] {
  const found = new Map<string, DescMessage>();
  const visit = (message: DescMessage): void => {
    for (const { message: inner } of message.fields) {
      if (inner === undefined || found.has(inner.typeName) || inner.typeName.startsWith("google.")) continue;
      found.set(inner.typeName, inner);
      visit(inner);
    }
  };
  for (const { methods } of services) {
    for (const { input, output } of methods) {
      visit(input);
      visit(output);
    }
  }
  return [...found.values()].toSorted((a, b) => (a.typeName < b.typeName ? -1 : 1));
}

function typeSection(message: DescMessage): string[] {
  return [`### ${message.typeName}`, words(commentOf(message)), fieldTable(message)];
}
