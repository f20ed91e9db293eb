import { type BoundService, bindService } from "../../runtime/index.ts";
import { fromHex, sdkErrors } from "../../util/index.ts";
import { EquivocationSchema } from "../../wire/gen/sdk/evidence/v1beta1/evidence_pb.js";
import { Query, type QueryEvidenceRequest } from "../../wire/gen/sdk/evidence/v1beta1/query_pb.js";
import { packAny } from "../../wire/index.ts";
import { type EvidenceKeeper, store } from "./keeper.ts";

export function evidenceQueries(keeper: EvidenceKeeper): BoundService {
  return bindService(Query, {
    evidence: (ctx, request) => {
      const found = keeper.records.require(store(ctx), hashIn(request));
      return { evidence: packAny(EquivocationSchema, found, ctx.namespace) };
    },
    allEvidence: (ctx, { pagination: page }) => {
      const { items, pagination } = keeper.records.paginate(store(ctx), page);
      return { evidence: items.map(([, each]) => packAny(EquivocationSchema, each, ctx.namespace)), pagination };
    },
  });
}

const HASH_BYTES = 32;

/** The hash as text, or as releases before 0.47 write it. */
function hashIn({ hash: text, evidenceHash }: QueryEvidenceRequest): Uint8Array {
  if (text === "" && evidenceHash.length === 0) throw sdkErrors.invalidRequest("invalid request; hash is empty");
  const hash = text === "" ? evidenceHash : read(text);
  if (hash?.length !== HASH_BYTES) throw sdkErrors.invalidRequest("invalid evidence hash");
  return hash;
}

function read(text: string): Uint8Array | undefined {
  try {
    return fromHex(text);
  } catch {
    return undefined;
  }
}
