import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { connectGateway, type GatewayTarget, gatewayClientErrors } from "../../../client/index.ts";
import { ProviderRPC, type Status, StatusSchema } from "../../../wire/gen/svc/provider/v1/status_pb.js";
import { toJson } from "../../../wire/index.ts";
import type { CommandInput } from "../../command/spec.ts";
import { createContext } from "../../context/context.ts";
import { printResult } from "../../terminal/output.ts";
import { untilInterrupted } from "./streams.ts";

const TIMEOUT_MS = 15_000;

/**
 * Prints the status at once and after each change, until Ctrl-C. `answer` is the answer of `/status`, which names the
 * port.
 */
export function watch(input: CommandInput, target: GatewayTarget, answer: unknown): Promise<number> {
  const port = portOf(answer);
  if (port === undefined)
    throw gatewayClientErrors.badAnswer("/status names no gRPC port", {
      hint: "leave out --watch; the provider's operator opens that port with --gateway-grpc-listen-address",
    });
  const { output, io } = createContext(input);
  return untilInterrupted(async (signal) => {
    for await (const status of watchStatus(target, { port, signal, timeoutMs: TIMEOUT_MS }))
      printResult(toJson(StatusSchema, status), output, io);
  });
}

function portOf(answer: unknown): number | undefined {
  if (typeof answer !== "object" || answer === null || !("grpc_port" in answer)) return undefined;
  const { grpc_port: port } = answer;
  return typeof port === "number" && Number.isInteger(port) && port > 0 && port < 65_536 ? port : undefined;
}

interface WatchOptions {
  /** Where the provider tells its status over gRPC. */
  readonly port: number;
  readonly signal: AbortSignal;
  /** Milliseconds for the connection. */
  readonly timeoutMs: number;
}

/**
 * The status of a provider at once and after each change, until the signal is aborted. Nothing is sent unless the server's
 * certificate is the provider's on the chain.
 */
async function* watchStatus(target: GatewayTarget, options: WatchOptions): AsyncGenerator<Status> {
  const { port, signal, timeoutMs } = options;
  const url = new URL(target.hostUri);
  url.port = `${port}`;
  const there = { ...target, hostUri: url.origin };
  const now = Date.now();
  const socket = await connectGateway(there, { credential: undefined, timeoutMs, now, protocols: ["h2"] });
  const transport = createGrpcTransport({ baseUrl: url.origin, nodeOptions: { createConnection: () => socket } });
  try {
    yield* told(createClient(ProviderRPC, transport).streamStatus({}, { signal }), signal);
  } finally {
    socket.destroy();
  }
}

async function* told(statuses: AsyncIterable<Status>, signal: AbortSignal): AsyncGenerator<Status> {
  try {
    yield* statuses;
  } catch (error) {
    if (signal.aborted) return;
    const { code, rawMessage } = ConnectError.from(error);
    throw gatewayClientErrors.ended(`${rawMessage} (${Code[code]})`, { cause: error });
  }
}
