// Generated files hold the description of their messages as base64 of a protobuf message, and to read it the library
// first builds the description of descriptions: together this takes a tenth of the time of a short command. The build
// reads the descriptions instead, and the bundle has them as JSON, in the same shape.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { create, fromBinary } from "@bufbuild/protobuf";
import * as descriptor from "@bufbuild/protobuf/wkt";
import { build as bundle } from "esbuild";
import { restoreJsonNames } from "../node_modules/@bufbuild/protobuf/dist/esm/codegenv2/restore-json-names.js";

const FILE_DESC = /fileDesc\("([A-Za-z0-9+/=]*)"/;
const READER = new URL("./baked-file.js", import.meta.url);
/** The library's description of descriptions. */
const DESCRIPTIONS = join("google", "protobuf", "descriptor_pb.js");
/** Messages of descriptor.proto that carry options: all that a bundle needs from that file. */
const EXTENDED = ["File", "Message", "Field", "Oneof", "Enum", "EnumValue", "Service", "Method"].map(
  (name) => `${name}Options`,
);

/** Every kind of message that a description is made of; its number stands for it in JSON. */
const KINDS = Object.values(descriptor.file_google_protobuf_descriptor.messages).flatMap(function withNested(message) {
  return [message, ...message.nestedMessages.flatMap(withNested)];
});

/** A message as `[number of its kind, set fields]`, with base64 for bytes. */
function bake(message) {
  const kind = KINDS.findIndex(({ typeName }) => typeName === message.$typeName);
  const set = Object.entries(message).filter(([name, value]) => name !== "$typeName" && !isEmpty(value));
  return [kind, Object.fromEntries(set.map(([name, value]) => [name, bakeValue(name, value)]))];
}

function isEmpty(value) {
  return value === undefined || (Array.isArray(value) && value.length === 0);
}

function bakeValue(name, value) {
  if (name === "$unknown")
    return value.map((field) => ({ ...field, data: Buffer.from(field.data).toString("base64") }));
  if (Array.isArray(value)) return value.map((item) => bakeValue("", item));
  if (typeof value === "bigint" || value instanceof Uint8Array)
    throw new Error(`a description holds ${name}: ${value}`);
  return typeof value === "object" ? bake(value) : value;
}

function bakedFile(base64) {
  const file = fromBinary(descriptor.FileDescriptorProtoSchema, Buffer.from(base64, "base64"));
  file.messageType.forEach(restoreJsonNames);
  return JSON.stringify(bake(file));
}

/** Default values of a message. */
function defaults(schema) {
  const message = create(schema);
  const all = Object.entries({ ...Object.getPrototypeOf(message), ...message });
  // An option that was never interpreted holds big numbers and bytes; compiled files have none.
  return Object.fromEntries(all.filter(([, value]) => typeof value !== "bigint" && !(value instanceof Uint8Array)));
}

/** descriptor.proto with the names of the extended messages. */
function extendedFile() {
  const messageType = EXTENDED.map((name) => create(descriptor.DescriptorProtoSchema, { name }));
  const file = { name: "google/protobuf/descriptor.proto", package: "google.protobuf", syntax: "proto2", messageType };
  const json = JSON.stringify(bake(create(descriptor.FileDescriptorProtoSchema, file)));
  // The gRPC server asks which rpcs may be called by GET.
  const idempotency = JSON.stringify(descriptor.MethodOptions_IdempotencyLevel);
  return `import { fileDesc } from "../../../codegenv2/file.js";
export const MethodOptions_IdempotencyLevel = ${idempotency};
export const file_google_protobuf_descriptor = /*@__PURE__*/ fileDesc(${JSON.stringify(json)});`;
}

/** esbuild plugin: descriptions of messages are read at build time. */
export const bakedDescriptors = {
  name: "baked-descriptors",
  setup(build) {
    build.onLoad({ filter: /_pb\.js$/ }, ({ path }) => {
      if (path.endsWith(DESCRIPTIONS)) return { contents: extendedFile(), loader: "js" };
      const text = readFileSync(path, "utf8");
      const contents = text.replace(FILE_DESC, (_, base64) => `fileDesc(${JSON.stringify(bakedFile(base64))}`);
      if (contents === text && text.includes("fileDesc("))
        throw new Error(`${path} describes its messages in another way`);
      return { contents, loader: "js" };
    });
    build.onLoad({ filter: /[\\/]codegenv2[\\/]embed\.js$/ }, () => ({ contents: "export {};", loader: "js" }));
    build.onLoad({ filter: /[\\/]codegenv2[\\/]file\.js$/ }, () => {
      const kinds = JSON.stringify(KINDS.map(defaults));
      return { contents: readFileSync(READER, "utf8").replace("globalThis.BAKED_KINDS", () => kinds), loader: "js" };
    });
  },
};

/**
 * The descriptions of all files as reflection returns them, from the function that makes them when nothing is bundled.
 */
async function descriptorFiles(path) {
  const options = { entryPoints: [path], bundle: true, write: false, format: "esm", platform: "node" };
  const { outputFiles } = await bundle(options);
  const { descriptorFiles: make } = await import(
    `data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`
  );
  return make();
}

/**
 * esbuild plugin: the answers of reflection are written at build time, since descriptions cannot be written in the
 * bundle.
 */
export const bakedFiles = {
  name: "baked-files",
  setup(build) {
    build.onLoad({ filter: /[\\/](node|gateway)[\\/]grpc[\\/]descriptor-bytes\.ts$/ }, async ({ path }) => {
      const packed = brotliCompressSync(JSON.stringify(await descriptorFiles(path))).toString("base64");
      const contents = `import { brotliDecompressSync } from "node:zlib";
export const descriptorFiles = () => JSON.parse(brotliDecompressSync(Buffer.from("${packed}", "base64")).toString());`;
      return { contents, loader: "js" };
    });
  },
};
