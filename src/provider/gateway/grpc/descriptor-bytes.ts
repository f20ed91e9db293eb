import { type DescFile, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { toBase64 } from "../../../util/index.ts";
import { file_grpc_health_v1_health } from "../../../wire/gen/grpc/health/v1/health_pb.js";
import { file_grpc_reflection_v1_reflection } from "../../../wire/gen/grpc/reflection/v1/reflection_pb.js";
import { file_grpc_reflection_v1alpha_reflection } from "../../../wire/gen/grpc/reflection/v1alpha/reflection_pb.js";
import { file_svc_provider_v1_status } from "../../../wire/gen/svc/provider/v1/status_pb.js";
import type { DescriptorFile } from "../../../wire/reflection/index.ts";

const SERVED = [
  file_svc_provider_v1_status,
  file_grpc_health_v1_health,
  file_grpc_reflection_v1_reflection,
  file_grpc_reflection_v1alpha_reflection,
];

/** Every proto file of the gateway, as reflection returns it. The build puts the result in the place of this file. */
export function descriptorFiles(): readonly DescriptorFile[] {
  const files = new Map<string, DescFile>();
  const add = (file: DescFile): void => {
    files.set(file.proto.name, file);
    file.dependencies.forEach(add);
  };
  SERVED.forEach(add);
  return [...files.values()].map(({ proto }) => [proto.name, toBase64(toBinary(FileDescriptorProtoSchema, proto))]);
}
