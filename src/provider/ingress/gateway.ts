import { connect, isIPv6, type Socket } from "node:net";
import { clientAddress } from "../../util/servers/index.ts";
import { socketPath } from "../socket-path.ts";

/** Socket in the provider's folder on which the gateway takes connections that the ingress has decrypted. */
export const GATEWAY_SOCKET = "gateway.sock";

/** How long a client may keep a connection that the gateway has ended, in milliseconds. */
const ENDED_MS = 5_000;

/** The gateway for browsers. */
export interface BrowserGateway {
  /** Its host name, which no tenant can have. */
  readonly host: string;
  /** The provider's folder, with the socket. */
  readonly folder: string;
}

/** The host name below the ingress domain under which browsers reach the gateway. */
export function gatewayHost(domain: string): string {
  return `gateway.${domain}`;
}

/** Passes a connection on to the gateway, which learns the client's address by the PROXY protocol. */
export function passToGateway(client: Socket, { folder }: BrowserGateway): void {
  const header = proxyHeader(client);
  if (header === undefined) {
    client.destroy();
    return;
  }
  const gateway = connectTo(folder);
  gateway.write(header);
  client.pipe(gateway).pipe(client);
  client.once("close", () => gateway.destroy());
  gateway.once("error", () => client.destroy());
  gateway.once("close", () => client.setTimeout(ENDED_MS, () => client.destroy()));
}

/** Version 1 (haproxy.org, doc/proxy-protocol.txt); undefined if the client has gone. */
function proxyHeader(client: Socket): string | undefined {
  const { remotePort, localAddress, localPort } = client;
  const [source, own] = [clientAddress(client), clientAddress({ remoteAddress: localAddress })];
  if (source === "" || own === "") return undefined;
  return `PROXY ${isIPv6(source) ? "TCP6" : "TCP4"} ${source} ${own} ${remotePort} ${localPort}\r\n`;
}

function connectTo(folder: string): Socket {
  const { path, release } = socketPath(folder, GATEWAY_SOCKET);
  const socket = connect(path);
  const settled = (): void => {
    socket.off("connect", settled).off("close", settled);
    release();
  };
  return socket.once("connect", settled).once("close", settled);
}
