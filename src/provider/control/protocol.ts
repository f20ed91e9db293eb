import * as v from "valibot";

/** In the provider's folder: only its owner and root can ask. */
export const CONTROL_SOCKET = "control.sock";

/** Bounds of the answers. */
export const CONTROL_LIMITS = {
  /** Orders of one answer, the latest ones. */
  orders: 5_000,
  /** Characters of a reason: tenants, scripts and nodes write parts of it. */
  reason: 500,
  /** Bytes that the asking side reads. */
  answer: 8 << 20,
  connections: 16,
  timeoutMs: 10_000,
} as const;

const order = v.object({
  /** `<owner>/<dseq>/<gseq>/<oseq>`. */
  order: v.string(),
  phase: v.string(),
  /** Why it was refused, lost or closed. */
  reason: v.exactOptional(v.string()),
  /** What would have to change before it gets a bid. */
  obstacle: v.exactOptional(v.string()),
  /** When the provider checks it again, RFC 3339. */
  again_at: v.exactOptional(v.string()),
  /** Of our bid, per block and without its denomination. */
  price: v.exactOptional(v.string()),
  /** RFC 3339. */
  detected_at: v.string(),
});

/** An order as the running provider knows it. */
export type ControlOrder = v.InferOutput<typeof order>;

/** What a running provider tells its operator. */
export const controlState = v.object({
  provider: v.string(),
  /** RFC 3339. */
  started_at: v.string(),
  draining: v.boolean(),
  /** Why it does not bid. */
  obstacles: v.array(v.string()),
  /** Whether a container runs here, as last tried; older providers do not tell. */
  probe: v.exactOptional(v.string()),
  /** With a record here, those that are being removed included. */
  leases: v.number(),
  /** The latest last. */
  orders: v.array(order),
  /** Orders known beyond those. */
  omitted: v.number(),
});
export type ControlState = v.InferOutput<typeof controlState>;
