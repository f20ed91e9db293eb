import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter } from "@connectrpc/connect";
import { fromBase64 } from "../../util/index.ts";
import {
  ServerReflection,
  type ServerReflectionRequest,
  type ServerReflectionResponseSchema,
} from "../gen/grpc/reflection/v1/reflection_pb.js";
import { ServerReflection as ServerReflectionAlpha } from "../gen/grpc/reflection/v1alpha/reflection_pb.js";

/** Bytes of a question: it has a name or two. While one comes, the library looks at all of its parts again and again. */
const MAX_QUESTION_BYTES = 4 * 1024;

type Answer = NonNullable<MessageInitShape<typeof ServerReflectionResponseSchema>["messageResponse"]>;

/** Questions in one stream. */
export const MAX_REFLECTIONS = 1000;

/** The description of one proto file: its name, and its bytes in base64. */
export type DescriptorFile = readonly [name: string, base64: string];

/** Facts that a server reports about itself. */
export interface ReflectionParts {
  /** Names of the services that are served. */
  readonly services: readonly string[];
  /** All files that describe them. */
  readonly files: () => readonly DescriptorFile[];
  /** The file that describes a service, a method, a message or an enumeration; undefined for none. */
  readonly fileOf: (symbol: string) => string | undefined;
}

/** Tells clients which services there are and what their messages look like, so that they need no proto files. */
export class Reflection {
  readonly #parts: ReflectionParts;
  readonly #services: readonly string[];
  #files: ReadonlyMap<string, Uint8Array> | undefined;

  constructor(parts: ReflectionParts) {
    this.#parts = parts;
    this.#services = [...parts.services].sort();
  }

  /** Answers the questions of a stream, one after the other. */
  async *answers(
    requests: AsyncIterable<ServerReflectionRequest>,
  ): AsyncGenerator<MessageInitShape<typeof ServerReflectionResponseSchema>> {
    let count = 0;
    for await (const request of requests) {
      count += 1;
      if (count > MAX_REFLECTIONS)
        throw new ConnectError(`more than ${MAX_REFLECTIONS} questions in one stream`, Code.ResourceExhausted);
      yield { validHost: request.host, originalRequest: request, messageResponse: this.#answer(request) };
    }
  }

  #answer({ messageRequest: { case: kind, value } }: ServerReflectionRequest): Answer {
    if (kind === "listServices") {
      const service = this.#services.map((name) => ({ name }));
      return { case: "listServicesResponse", value: { service } };
    }
    if (kind === "fileByFilename") return this.#file(value, value);
    if (kind === "fileContainingSymbol") return this.#file(this.#parts.fileOf(value), value);
    return notFound(kind === undefined ? "the request asks nothing" : "there are no extensions of messages");
  }

  #file(name: string | undefined, asked: string): Answer {
    const bytes = name === undefined ? undefined : this.#allFiles().get(name);
    if (bytes === undefined) return notFound(`${JSON.stringify(asked.slice(0, 200))} is not known here`);
    return { case: "fileDescriptorResponse", value: { fileDescriptorProto: [bytes] } };
  }

  #allFiles(): ReadonlyMap<string, Uint8Array> {
    this.#files ??= new Map(this.#parts.files().map(([name, text]) => [name, fromBase64(text)]));
    return this.#files;
  }
}

function notFound(errorMessage: string): Answer {
  return { case: "errorResponse", value: { errorCode: Code.NotFound, errorMessage } };
}

/** Serves reflection under its name and under the older one. */
export function addReflection(router: ConnectRouter, reflection: Reflection): void {
  const { serverReflectionInfo: method } = ServerReflection.method;
  // The older version has the same messages under another name.
  for (const parent of [ServerReflection, ServerReflectionAlpha]) {
    router.rpc({ ...method, parent }, (requests) => reflection.answers(requests), { readMaxBytes: MAX_QUESTION_BYTES });
  }
}
