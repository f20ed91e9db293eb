import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type {
  ServerReflectionRequest,
  ServerReflectionResponseSchema,
} from "../../wire/gen/grpc/reflection/v1/reflection_pb.js";
import { descriptorFiles } from "./descriptor-bytes.ts";
import { MAX_REFLECTIONS } from "./limits.ts";
import { fileOfSymbol } from "./symbols.ts";

type Answer = NonNullable<MessageInitShape<typeof ServerReflectionResponseSchema>["messageResponse"]>;

/** Tells clients which services there are and what their messages look like, so that they need no proto files. */
export class Reflection {
  readonly #services: readonly string[];
  #files: ReadonlyMap<string, Uint8Array> | undefined;

  /** Names of the services that are served. */
  constructor(services: readonly string[]) {
    this.#services = [...services].sort();
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
    if (kind === "fileContainingSymbol") return this.#file(fileOfSymbol(value), value);
    return notFound(kind === undefined ? "the request asks nothing" : "there are no extensions of messages");
  }

  #file(name: string | undefined, asked: string): Answer {
    const bytes = name === undefined ? undefined : this.#allFiles().get(name);
    if (bytes === undefined) return notFound(`${JSON.stringify(asked.slice(0, 200))} is not known here`);
    return { case: "fileDescriptorResponse", value: { fileDescriptorProto: [bytes] } };
  }

  #allFiles(): ReadonlyMap<string, Uint8Array> {
    this.#files ??= new Map(descriptorFiles().map(([name, base64]) => [name, Buffer.from(base64, "base64")]));
    return this.#files;
  }
}

function notFound(errorMessage: string): Answer {
  return { case: "errorResponse", value: { errorCode: Code.NotFound, errorMessage } };
}
