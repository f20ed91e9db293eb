import {
  create,
  type DescMessage,
  type DescMethod,
  type DescMethodUnary,
  type DescService,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import { errorText, isOneOf, type SvcError, sdkErrors } from "../../util/index.ts";
import { decodeMessage, encodeMessage, methodPath, type Namespace } from "../../wire/index.ts";
import { clientErrors } from "../errors.ts";
import type { AbciQueryResult, NodeApi } from "./node.ts";
import { readRefusal } from "./refusal.ts";

/** Which state a query is about. */
export interface QueryOptions {
  /** Height to ask about; 0 or absent for the latest. */
  readonly height?: bigint | undefined;
}

/** The answer of a query with its height. */
export interface QueryAnswer<T> {
  readonly value: T;
  /** Height that the answer is about. */
  readonly height: bigint;
}

/** One function for each rpc of a service. */
export type ServiceClient<S extends DescService> = {
  readonly [K in keyof S["method"]]: S["method"][K] extends DescMethodUnary<infer I, infer O>
    ? (request?: MessageInitShape<I>, options?: QueryOptions) => Promise<MessageShape<O>>
    : never;
};

/** Asks a node's application. Errors of the application come as `SvcError` with its codespace and code. */
export interface QueryClient {
  call<M extends DescMethod>(
    method: M,
    request: MessageInitShape<M["input"]>,
    options?: QueryOptions,
  ): Promise<MessageShape<M["output"]>>;
  callAt<M extends DescMethod>(
    method: M,
    request: MessageInitShape<M["input"]>,
    options?: QueryOptions,
  ): Promise<QueryAnswer<MessageShape<M["output"]>>>;
  service<S extends DescService>(service: S): ServiceClient<S>;
}

/** A client for any rpc of any service, over `abci_query`. `namespace` is the spelling of names that the node knows. */
export function queryClient(node: Pick<NodeApi, "abciQuery">, namespace: Namespace = "sdk"): QueryClient {
  const callAt = async <M extends DescMethod>(
    method: M,
    request: MessageInitShape<M["input"]>,
    options: QueryOptions = {},
  ): Promise<QueryAnswer<MessageShape<M["output"]>>> => {
    const input: M["input"] = method.input;
    const output: M["output"] = method.output;
    const data = encodeMessage(input, create(input, request));
    const answer = await node.abciQuery(methodPath(method, namespace), data, { height: options.height });
    if (answer.code !== 0) throw refusal(method, answer, namespace);
    return { value: readOutput(output, answer.value), height: answer.height };
  };
  const call: QueryClient["call"] = async (method, request, options) => (await callAt(method, request, options)).value;
  return { call, callAt, service: (service) => serviceClient(service, call) };
}

/** For a missing module an application only says that it does not know the path. */
function refusal(method: DescMethod, answer: AbciQueryResult, namespace: Namespace): SvcError {
  const error = readRefusal(answer);
  if (!isUnknownPath(answer)) return error;
  const [, module = ""] = method.parent.typeName.split(".");
  return clientErrors.noQuery(`module ${module} is not on this chain, or has no ${methodPath(method, namespace)}`, {
    cause: error,
    ...(answer.info === "" ? {} : { hint: OWN_CHAIN }),
  });
}

/** Our own chains name the underlying error of a refusal, which identifies them. */
const OWN_CHAIN = "this is a chain of svc, which does not have the module; the query is for other networks";

function isUnknownPath({ codespace, code, log }: AbciQueryResult): boolean {
  return isOneOf([sdkErrors.unknownRequest], { codespace, code }) && log.startsWith("unknown query path");
}

/** Whether a chain said that it does not support a query. */
export function isMissingQuery(error: unknown): boolean {
  return isOneOf([clientErrors.noQuery], error);
}

function serviceClient<S extends DescService>(service: S, call: QueryClient["call"]): ServiceClient<S>;
function serviceClient(service: DescService, call: QueryClient["call"]): ServiceClient<DescService> {
  const functions = service.methods.map((method) => [
    method.localName,
    (request: MessageInitShape<DescMethod["input"]> = {}, options?: QueryOptions) => call(method, request, options),
  ]);
  return Object.fromEntries(functions);
}

/** The remedy is another node; the cause holds the details. */
function readOutput<D extends DescMessage>(schema: D, bytes: Uint8Array): MessageShape<D> {
  try {
    return decodeMessage(schema, bytes);
  } catch (cause) {
    throw clientErrors.badAnswer(`the node answered bytes that are not a ${schema.name} (${errorText(cause)})`, {
      cause,
    });
  }
}
