import { create } from "@bufbuild/protobuf";
import { defineGenesis, entryProblems, type GenesisPart, gasTable, gasTableProblems } from "../../runtime/index.ts";
import { GenesisStateSchema, Msg, type Params, ParamsSchema } from "../../wire/gen/svc/template/v1beta1/template_pb.js";
import { checkNote, STORE, type TemplateKeeper } from "./keeper.ts";

const DEFAULT_GAS = { MsgSetNote: 20_000n };

export function templateGenesis(keeper: TemplateKeeper): GenesisPart {
  return defineGenesis({
    schema: GenesisStateSchema,
    defaults: () => create(GenesisStateSchema, { params: defaultParams() }),
    validate: ({ params = defaultParams(), notes }) => [
      ...paramsProblems(params),
      ...entryProblems("notes", notes, (note) => {
        checkNote(note);
        return note.owner;
      }),
    ],
    init(ctx, { params, notes }) {
      keeper.params.set(ctx.store(STORE), params ?? defaultParams());
      for (const note of notes) keeper.set(ctx, note);
    },
    export(ctx) {
      const store = ctx.store(STORE);
      return create(GenesisStateSchema, {
        notes: [...keeper.notes.values(store)],
        params: keeper.params.require(store),
      });
    },
  });
}

/** Faults of parameters, one sentence each. */
export function paramsProblems({ messageGas }: Params): string[] {
  return gasTableProblems(Msg, messageGas);
}

function defaultParams(): Params {
  return create(ParamsSchema, { messageGas: gasTable(DEFAULT_GAS) });
}
