import type { Socket } from "node:net";
import type { LeaseKey } from "../../wire/index.ts";
import type { CarriedPort, ServiceRoute } from "../cluster/index.ts";
import { decodeJson, encodeJson } from "../durable.ts";
import type { BrowserGateway, IngressTls } from "../ingress/index.ts";

/** Start settings of a data plane. A plane with other settings is replaced. */
export interface PlaneSettings {
  readonly ingress: {
    readonly host: string;
    readonly port: number;
    readonly loopbackPorts: boolean;
    readonly connectionsPerAddress: number;
    /** Addresses and networks. */
    readonly trustedProxies: readonly string[];
    readonly forwardedFrom: readonly string[];
    /** Nowhere if absent. */
    readonly tls?: IngressTls;
    readonly gateway?: BrowserGateway;
    /** File of routes for a proxy that listens there instead. */
    readonly routesFile?: string;
  };
}

/** Host names of a lease and where they go. */
export interface PlaneRoutes {
  readonly id: LeaseKey;
  readonly services: readonly ServiceRoute[];
  /** Loopback ports by service, taken if they are free. */
  readonly loopback: Readonly<Record<string, number>>;
}

/** Addresses of ready replicas, by `backendKey`. */
export type PlaneBackends = Readonly<Record<string, readonly string[]>>;

/** State that one plane hands to the next. */
export interface PlaneTable {
  readonly routes: readonly PlaneRoutes[];
  readonly backends: PlaneBackends;
  readonly ports: readonly (readonly [lease: string, ports: readonly CarriedPort[]])[];
  /** Whether routes of further leases may still come, because the daemon has not compared all of them. */
  readonly isPartial?: boolean;
}

/** How a program is started as a data plane. */
export interface PlaneProgram {
  readonly command: string;
  readonly args: readonly string[];
  /** Differs if the program or the settings do. */
  readonly identity: string;
}

/** Requests of the daemon, with their answers. */
export interface PlaneCalls {
  hello: [request: null, answer: { readonly identity: string; readonly pid: number; readonly port: number }];
  route: [
    request: PlaneRoutes & { readonly backends: PlaneBackends | undefined },
    answer: Readonly<Record<string, number>>,
  ];
  unroute: [request: { readonly id: LeaseKey }, answer: null];
  backends: [request: PlaneBackends, answer: null];
  carry: [
    request: { readonly lease: string; readonly ports: readonly CarriedPort[] },
    answer: readonly (readonly [port: string, why: string])[],
  ];
  /** Everything that the plane was sent. */
  table: [request: null, answer: PlaneTable];
  /** The answer to an ACME server that asks for this token; without `answer` the token is removed. */
  challenge: [request: { readonly token: string; readonly answer: string | null }, answer: null];
  /** Drops what belongs to none of these leases, which are all that there are: `leases` are texts of ids, `names` are as in `carry`. */
  retain: [request: { readonly leases: readonly string[]; readonly names: readonly string[] }, answer: null];
  /** Starts a plane in its own place and hands over everything; the answer comes when the new one serves. */
  replace: [request: { readonly program: PlaneProgram; readonly settings: PlaneSettings }, answer: null];
  /** Ends the plane with all its connections. */
  end: [request: null, answer: null];
}

export type PlaneCall = keyof PlaneCalls;

export interface RequestLine {
  readonly id: number;
  readonly call: PlaneCall;
  readonly request: unknown;
}

export interface AnswerLine {
  readonly id: number;
  readonly answer?: unknown;
  readonly error?: string;
}

/** Folder of planes inside the provider's: a socket `<pid>.sock` each, and a log. */
export const PLANE_FOLDER = "plane";
/** The argument and the variable that start the program as a data plane. */
export const PLANE_WORD = "data-plane";
export const PLANE_VARIABLE = "SVC_DATA_PLANE";

export function writeLine(socket: Socket, line: RequestLine | AnswerLine): void {
  if (!socket.destroyed) socket.write(`${encodeJson(line)}\n`);
}

/** Calls back for every line; a line that is not JSON ends the connection. */
export function readLines<T>(socket: Socket, onLine: (line: T) => void): void {
  const pieces: string[] = [];
  socket.setEncoding("utf8");
  socket.on("data", (text: string) => {
    const parts = text.split("\n");
    for (const [at, part] of parts.entries()) {
      pieces.push(part);
      if (at === parts.length - 1) return;
      const line = pieces.splice(0).join("");
      try {
        // Both ends belong to this program, and no other user can open the socket.
        onLine(decodeJson(line) as T);
      } catch {
        socket.destroy();
        return;
      }
    }
  });
}
