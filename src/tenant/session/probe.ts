export interface HttpAnswer {
  readonly status: number;
  /** The first characters of the body. */
  readonly start: string;
  /**
   * Whether every program on this machine can resolve the host, not only programs that know the names below
   * `localhost`.
   */
  readonly isPlain: boolean;
}

/** A check of a deployment from outside. */
export interface Probe {
  /** The answer to a GET request. Rejects if no answer comes. */
  http(url: string, signal: AbortSignal): Promise<HttpAnswer>;
  /** Resolves when the port accepts a connection. */
  tcp(host: string, port: number, signal: AbortSignal): Promise<void>;
}

const INGRESS_STATUS = new Set([502, 503, 504]);
const UNKNOWN_HOST = "No deployment on this provider has this host name";

/** Whether an answer comes from the service, rather than from the ingress because no replica is ready. */
export function isFromService({ status, start }: Pick<HttpAnswer, "status" | "start">): boolean {
  return !INGRESS_STATUS.has(status) && !(status === 404 && start.includes(UNKNOWN_HOST));
}
