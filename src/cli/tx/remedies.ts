import { deploymentErrors } from "../../modules/deployment/index.ts";
import { escrowErrors } from "../../modules/escrow/index.ts";
import { marketErrors } from "../../modules/market/index.ts";
import { type ErrorFactory, sdkErrors } from "../../util/index.ts";

type ErrorTable = Readonly<Record<string, ErrorFactory>>;

const TABLES: Readonly<Record<string, ErrorTable>> = {
  sdk: sdkErrors,
  deployment: deploymentErrors,
  escrow: escrowErrors,
  market: marketErrors,
};

/** What the error tables advise for a code of the chain. */
export function remedyOf(codespace: string, code: number): string | undefined {
  const row = Object.values(TABLES[codespace] ?? {}).find((factory) => factory.code === code);
  return row?.().hint;
}
