import { auditErrors } from "../../modules/audit/index.ts";
import { bankErrors } from "../../modules/bank/index.ts";
import { certErrors } from "../../modules/cert/index.ts";
import { deploymentErrors } from "../../modules/deployment/index.ts";
import { escrowErrors } from "../../modules/escrow/index.ts";
import { marketErrors } from "../../modules/market/index.ts";
import { providerErrors } from "../../modules/provider/index.ts";
import { type ErrorFactory, sdkErrors } from "../../util/index.ts";

type ErrorTable = Readonly<Record<string, ErrorFactory>>;

const TABLES: Readonly<Record<string, ErrorTable>> = {
  sdk: sdkErrors,
  audit: auditErrors,
  bank: bankErrors,
  cert: certErrors,
  deployment: deploymentErrors,
  escrow: escrowErrors,
  market: marketErrors,
  provider: providerErrors,
};

/** What the error tables advise for a code of the chain. */
export function remedyOf(codespace: string, code: number): string | undefined {
  const row = Object.values(TABLES[codespace] ?? {}).find((factory) => factory.code === code);
  return row?.().hint;
}
