import { create } from "@bufbuild/protobuf";
import { defineGenesis, entryProblems, type GenesisPart } from "../../runtime/index.ts";
import { toHex } from "../../util/index.ts";
import { EquivocationSchema, GenesisStateSchema } from "../../wire/gen/sdk/evidence/v1beta1/evidence_pb.js";
import { packAny } from "../../wire/index.ts";
import { type EvidenceKeeper, hashOf, readEvidence, store } from "./keeper.ts";

export function evidenceGenesis(keeper: EvidenceKeeper): GenesisPart {
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
