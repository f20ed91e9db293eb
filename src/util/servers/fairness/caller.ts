import { clientNetwork } from "../../text/client-network.ts";

/** Whose a connection is. Clients share what there is first; the connections of one client share the client's part. */
export interface Caller {
  /** Its address, or its network of IPv6; a proxy is one client. */
  readonly client: string;
  /** Stands for the connection. */
  readonly connection: object;
}

/** What is used of a connection of any kind. */
interface Connected {
  readonly remoteAddress?: string | undefined;
}

const callers = new WeakMap<object, Caller>();

/** The caller of a socket. */
export function callerOf(socket: Connected): Caller {
  return callers.get(socket) ?? callerAt(socket, socket.remoteAddress);
}

/** The caller of a session of HTTP/2, whose socket is gone at its end. */
export function callerOfSession(session: { readonly socket?: Connected | undefined }): Caller {
  return callers.get(session) ?? callerAt(session, session.socket?.remoteAddress);
}

function callerAt(connection: object, address = ""): Caller {
  const caller = { client: clientNetwork(address), connection };
  callers.set(connection, caller);
  return caller;
}
