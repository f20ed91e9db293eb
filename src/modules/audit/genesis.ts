import { create } from "@bufbuild/protobuf";
import { defineGenesis, entryProblems, type GenesisPart, movedHeight } from "../../runtime/index.ts";
import {
  type AuditedAttributes,
  GenesisStateSchema,
  Msg,
  type Params,
  ParamsSchema,
} from "../../wire/gen/svc/audit/v1beta1/audit_pb.js";
import { attributeModuleParams } from "../provider/index.ts";
import { checkAttributes, checkParties } from "./check.ts";
import { type AuditKeeper, STORE } from "./keeper.ts";

const DEFAULT_GAS = { MsgSignProviderAttributes: 60_000n, MsgDeleteProviderAttributes: 100_000n };

export const PARAMS = attributeModuleParams(Msg, DEFAULT_GAS);

export function auditGenesis(keeper: AuditKeeper): GenesisPart {
  return defineGenesis({
    schema: GenesisStateSchema,
    defaults: () => create(GenesisStateSchema, { params: defaultParams() }),
    validate: ({ params = defaultParams(), attributes }) => [
      ...PARAMS.problems(params),
      ...entryProblems("attributes", attributes, identify),
    ],
    init(ctx, { params, attributes }) {
      keeper.params.set(ctx.store(STORE), params ?? defaultParams());
      for (const record of attributes) keeper.restore(ctx, record);
    },
    export(ctx) {
      const store = ctx.store(STORE);
      const attributes = [...keeper.records.values(store)];
      return create(GenesisStateSchema, { attributes, params: keeper.params.require(store) });
    },
    restart: {
      move: (state, last) => {
        const attributes = state.attributes.map((record) => ({
          ...record,
          signedAt: movedHeight(record.signedAt, last),
        }));
        return create(GenesisStateSchema, { ...state, attributes });
      },
    },
  });
}

function defaultParams(): Params {
  return create(ParamsSchema, PARAMS.defaults);
}

/** The provider need not exist: signatures outlive it. */
function identify(record: AuditedAttributes): string {
  checkParties(record);
  checkAttributes(record.attributes);
  return `${record.owner} audited by ${record.auditor}`;
}
