import { type BoundService, bindService, StatusError } from "../../runtime/index.ts";
import { fromHex, sdkErrors, toHex } from "../../util/index.ts";
import { EquivocationSchema } from "../../wire/gen/sdk/evidence/v1beta1/evidence_pb.js";
import { Query, type QueryEvidenceRequest } from "../../wire/gen/sdk/evidence/v1beta1/query_pb.js";
import { evidenceErrors as errors, packAny } from "../../wire/index.ts";
import { type EvidenceKeeper, store } from "./keeper.ts";

export function evidenceQueries(keeper: EvidenceKeeper): BoundService {
  return bindService(Query, {
    evidence: (ctx, request) => {
      const hash = hashIn(request);
      // A hash of another length is the hash of nothing, as in the ecosystem.
      const found = hash.length === HASH_BYTES ? keeper.records.get(store(ctx), hash) : undefined;
      if (found === undefined) throw missing(hash);
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
  if (hash === undefined) throw sdkErrors.invalidRequest("invalid evidence hash");
  return hash;
}

function missing(hash: Uint8Array): StatusError {
  const words = `evidence ${toHex(hash.subarray(0, HASH_BYTES)).toUpperCase()} not found`;
  return new StatusError("NotFound", errors.notFound(words), words);
}

function read(text: string): Uint8Array | undefined {
  try {
    return fromHex(text);
  } catch {
    return undefined;
  }
}
