import { type BoundService, bindService, checkAddress } from "../../runtime/index.ts";
import { Msg } from "../../wire/gen/sdk/evidence/v1beta1/tx_pb.js";
import { type EvidenceKeeper, readEvidence } from "./keeper.ts";

export function evidenceMsgs(keeper: EvidenceKeeper): BoundService {
  return bindService(
    Msg,
    { submitEvidence: (ctx, { evidence }) => ({ hash: keeper.submit(ctx, readEvidence(evidence)) }) },
    {
      submitEvidence: ({ submitter, evidence }) => {
        checkAddress("submitter", submitter);
        readEvidence(evidence);
      },
    },
  );
}
