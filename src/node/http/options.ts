import type { GuardOptions } from "./guard.ts";

/** Address of a server and the clients that it answers; the same for all servers. */
export interface ServerOptions extends Omit<GuardOptions, "flags"> {
  readonly host: string;
  /** 0 = any free port. */
  readonly port: number;
  readonly maxOpenConnections: number;
  /** Time within which a client must have read an answer; 30 s when left out. */
  readonly readWithinMs?: number;
}
