import { create } from "@bufbuild/protobuf";
import {
  defineGenesis,
  entryProblems,
  type GenesisPart,
  gasTable,
  gasTableProblems,
  movedHeight,
} from "../../runtime/index.ts";
import { attributeParamProblems, DEFAULT_ATTRIBUTE_PARAMS } from "../../sdl/index.ts";
import {
  type AuditedAttributes,
  GenesisStateSchema,
  Msg,
  type Params,
  ParamsSchema,
} from "../../wire/gen/svc/audit/v1beta1/audit_pb.js";
import { checkAttributes, checkParties } from "./check.ts";
import { type AuditKeeper, STORE } from "./keeper.ts";

const DEFAULT_GAS = { MsgSignProviderAttributes: 60_000n, MsgDeleteProviderAttributes: 100_000n };

export function auditGenesis(keeper: AuditKeeper): GenesisPart {
  return defineGenesis({
    schema: GenesisStateSchema,
    defaults: () => create(GenesisStateSchema, { params: defaultParams() }),
    validate: ({ params = defaultParams(), attributes }) => [
      ...paramsProblems(params),
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

/** What is wrong with parameters, one sentence each. */
export function paramsProblems(params: Params): string[] {
  return [...attributeParamProblems(params), ...gasTableProblems(Msg, params.messageGas)];
}

function defaultParams(): Params {
  return create(ParamsSchema, { ...DEFAULT_ATTRIBUTE_PARAMS, messageGas: gasTable(DEFAULT_GAS) });
}

/** The provider need not exist: signatures outlive it. */
function identify(record: AuditedAttributes): string {
  checkParties(record);
  checkAttributes(record.attributes);
  return `${record.owner} audited by ${record.auditor}`;
}
