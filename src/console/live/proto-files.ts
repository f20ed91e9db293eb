import path from "virtual:descriptors.bin";
import { createFileRegistry, type DescFile, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";

/**
 * Stands in for the list of generated files in the bundle: the same descriptors as one binary file, which is fetched with the
 * first module that needs to know every message.
 */
async function load(): Promise<readonly { package: string; file: () => DescFile }[]> {
  const answer = await fetch(new URL(path, import.meta.url));
  if (!answer.ok)
    throw new Error(`the descriptions of messages cannot be loaded: the server answered ${answer.status}`);
  const set = fromBinary(FileDescriptorSetSchema, new Uint8Array(await answer.arrayBuffer()));
  return [...createFileRegistry(set).files].map((file) => ({ package: file.proto.package, file: () => file }));
}

export const PROTO_FILES = await load();
