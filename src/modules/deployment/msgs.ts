import {
  type BoundService,
  bindService,
  checkAddress,
  readCoin,
  readPositiveCoin,
  updateParams,
} from "../../runtime/index.ts";
import { Closed_Reason } from "../../wire/gen/svc/base/v1beta1/base_pb.js";
import type { DeploymentID, GroupID } from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { Msg } from "../../wire/gen/svc/deployment/v1beta1/tx_pb.js";
import type { DeploymentKey, GroupKey } from "../../wire/index.ts";
import { deploymentErrors as errors } from "../../wire/index.ts";
import { type DeploymentKeeper, STORE } from "./keeper.ts";
import { paramsProblems } from "./params.ts";

/** A deployment's version is the SHA-256 of its manifest. */
export const VERSION_BYTES = 32;

export function deploymentMsgs(keeper: DeploymentKeeper): BoundService {
  const update = updateParams({
    set: (ctx, params) => keeper.params.set(ctx.store(STORE), params),
    problems: paramsProblems,
    refuse: errors.invalidParams,
  });
  return bindService(
    Msg,
    {
      createDeployment: (ctx, msg) => {
        const id = readId(msg.id);
        const { groups, version } = msg;
        const depositor = msg.depositor === "" ? id.owner : msg.depositor;
        keeper.create(ctx, { id, groups, version, deposit: readPositiveCoin(msg.deposit), depositor });
        return { id };
      },
      depositDeployment: (ctx, msg) => {
        const id = readId(msg.id);
        const depositor = msg.depositor === "" ? id.owner : msg.depositor;
        keeper.deposit(ctx, id, { depositor, amount: readPositiveCoin(msg.amount) });
        return {};
      },
      updateDeployment: (ctx, msg) => {
        keeper.update(ctx, readId(msg.id), msg.version);
        return {};
      },
      closeDeployment: (ctx, msg) => {
        keeper.close(ctx, readId(msg.id), Closed_Reason.owner);
        return {};
      },
      closeGroup: (ctx, msg) => {
        keeper.closeGroup(ctx, readGroupId(msg.id));
        return {};
      },
      pauseGroup: (ctx, msg) => {
        keeper.pauseGroup(ctx, readGroupId(msg.id));
        return {};
      },
      startGroup: (ctx, msg) => ({ oseq: keeper.startGroup(ctx, readGroupId(msg.id)) }),
      updateParams: update.handle,
    },
    {
      createDeployment: (msg) => {
        readId(msg.id);
        checkVersion(msg.version);
        if (msg.groups.length === 0) throw errors.invalidGroups("a deployment needs at least one group");
        readCoin(msg.deposit);
        if (msg.depositor !== "") checkAddress("depositor", msg.depositor, errors.invalidDepositor);
      },
      depositDeployment: (msg) => {
        readId(msg.id);
        readPositiveCoin(msg.amount);
        if (msg.depositor !== "") checkAddress("depositor", msg.depositor, errors.invalidDepositor);
      },
      updateDeployment: (msg) => {
        readId(msg.id);
        checkVersion(msg.version);
      },
      closeDeployment: (msg) => void readId(msg.id),
      closeGroup: (msg) => void readGroupId(msg.id),
      pauseGroup: (msg) => void readGroupId(msg.id),
      startGroup: (msg) => void readGroupId(msg.id),
      updateParams: update.check,
    },
  );
}

/** A complete deployment id. Throws `deployment/8`. */
export function readId(id: DeploymentID | undefined): DeploymentKey {
  const { owner = "", dseq = 0n } = id ?? {};
  checkAddress("owner", owner, errors.invalidId);
  if (dseq === 0n) throw errors.invalidId("dseq must not be 0");
  return { owner, dseq };
}

/** A complete group id. Throws `deployment/13`. */
export function readGroupId(id: GroupID | undefined): GroupKey {
  const { owner = "", dseq = 0n, gseq = 0 } = id ?? {};
  checkAddress("owner", owner, errors.invalidGroupId);
  if (dseq === 0n || gseq === 0) throw errors.invalidGroupId("dseq and gseq must not be 0");
  return { owner, dseq, gseq };
}

function checkVersion(version: Uint8Array): void {
  if (version.length === 0) throw errors.emptyVersion();
  if (version.length !== VERSION_BYTES)
    throw errors.invalidVersion(`version has ${version.length} bytes, a sha256 has ${VERSION_BYTES}`);
}
