import { create } from "@bufbuild/protobuf";
import {
  type Context,
  defineGenesis,
  defineModule,
  entryProblems,
  type GenesisPart,
  type Module,
} from "../../runtime/index.ts";
import { equalBytes, toHex, toHexUpper } from "../../util/index.ts";
import { EquivocationSchema, GenesisStateSchema } from "../../wire/gen/sdk/evidence/v1beta1/evidence_pb.js";
import { packAny } from "../../wire/index.ts";
import { type EvidenceDeps, EvidenceKeeper, hashOf, readEvidence, store } from "./keeper.ts";
import { evidenceMsgs } from "./msgs.ts";
import { evidenceQueries } from "./queries.ts";

export type { DoubleSign, EvidenceDeps, EvidenceHandler, Penalties } from "./keeper.ts";

/** Makes the module. Its begin-block item follows slashing's, as on other chains of the ecosystem. */
export function evidenceModule(deps: EvidenceDeps): { readonly module: Module } {
  const keeper = new EvidenceKeeper(deps);
  const module = defineModule({
    name: "evidence",
    msg: evidenceMsgs(keeper),
    query: evidenceQueries(keeper),
    genesis: evidenceGenesis(keeper),
    beginBlock: (ctx) => {
      for (const misbehavior of ctx.evidence.misbehavior) keeper.punish(ctx, misbehavior);
    },
    vital: ["beginBlock"],
    invariants: { hashes: (ctx) => hashesAreRight(keeper, ctx) },
  });
  return { module };
}

function evidenceGenesis(keeper: EvidenceKeeper): GenesisPart {
  return defineGenesis({
    schema: GenesisStateSchema,
    defaults: () => create(GenesisStateSchema),
    validate: ({ evidence }) => entryProblems("evidence", evidence, (any) => toHex(hashOf(readEvidence(any)))),
    init: (ctx, { evidence }) => {
      for (const any of evidence) keeper.put(ctx, readEvidence(any));
    },
    export: (ctx) => {
      const all = [...keeper.records.values(store(ctx))];
      return create(GenesisStateSchema, { evidence: all.map((each) => packAny(EquivocationSchema, each)) });
    },
  });
}

/** Every piece of evidence is stored under its own hash. */
function hashesAreRight(keeper: EvidenceKeeper, ctx: Context): string | undefined {
  for (const [hash, evidence] of keeper.records.iterate(store(ctx)))
    if (!equalBytes(hash, hashOf(evidence))) return `${toHexUpper(hash)} is not the hash of what stands under it`;
  return undefined;
}
