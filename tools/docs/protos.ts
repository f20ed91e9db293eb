import { execFileSync } from "node:child_process";
import { join } from "node:path";
import {
  createFileRegistry,
  type DescField,
  type DescFile,
  type DescMessage,
  type DescMethod,
  type FileRegistry,
  fromBinary,
} from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";

/** The proto files with their comments, which the generated code of the product leaves out. */
export function protoRegistry(root: string): FileRegistry {
  const buf = join(root, "node_modules", "@bufbuild", "buf", "bin", "buf");
  const image = execFileSync(process.execPath, [buf, "build", "--as-file-descriptor-set", "-o", "-"], {
    cwd: root,
    maxBuffer: 64 << 20,
  });
  return createFileRegistry(fromBinary(FileDescriptorSetSchema, image));
}

/** Numbers of the fields of a file descriptor, by which comments name their place. */
const MESSAGE = 4;
const SERVICE = 6;
const FIELD = 2;
const NESTED = 3;
const METHOD = 2;

/** The comment in front of a field, message or rpc, on one line. */
export function commentOf(desc: DescField | DescMessage | DescMethod): string {
  return commentsOf(desc.kind === "message" ? desc.file : desc.parent.file).get(pathOf(desc).join()) ?? "";
}

function pathOf(desc: DescField | DescMessage | DescMethod): readonly number[] {
  if (desc.kind === "field") return [...pathOf(desc.parent), FIELD, desc.parent.fields.indexOf(desc)];
  if (desc.kind === "rpc") {
    return [SERVICE, desc.parent.file.services.indexOf(desc.parent), METHOD, desc.parent.methods.indexOf(desc)];
  }
  const { parent, file } = desc;
  if (parent === undefined) return [MESSAGE, file.messages.indexOf(desc)];
  return [...pathOf(parent), NESTED, parent.nestedMessages.indexOf(desc)];
}

const known = new WeakMap<DescFile, ReadonlyMap<string, string>>();

function commentsOf(file: DescFile): ReadonlyMap<string, string> {
  const found = known.get(file);
  if (found !== undefined) return found;
  const locations = file.proto.sourceCodeInfo?.location ?? [];
  const comments = new Map(
    locations.map(({ path, leadingComments, trailingComments }) => [
      path.join(),
      (leadingComments || trailingComments).trim().replaceAll(/\s*\n\s*/g, " "),
    ]),
  );
  known.set(file, comments);
  return comments;
}
