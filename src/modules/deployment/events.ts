import type { Context } from "../../runtime/index.ts";
import { toHex } from "../../util/index.ts";
import { Closed_Reason } from "../../wire/gen/svc/base/v1beta1/base_pb.js";
import type { DeploymentKey, GroupKey } from "../../wire/index.ts";

interface Details {
  /** sha256 of the manifest. */
  readonly version?: Uint8Array;
  readonly reason?: Closed_Reason;
  readonly more?: Readonly<Record<string, string>>;
}

export function emitDeployment(ctx: Context, action: string, id: DeploymentKey, details: Details): void {
  const { version, reason, more } = details;
  ctx.events.emit("svc.v1", {
    module: "deployment",
    action,
    ...(version === undefined ? {} : { version: toHex(version) }),
    owner: id.owner,
    dseq: id.dseq.toString(),
    ...more,
    ...(reason === undefined ? {} : { reason: Closed_Reason[reason] }),
  });
}

export function emitGroup(ctx: Context, action: string, id: GroupKey, reason?: Closed_Reason): void {
  ctx.events.emit("svc.v1", {
    module: "deployment",
    action,
    owner: id.owner,
    dseq: id.dseq.toString(),
    gseq: id.gseq.toString(),
    ...(reason === undefined ? {} : { reason: Closed_Reason[reason] }),
  });
}
