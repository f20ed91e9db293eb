import { type Context, defineModule, type Module } from "../../runtime/index.ts";
import { equalBytes, toHexUpper } from "../../util/index.ts";
import { evidenceGenesis } from "./genesis.ts";
import { type EvidenceDeps, EvidenceKeeper, hashOf, store } from "./keeper.ts";
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

/** Every piece of evidence is stored under its own hash. */
function hashesAreRight(keeper: EvidenceKeeper, ctx: Context): string | undefined {
  for (const [hash, evidence] of keeper.records.iterate(store(ctx)))
    if (!equalBytes(hash, hashOf(evidence))) return `${toHexUpper(hash)} is not the hash of what stands under it`;
  return undefined;
}
