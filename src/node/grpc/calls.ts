import type { DescMethod, DescService, MessageShape } from "@bufbuild/protobuf";
import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import { type Logger, SvcError } from "../../util/index.ts";
import { decodeMessage, encodeMessage, methodPath, type Namespace, toNamespace } from "../../wire/index.ts";
import type { Dispatcher } from "../dispatch.ts";
import type { Turns } from "../http/index.ts";
import { heightAsked, heightHeaders } from "../services/height.ts";
import { STATUS_CODE, statusOf } from "../services/status.ts";
import { MAX_ANSWER_BYTES } from "./limits.ts";
import { readerKey } from "./reader.ts";

/** What calls are answered by. */
export interface CallParts {
  readonly dispatcher: Dispatcher;
  readonly turns: Turns;
  readonly logger: Logger;
}

/** A call of an rpc in a spelling, answered by the dispatcher. */
export function answerer<M extends DescMethod>(
  { dispatcher, turns, logger }: CallParts,
  method: M,
  namespace: Namespace,
) {
  const path = methodPath(method, namespace);
  return async (request: MessageShape<M["input"]>, context: HandlerContext): Promise<MessageShape<M["output"]>> => {
    await turns.next();
    try {
      const height = heightAsked((name) => context.requestHeader.get(name));
      const data = encodeMessage<M["input"]>(method.input, request);
      const answer = await dispatcher.query({ path, data, height, prove: false });
      if (answer.code !== 0) throw refusal(answer);
      hold(context, answer.value.length);
      for (const [name, value] of Object.entries(heightHeaders(answer.height))) context.responseHeader.set(name, value);
      return decodeMessage<M["output"]>(method.output, answer.value);
    } catch (error) {
      throw connectError(error, (fault) => logger.error("a call failed", { path, error: fault }));
    }
  };
}

function refusal(answer: Parameters<typeof statusOf>[0]): ConnectError {
  const { word, text } = statusOf(answer);
  return new ConnectError(text, STATUS_CODE[word]);
}

/** Counts an answer until its client has read it. */
function hold(context: HandlerContext, bytes: number): void {
  if (bytes > MAX_ANSWER_BYTES)
    throw new ConnectError(
      `the answer is larger than ${MAX_ANSWER_BYTES} bytes: ask for less with pagination.limit`,
      Code.ResourceExhausted,
    );
  if (!context.values.get(readerKey)(bytes))
    throw new ConnectError("too many answers wait to be read; try again", Code.Unavailable);
}

function connectError(error: unknown, report: (fault: unknown) => void): ConnectError {
  if (error instanceof ConnectError) return error;
  if (error instanceof SvcError) return new ConnectError(error.message, Code.InvalidArgument);
  report(error);
  return new ConnectError("internal error, see the log of the node", Code.Internal);
}

/** A service under the name that it has in a spelling. */
export function inNamespace(service: DescService, namespace: Namespace): DescService {
  const typeName = toNamespace(service.typeName, namespace);
  return typeName === service.typeName ? service : { ...service, typeName };
}
