import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { build, type Plugin } from "esbuild";
import { expect, test } from "vitest";
import { bakedDescriptors } from "../tools/baked-descriptors.mjs";
import { spawnSync } from "./support/bounded.ts";
import { ROOT } from "./support/build.ts";

/** Prints what the program reads of the descriptions of all messages and services. */
const PRINTER = `
import { allMessages, allServices } from "./src/wire/registry.ts";
import * as options from "./src/wire/options.ts";

const fieldOf = (field) => [
  field.name, field.number, field.jsonName, field.localName, field.fieldKind, field.scalar, field.listKind, field.mapKey,
  field.message?.typeName, field.enum?.typeName, field.oneof?.name, field.presence, field.packed,
  options.scalarOf(field), options.aminoKeepsEmpty(field), options.aminoFieldName(field), options.aminoOneofName(field),
];
const messages = allMessages().map((message) => [
  message.typeName, message.file.name, message.file.dependencies.map(({ name }) => name), message.fields.map(fieldOf),
  message.oneofs.map(({ name }) => name), message.nestedEnums.map(({ typeName, values }) => [typeName, values.map(({ name, number }) => [name, number])]),
  options.signerPath(message), options.aminoName(message), options.olderAminoName(message), options.messageAction(message),
]);
const services = allServices().map((service) => [
  service.typeName,
  service.methods.map((method) => [method.name, method.methodKind, method.input.typeName, method.output.typeName,
    options.httpRule(method), options.cliOption(method)]),
]);
console.log(JSON.stringify({ messages, services }, undefined, 1));
`;

/** Output of the printer bundled with these plugins. */
async function described(plugins: Plugin[]): Promise<string> {
  const folder = mkdtempSync(join(ROOT, "node_modules", ".described-"));
  try {
    const outfile = join(folder, "printer.mjs");
    const stdin = { contents: PRINTER, resolveDir: ROOT, loader: "js" as const };
    await build({ stdin, outfile, bundle: true, format: "esm", platform: "node", logLevel: "warning", plugins });
    const { stdout, stderr } = spawnSync(process.execPath, [outfile], {
      encoding: "utf8",
      maxBuffer: 64 * 1024 * 1024,
    });
    expect(stderr).toBe("");
    return stdout;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test("descriptions that the build read are those that the library reads", async () => {
  const ours = await described([bakedDescriptors]);
  expect(ours.length).toBeGreaterThan(100_000);
  expect(ours).toBe(await described([]));
});
