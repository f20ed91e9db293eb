import type { ManifestCredentials } from "../manifest.ts";
import type { MountDecl, ParamsDecl, SdlVersion, ServiceDecl } from "../model.ts";
import type { Entry, Node } from "../yaml/document.ts";
import type { Fields, Reader, Want } from "../yaml/fields.ts";
import { SERVICE_HABITS } from "../yaml/habits.ts";
import { checkImage, checkMount, checkServiceName, checkVariable } from "../yaml/names.ts";
import { readExposes } from "./expose.ts";

const SERVICE_WANT: Want = { what: "a service", remedy: "write image: and expose: below the name" };
const SERVICE_SHAPE = {
  keys: ["image", "command", "args", "env", "expose", "params", "credentials", "dependencies"],
  habits: SERVICE_HABITS,
};
const IMAGE_WANT: Want = { what: "the name of an image", remedy: "write for example docker.io/library/nginx:1.27" };

/** `services.<name>`. */
export function readService(reader: Reader, entry: Entry, version: SdlVersion): ServiceDecl | undefined {
  const name = checkServiceName(entry.key);
  if (!("value" in name)) reader.report.error(entry.place, "value", name);
  const fields = reader.fields(entry.value, SERVICE_SHAPE, SERVICE_WANT);
  if (fields === undefined) return undefined;
  const image = fields.require("image", "write image: and its name, for example docker.io/library/nginx:1.27");
  readDependencies(reader, fields.get("dependencies"));
  return {
    name: entry.key,
    place: entry.place,
    image: (image && reader.parsed(image, IMAGE_WANT, checkImage)) ?? "",
    command: readWords(reader, fields, "command"),
    args: readWords(reader, fields, "args"),
    env: readEnvironment(reader, fields.get("env")),
    expose: readExposes(reader, fields.get("expose")),
    params: readParams(reader, fields.get("params")),
    credentials: readCredentials(reader, fields.get("credentials"), version),
  };
}

function readWords(reader: Reader, fields: Fields, key: "command" | "args"): readonly string[] | null {
  const node = fields.get(key);
  const words = reader.texts(node, { what: "a list of words", remedy: wordsRemedy(key, node) });
  if (node !== undefined && words?.some((word) => word.includes("\0"))) {
    reader.report.error(node.place, "value", { problem: "a word holds a NUL byte", remedy: "remove it" });
  }
  return words === undefined || words.length === 0 ? null : words;
}

function wordsRemedy(key: string, node: Node | undefined): string {
  if (node?.kind !== "scalar") return `write ${key}: ["word", "word"]`;
  const simple = node.text.length <= 60 && /^[\w./:=@ -]+$/.test(node.text);
  const words = simple ? node.text.trim().split(/ +/) : ["sh", "-c", "..."];
  return `write ${key}: ${JSON.stringify(words).replaceAll(",", ", ")}`;
}

function readEnvironment(reader: Reader, node: Node | undefined): readonly string[] | null {
  const items = reader.items(node, { what: "a list of variables", remedy: "write env: with a list of - NAME=value" });
  const variables = items.flatMap((item) => readVariable(reader, item));
  const seen = new Set<string>();
  for (const { name, item } of variables) {
    if (seen.has(name)) {
      reader.report.warn(item.place, "conflict", {
        problem: `${name} is set twice`,
        remedy: "keep one: the last counts",
      });
    }
    seen.add(name);
  }
  return variables.length === 0 ? null : variables.map(({ text }) => text);
}

interface Variable {
  readonly name: string;
  readonly text: string;
  readonly item: Node;
}

function readVariable(reader: Reader, item: Node): readonly Variable[] {
  const key = item.kind === "map" ? [...item.entries.keys()][0] : undefined;
  const remedy = key === undefined ? "write NAME=value" : `write - ${key.slice(0, 64)}=value`;
  const name = reader.parsed(item, { what: "a variable", remedy }, checkVariable);
  return name === undefined || item.kind !== "scalar" ? [] : [{ name, text: item.text, item }];
}

/** The list is accepted for the sake of existing files; services always start together. */
function readDependencies(reader: Reader, node: Node | undefined): void {
  const want = { what: "a list of services", remedy: "remove it: services start together" };
  for (const item of reader.items(node, want)) {
    const fields = reader.fields(
      item,
      { keys: ["service"] },
      { what: "a dependency", remedy: "write - service: NAME" },
    );
    const service = fields?.get("service");
    if (service !== undefined) reader.text(service, { what: "the name of a service", remedy: "write a name" });
  }
}

const CREDENTIAL_SHAPE = { keys: ["host", "email", "username", "password"] };
const CREDENTIALS_WANT: Want = { what: "a map", remedy: "write host:, username: and password: below credentials" };

function readCredentials(reader: Reader, node: Node | undefined, version: SdlVersion): ManifestCredentials | null {
  const fields = node === undefined ? undefined : reader.fields(node, CREDENTIAL_SHAPE, CREDENTIALS_WANT);
  if (fields === undefined) return null;
  const required = (key: string): string => {
    const remedy = `write ${key}: and the ${key} of the registry account`;
    const value = fields.require(key, remedy);
    return value === undefined ? "" : readSecret(reader, value, { key, min: key === "password" ? 6 : 1 });
  };
  const email = fields.get("email");
  const credentials = {
    host: required("host"),
    email: email === undefined ? "" : readSecret(reader, email, { key: "email", min: 5 }),
    username: required("username"),
    password: required("password"),
  };
  // The forms that enter the manifest hash: 2.0 keeps spaces and has no e-mail address.
  return version === "2.0" ? { ...credentials, email: "" } : trimmed(credentials);
}

/** Never quotes the value in an error. */
function readSecret(reader: Reader, node: Node, rule: { readonly key: string; readonly min: number }): string {
  if (node.kind === "scalar" && node.text.trim().length >= rule.min) return node.text;
  const problem = node.kind === "scalar" ? `the ${rule.key} is too short` : `a ${node.kind} is not a ${rule.key}`;
  reader.report.error(node.place, "value", { problem, remedy: `write text of at least ${rule.min} characters` });
  return "";
}

function trimmed(credentials: ManifestCredentials): ManifestCredentials {
  return {
    host: credentials.host.trim(),
    email: credentials.email.trim(),
    username: credentials.username.trim(),
    password: credentials.password.trim(),
  };
}

const PARAMS_SHAPE = { keys: ["storage", "permissions", "tee"] };
const PERMISSIONS = ["deployment", "logs", "events"] as const;
const TEE_TYPES = ["cpu", "cpu-gpu"] as const;

function readParams(reader: Reader, node: Node | undefined): ParamsDecl | undefined {
  const want = { what: "a map of parameters", remedy: "write params: {storage: {data: {mount: /data}}}" };
  const fields = node === undefined ? undefined : reader.fields(node, PARAMS_SHAPE, want);
  if (fields === undefined) return undefined;
  const tee = fields.get("tee");
  return {
    place: fields.place,
    mounts: readMounts(reader, fields.get("storage")),
    permissions: readPermissions(reader, fields.get("permissions")),
    permissionsPlace: fields.entry("permissions")?.place,
    tee: tee === undefined ? undefined : reader.oneOf(tee, TEE_TYPES, "a kind of protected machine"),
  };
}

function readMounts(reader: Reader, node: Node | undefined): readonly MountDecl[] {
  const want = { what: "a map of volumes", remedy: "write storage: {data: {mount: /data}}" };
  const mounts: MountDecl[] = [];
  for (const entry of reader.named(node, want)?.values() ?? []) {
    const fields = reader.fields(entry.value, { keys: ["mount", "readOnly"] }, MOUNT_WANT);
    if (fields !== undefined) mounts.push(readMount(reader, entry, fields));
  }
  return mounts.sort((a, b) => (a.volume < b.volume ? -1 : 1));
}

const MOUNT_WANT: Want = { what: "a mounted volume", remedy: "write mount: /data below the name of the volume" };

function readMount(reader: Reader, entry: Entry, fields: Fields): MountDecl {
  const mount = fields.require("mount", "write mount: and an absolute path, for example mount: /data");
  const readOnly = fields.get("readOnly");
  return {
    volume: entry.key,
    place: mount?.place ?? entry.place,
    mount: (mount && reader.parsed(mount, MOUNT_WANT, checkMount)) ?? "",
    readOnly: readOnly === undefined ? false : (reader.flag(readOnly) ?? false),
  };
}

function readPermissions(reader: Reader, node: Node | undefined): readonly string[] | undefined {
  const want = { what: "a map of permissions", remedy: "write permissions: {read: [logs]}" };
  const fields = node === undefined ? undefined : reader.fields(node, { keys: ["read"] }, want);
  if (fields === undefined) return undefined;
  const items = reader.items(fields.get("read"), { what: "a list of permissions", remedy: "write read: [logs]" });
  return items.flatMap((item) => reader.oneOf(item, PERMISSIONS, "a permission") ?? []);
}
