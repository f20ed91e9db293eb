import { basename } from "node:path";
import { create } from "@bufbuild/protobuf";
import { isEmail, isHostUri, isWebsite } from "../../../modules/provider/index.ts";
import {
  attributeFault,
  MAX_FILE_BYTES,
  type Parsed,
  parseDocumentText,
  Reader,
  Report,
  SdlError,
} from "../../../sdl/index.ts";
import { SvcError } from "../../../util/index.ts";
import { type Attribute, AttributeSchema } from "../../../wire/gen/svc/base/v1beta1/base_pb.js";
import {
  MsgCreateProviderSchema,
  MsgUpdateProviderSchema,
} from "../../../wire/gen/svc/provider/v1beta1/provider_pb.js";
import { packAny } from "../../../wire/index.ts";
import type { CommandInput } from "../../command/spec.ts";
import { commandError } from "../../errors.ts";
import { readTextFile } from "../../terminal/files.ts";
import { runTx } from "../session/run.ts";

/** `tx provider create FILE`. */
export function providerCreate(input: CommandInput): Promise<number> {
  return sendRecord(input, MsgCreateProviderSchema);
}

/** `tx provider update FILE`. */
export function providerUpdate(input: CommandInput): Promise<number> {
  return sendRecord(input, MsgUpdateProviderSchema);
}

async function sendRecord(
  input: CommandInput,
  schema: typeof MsgCreateProviderSchema | typeof MsgUpdateProviderSchema,
): Promise<number> {
  const { hostUri, attributes, info } = readProviderFile(input.args[0] ?? "");
  return runTx(input, ({ sender }) => [
    packAny(schema, { owner: sender.address, hostUri, attributes: [...attributes], info }),
  ]);
}

/** The provider's public record on the chain. */
interface ProviderFile {
  /** `https://<host>:8443`. */
  readonly hostUri: string;
  readonly attributes: readonly Attribute[];
  readonly info: { readonly email: string; readonly website: string };
}

const FILE_WANT = { what: "a provider file", remedy: "write host: https://provider.example.com:8443" };
const HOST_REMEDY = "write https://<host>:8443, without a path";
const LIST_WANT = { what: "a list of attributes", remedy: "write a list of {key: region, value: eu-west}" };
const ATTRIBUTE_WANT = { what: "an attribute", remedy: "write {key: region, value: eu-west}" };
const INFO_WANT = { what: "a map", remedy: "write info: {email: me@example.com, website: https://example.com}" };

/**
 * Reads `provider.yaml`: `host`, `attributes` as a list of key and value, `info` with email and website.
 * @throws SdlError with file, line and column of every fault
 */
function readProviderFile(path: string): ProviderFile {
  const hint = "give the path of a provider file, for example provider.yaml";
  const text = readTextFile(path, { what: "provider file", maxBytes: MAX_FILE_BYTES, hint });
  try {
    return parseProviderFile(text, basename(path));
  } catch (error) {
    throw error instanceof SdlError ? withForm(error) : error;
  }
}

/** The faults with the remedy for a provider file: `svc sdl validate` reads deployment files. */
function withForm({ codespace, code, message, issues }: SdlError): SvcError {
  const [first] = issues;
  const hint = `${first?.remedy ?? HOST_REMEDY}; a whole provider file is the example of: svc tx provider create --help`;
  return new SvcError(codespace, code, message, { hint });
}

export function parseProviderFile(text: string, file: string): ProviderFile {
  const report = new Report(file);
  const root = parseDocumentText(text, report);
  const reader = new Reader(report);
  const fields = root && reader.fields(root, { keys: ["host", "attributes", "info"] }, FILE_WANT);
  const host = fields?.require("host", HOST_REMEDY);
  const hostUri = host && reader.parsed(host, { what: "an address", remedy: HOST_REMEDY }, parseHostUri);
  const attributes = readAttributes(reader, fields);
  const info = readInfo(reader, fields);
  report.check();
  if (hostUri === undefined) throw commandError(`${file} has no host`, { hint: HOST_REMEDY });
  return { hostUri, attributes, info };
}

type Fields = ReturnType<Reader["fields"]>;

function readAttributes(reader: Reader, fields: Fields): ProviderFile["attributes"] {
  const attributes: Attribute[] = [];
  for (const item of reader.items(fields?.get("attributes"), LIST_WANT)) {
    const pair = reader.fields(item, { keys: ["key", "value"] }, ATTRIBUTE_WANT);
    const key = pair?.require("key", ATTRIBUTE_WANT.remedy);
    const value = pair?.require("value", ATTRIBUTE_WANT.remedy);
    const name = key && reader.text(key, { what: "text", remedy: "write a name such as region" });
    const text = value && reader.text(value, { what: "text", remedy: "write text" });
    if (name === undefined || text === undefined) continue;
    attributes.push(create(AttributeSchema, { key: name, value: text }));
    const fault = attributeFault(attributes, "offered");
    if (fault === undefined) continue;
    reader.report.error(item.place, "value", { problem: fault, remedy: "correct or remove this attribute" });
    attributes.pop();
  }
  return attributes;
}

function readInfo(reader: Reader, fields: Fields): ProviderFile["info"] {
  const node = fields?.get("info");
  const info = node && reader.fields(node, { keys: ["email", "website"] }, INFO_WANT);
  const email = info?.get("email");
  const website = info?.get("website");
  return {
    email: (email && reader.parsed(email, INFO_WANT, parseEmail)) ?? "",
    website: (website && reader.parsed(website, INFO_WANT, parseWebsite)) ?? "",
  };
}

function parseHostUri(text: string): Parsed<string> {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const remedy = HOST_REMEDY;
  if (url === undefined || url.hostname === "") return { problem: `"${cut(text)}" is not an address`, remedy };
  if (url.protocol !== "https:") return { problem: `"${cut(text)}" does not begin with https://`, remedy };
  const bare = url.username === "" && url.password === "" && url.search === "" && url.hash === "";
  if (!bare || url.pathname !== "/") return { problem: `"${cut(text)}" has more than host and port`, remedy };
  const uri = text.replace(/\/$/, "");
  if (!isHostUri(uri)) return { problem: `"${cut(text)}" is not an address that the chain accepts`, remedy };
  return { value: uri };
}

function parseEmail(text: string): Parsed<string> {
  if (isEmail(text)) return { value: text };
  return { problem: `"${cut(text)}" is not an email address`, remedy: "write name@example.com" };
}

function parseWebsite(text: string): Parsed<string> {
  if (URL.canParse(text) && isWebsite(text)) return { value: text };
  return { problem: `"${cut(text)}" is not a web address`, remedy: "write https://example.com" };
}

function cut(text: string): string {
  return text.slice(0, 64);
}
