import * as v from "valibot";

/** In the provider's folder: only its owner and root can ask. */
export const CONTROL_SOCKET = "control.sock";

/** Bounds of the answers. */
export const CONTROL_LIMITS = {
  /** Latest orders per answer. */
  orders: 5_000,
  /** Latest orders whose bids are computed for other prices. */
  tried: 50,
  /** Characters of a reason: tenants, scripts and nodes write parts of it. */
  reason: 500,
  /** Bytes of a request. */
  request: 16 << 10,
  /** Bytes that the asking side reads. */
  answer: 8 << 20,
  connections: 16,
  timeoutMs: 10_000,
} as const;

export const controlOrder = v.object({
  /** `<owner>/<dseq>/<gseq>/<oseq>`. */
  order: v.string(),
  phase: v.string(),
  /** Why it was refused, lost or closed. */
  reason: v.exactOptional(v.string()),
  /** The obstacle to a bid. */
  obstacle: v.exactOptional(v.string()),
  /** When the provider checks it again, RFC 3339. */
  again_at: v.exactOptional(v.string()),
  /** Price of our bid per block, without its denomination. */
  price: v.exactOptional(v.string()),
  /** RFC 3339. */
  detected_at: v.string(),
});

/** An order as the running provider knows it. */
export type ControlOrder = v.InferOutput<typeof controlOrder>;

/** A running provider's state for its operator. */
export const controlState = v.object({
  provider: v.string(),
  /** RFC 3339. */
  started_at: v.string(),
  draining: v.boolean(),
  /** Why it does not bid. */
  obstacles: v.array(v.string()),
  /** Whether a container runs here, as last tried; older providers do not tell. */
  probe: v.exactOptional(v.string()),
  /** Leases with a record here, including those being removed. */
  leases: v.number(),
  /** The latest last. */
  orders: v.array(controlOrder),
  /** Number of known orders left out. */
  omitted: v.number(),
});
export type ControlState = v.InferOutput<typeof controlState>;
