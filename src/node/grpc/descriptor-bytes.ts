import { clone, type DescFile, toBinary } from "@bufbuild/protobuf";
import {
  type DescriptorProto,
  type FieldDescriptorProto,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
} from "@bufbuild/protobuf/wkt";
import { file_grpc_health_v1_health } from "../../wire/gen/grpc/health/v1/health_pb.js";
import { file_grpc_reflection_v1_reflection } from "../../wire/gen/grpc/reflection/v1/reflection_pb.js";
import { file_grpc_reflection_v1alpha_reflection } from "../../wire/gen/grpc/reflection/v1alpha/reflection_pb.js";
import { allMessages, allServices, toNamespace } from "../../wire/index.ts";
import type { DescriptorFile } from "../../wire/reflection/index.ts";

const OF_THE_SERVER = [
  file_grpc_health_v1_health,
  file_grpc_reflection_v1_reflection,
  file_grpc_reflection_v1alpha_reflection,
];

/**
 * Every proto file of the chain and of the server, as reflection returns it; files with two spellings appear twice. The
 * build replaces this file by its result: the bundle lacks the descriptor of descriptors that writing them needs.
 */
export function descriptorFiles(): readonly DescriptorFile[] {
  const files = new Map<string, DescFile>();
  const add = (file: DescFile): void => {
    if (files.has(file.proto.name)) return;
    files.set(file.proto.name, file);
    file.dependencies.forEach(add);
  };
  for (const { file } of [...allMessages(), ...allServices()]) add(file);
  OF_THE_SERVER.forEach(add);
  const own = [...files.values()].map(({ proto }) => proto);
  const aliases = own.filter(({ name }) => name.startsWith("sdk/")).map(inAlias);
  return [...own, ...aliases].map((proto) => [
    proto.name,
    Buffer.from(toBinary(FileDescriptorProtoSchema, proto)).toString("base64"),
  ]);
}

/** One of our files under the names of the ecosystem. */
function inAlias(own: FileDescriptorProto): FileDescriptorProto {
  const file = clone(FileDescriptorProtoSchema, own);
  file.name = fileAlias(file.name);
  file.package = toNamespace(file.package, "cosmos");
  file.dependency = file.dependency.map(fileAlias);
  file.extension.forEach(renameField);
  file.messageType.forEach(renameMessage);
  for (const method of file.service.flatMap((service) => service.method)) {
    method.inputType = typeAlias(method.inputType);
    method.outputType = typeAlias(method.outputType);
  }
  return file;
}

function renameMessage(message: DescriptorProto): void {
  [...message.field, ...message.extension].forEach(renameField);
  message.nestedType.forEach(renameMessage);
}

function renameField(field: FieldDescriptorProto): void {
  if (field.typeName !== "") field.typeName = typeAlias(field.typeName);
  if (field.extendee !== "") field.extendee = typeAlias(field.extendee);
}

/** `sdk/bank/...` as `cosmos/bank/...`; other files have one name. */
function fileAlias(name: string): string {
  return toNamespace(`/${name}`, "cosmos").slice(1);
}

/** Names of types have a dot before them. */
function typeAlias(name: string): string {
  return `.${toNamespace(name.slice(1), "cosmos")}`;
}
