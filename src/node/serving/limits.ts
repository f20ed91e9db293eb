/** Limits between the serving thread and the thread for slow queries. */

/** Limits of one request's work on a thread. */
export interface WorkLimits {
  /** Milliseconds of its own work. */
  readonly ms: number;
  /** Bytes that it reads of the database. */
  readonly bytes: number;
}

/** Limits of a first try on the serving thread, where others wait for it, before a request goes to the other thread. */
export const QUICK: WorkLimits = { ms: 30, bytes: 2 * 1024 * 1024 };
/** Limits that no request may exceed. */
export const SLOW = { ms: 5_000, bytes: 256 * 1024 * 1024 } as const satisfies WorkLimits;
/** For the node's own work. */
export const UNBOUND: WorkLimits = { ms: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY };
/** Requests as large as this take long to read, so they are not tried. */
export const QUICK_REQUEST_BYTES = 16 * 1024;
/** Share of the serving thread's time for failed tries of one kind, and the milliseconds that can accumulate. */
export const TRIES = { share: 0.02, savedMs: 60 } as const;

/** Time after its limit in which a slow query must have ended by itself, before its thread is ended. */
export const SLOW_GRACE_MS = 1_000;
/** Time within which the thread for slow queries must have started. */
export const SLOW_START_MS = 10_000;
/** Waiting slow queries, and the longest wait. */
export const MAX_SLOW_WAITING = 32;
export const SLOW_WAIT_MS = 5_000;
/** Time without slow queries after which their thread ends, to give back its memory. */
export const SLOW_IDLE_MS = 20_000;
/** Bytes of the answer to one query. */
export const MAX_QUERY_ANSWER_BYTES = 16 * 1024 * 1024;

/** Calls of the block-making thread that may be under way from one thread, and bytes of their transactions. */
export const MAX_CALLS = 4_000;
export const MAX_CALL_BYTES = 32 * 1024 * 1024;
/** Time that the block-making thread gives to calls before other work there has its turn. */
export const CALLS_SLICE_MS = 5;

/** Megabytes of objects that a thread may have; beyond that, it ends and is started again. */
export const THREAD_HEAP_MB = 1_024;
/** Time from the end of the serving thread to its next start: at first, and at most when it ends repeatedly. */
export const RESTART_MS = { first: 100, most: 10_000 } as const;
/** A thread that ran for this long does not count as ending repeatedly. */
export const STEADY_MS = 60_000;
/** Time within which a thread must end after it is asked to stop. */
export const STOP_WITHIN_MS = 5_000;

/** Bytes of a request to a console's REST or Connect for a node that is elsewhere. */
export const MAX_REMOTE_BODY_BYTES = 1_000_000;
