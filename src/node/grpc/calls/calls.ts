import type { DescMethod, DescService, MessageShape } from "@bufbuild/protobuf";
import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import { type Logger, SvcError } from "../../../util/index.ts";
import { decodeMessage, encodeMessage, methodPath, type Namespace, toNamespace } from "../../../wire/index.ts";
import type { Dispatcher } from "../../dispatch.ts";
import { callHeightHeaders, heightAsked } from "../../services/height.ts";
import { STATUS_CODE, statusOf } from "../../services/status.ts";
import { MAX_ANSWER_BYTES } from "../limits.ts";
import { GONE, type Reader, readerKey } from "./reader.ts";

/** Parts that answer calls. */
export interface CallParts {
  readonly dispatcher: Pick<Dispatcher, "methods" | "query">;
  readonly logger: Logger;
}

/** The headers of a call, and the reader of its answer. */
export interface Asker {
  readonly headerOf: (name: string) => string | null | undefined;
  readonly reader: Reader;
}

/** Answers the bytes of a request with the bytes of its response. Throws a `ConnectError`. */
export type BytesAnswerer = (
  request: () => Uint8Array,
  asker: Asker,
) => Promise<{ readonly value: Uint8Array; readonly height: bigint }>;

/** The calls of an rpc in a spelling, answered by the dispatcher. */
export function bytesAnswerer(
  { dispatcher, logger }: CallParts,
  method: DescMethod,
  namespace: Namespace,
): BytesAnswerer {
  const path = methodPath(method, namespace);
  return async (request, { headerOf, reader }) => {
    try {
      const answer = await dispatcher.query({ path, data: request(), height: heightAsked(headerOf), prove: false });
      if (answer.code !== 0) throw refusal(answer);
      hold(reader, answer.value.length);
      return answer;
    } catch (error) {
      throw connectError(error, (fault) => logger.error("a call failed", { path, error: fault }));
    }
  };
}

/** The same with messages, as the library hands them over. */
export function answerer<M extends DescMethod>(method: M, answer: BytesAnswerer) {
  return async (request: MessageShape<M["input"]>, context: HandlerContext): Promise<MessageShape<M["output"]>> => {
    const headerOf = (name: string) => context.requestHeader.get(name);
    const encode = () => encodeMessage<M["input"]>(method.input, request);
    const { values } = context;
    const { value, height } = await answer(encode, { headerOf, reader: values.get(readerKey) });
    for (const [name, text] of Object.entries(callHeightHeaders(height))) context.responseHeader.set(name, text);
    return decodeMessage<M["output"]>(method.output, value);
  };
}

function refusal(answer: Parameters<typeof statusOf>[0]): ConnectError {
  const { word, text } = statusOf(answer);
  return new ConnectError(text, STATUS_CODE[word]);
}

/** Counts an answer until its client has read it. */
function hold(reader: Reader, bytes: number): void {
  if (bytes > MAX_ANSWER_BYTES)
    throw new ConnectError(
      `the answer is larger than ${MAX_ANSWER_BYTES} bytes: ask for less with pagination.limit`,
      Code.ResourceExhausted,
    );
  if (!reader(bytes)) throw new ConnectError("too many answers wait to be read; try again", Code.Unavailable);
}

function connectError(error: unknown, report: (fault: unknown) => void): Error {
  if (error === GONE) return GONE;
  if (error instanceof ConnectError) return error;
  if (error instanceof SvcError) return new ConnectError(error.message, Code.InvalidArgument);
  report(error);
  return new ConnectError("internal error, see the log of the node", Code.Internal);
}

/** A service under its name in a spelling. */
export function inNamespace(service: DescService, namespace: Namespace): DescService {
  const typeName = toNamespace(service.typeName, namespace);
  return typeName === service.typeName ? service : { ...service, typeName };
}
