export { DEFAULT_MONITOR, type GiveUpReason, type LeaseSettings } from "./context.ts";
export { leaseErrors } from "./errors.ts";
export type { HealthLimits } from "./health.ts";
export type { ReconcileReport } from "./reconcile.ts";
export type { CloseProof, LeasePhase, LeaseRecord } from "./record/record.ts";
export type { LeaseView, PodView, PortView, ServiceView } from "./record/status.ts";
export { LeaseService, type LeaseServiceOptions } from "./service.ts";
