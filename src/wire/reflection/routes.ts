import type { ConnectRouter } from "@connectrpc/connect";
import { ServerReflection } from "../gen/grpc/reflection/v1/reflection_pb.js";
import { ServerReflection as ServerReflectionAlpha } from "../gen/grpc/reflection/v1alpha/reflection_pb.js";
import type { Reflection } from "./reflection.ts";

/** Bytes of a question: it has a name or two. While one comes, the library looks at all of its parts again and again. */
const MAX_QUESTION_BYTES = 4 * 1024;

/** Serves reflection under its name and under the older one. */
export function addReflection(router: ConnectRouter, reflection: Reflection): void {
  const { serverReflectionInfo: method } = ServerReflection.method;
  // The older version has the same messages under another name.
  for (const parent of [ServerReflection, ServerReflectionAlpha]) {
    router.rpc({ ...method, parent }, (requests) => reflection.answers(requests), { readMaxBytes: MAX_QUESTION_BYTES });
  }
}
