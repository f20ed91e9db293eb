import { tryJson } from "../../../util/index.ts";
import { gatewayClientErrors, type StreamEnd } from "../errors.ts";

/** Largest message in bytes. */
export const MAX_MESSAGE = 1 << 20;
/** Close code of a stream that has said everything (RFC 6455 section 7.4.1). */
export const NORMAL = 1000;

/** An open websocket to a gateway. */
export interface GatewaySocket {
  /** Messages until the end; texts as UTF-8. Read once. */
  messages(): AsyncIterable<Uint8Array>;
  /** How it ended; undefined while it is open. */
  readonly end: StreamEnd | undefined;
  /** Sends bytes while it is open, and nothing otherwise. */
  send(data: Uint8Array): void;
  /** Ends it in order. */
  close(): void;
  /** Ends it at once. */
  abort(): void;
}

/**
 * The JSON messages of a websocket until it ends; an end that is not the normal one throws `StreamEnd`. Ends the socket when
 * the reader stops, by itself or by the signal.
 */
export async function* readFeed<T>(
  socket: GatewaySocket,
  { parse, signal }: { readonly parse: (value: unknown) => T; readonly signal: AbortSignal },
): AsyncGenerator<T> {
  const stop = (): void => socket.abort();
  signal.addEventListener("abort", stop, { once: true });
  try {
    if (signal.aborted) return;
    for await (const data of socket.messages()) yield parse(jsonOf(data));
    if (socket.end !== undefined && socket.end.closeCode !== NORMAL) throw socket.end;
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener("abort", stop);
    stop();
  }
}

function jsonOf(data: Uint8Array): unknown {
  const value = tryJson(new TextDecoder().decode(data));
  if (value === undefined) throw gatewayClientErrors.badAnswer("message that is not JSON");
  return value;
}
