import { genesisErrors } from "../../src/app/genesis.ts";
import { moduleSetErrors } from "../../src/app/upgrades/module-versions.ts";
import { clientErrors } from "../../src/client/errors.ts";
import { gatewayClientErrors } from "../../src/client/gateway/errors.ts";
import { walletErrors } from "../../src/console/wallet/errors.ts";
import { jwtErrors } from "../../src/crypto/token/compact.ts";
import { engineErrors } from "../../src/engine/errors.ts";
import { keyringErrors } from "../../src/keyring/errors.ts";
import { ledgerErrors } from "../../src/keyring/ledger/errors.ts";
import { lightErrors } from "../../src/light/errors.ts";
import { nodeErrors } from "../../src/node/errors.ts";
import { clusterErrors } from "../../src/provider/cluster/contract/errors.ts";
import { daemonErrors } from "../../src/provider/errors.ts";
import { gatewayErrors } from "../../src/provider/gateway/errors.ts";
import { ingressErrors } from "../../src/provider/hostnames/errors.ts";
import { leaseErrors } from "../../src/provider/leases/errors.ts";
import { manifestErrors, SDL_CODES } from "../../src/sdl/errors.ts";
import { storeErrors } from "../../src/store/errors.ts";
import { deployErrors } from "../../src/tenant/session/errors.ts";
import { INTERNAL_ERROR, PANIC_ERROR } from "../../src/util/errors.ts";
import { releaseErrors } from "../../src/util/servers/releases.ts";
import { CHAIN_ERRORS, type ErrorTable, wireErrors } from "../../src/wire/index.ts";
import { code, page, table } from "./markdown.ts";

/** Tables whose errors are part of transaction results and query answers. */
const OF_THE_CHAIN: readonly ErrorTable[] = [
  ...CHAIN_ERRORS.values(),
  genesisErrors,
  moduleSetErrors,
  wireErrors,
  storeErrors,
];

/** Tables of the client, the node's own commands, the provider and its gateway. */
const OF_PROGRAMS: readonly ErrorTable[] = [
  manifestErrors,
  deployErrors,
  clientErrors,
  lightErrors,
  gatewayClientErrors,
  keyringErrors,
  ledgerErrors,
  jwtErrors,
  walletErrors,
  nodeErrors,
  engineErrors,
  releaseErrors,
  gatewayErrors,
  leaseErrors,
  clusterErrors,
  daemonErrors,
  ingressErrors,
];

export const ERROR_TABLES: readonly ErrorTable[] = [...OF_THE_CHAIN, ...OF_PROGRAMS];

const INTRO = `An error is told as \`<detail>: <text>\`. Codespace and code are the stable part: they never change, programs rely on them.
A transaction result has both; code 0 is success. Remedies of frequent errors: [troubleshooting](../guides/troubleshooting.md).

Code ${INTERNAL_ERROR.code} of codespace \`${INTERNAL_ERROR.codespace}\` is an error that no table knows, code ${PANIC_ERROR.code} a programming error met while a
transaction ran; nothing of the transaction takes effect.`;

const SDL = `Faults of deployment files have these codes of codespace \`sdl\`; each is told with file, line and column, the value, and what
to write instead.`;

/** The page of all numbered errors. */
export function errorsPage(): string {
  return page("Errors", [
    INTRO,
    "## Of the chain",
    ...OF_THE_CHAIN.flatMap(section),
    "## Of commands, node and provider",
    SDL,
    table(
      ["Code", "Kind"],
      Object.entries(SDL_CODES).map(([kind, number]) => [number.toString(), kind]),
    ),
    ...OF_PROGRAMS.flatMap(section),
  ]);
}

/** Codespace of a table, the same in every row. */
export function codespaceOf(errors: ErrorTable): string {
  const [first] = Object.values(errors);
  return first === undefined ? "" : first().codespace;
}

function section(errors: ErrorTable): string[] {
  const rows = Object.values(errors)
    .toSorted((a, b) => a.code - b.code)
    .map((make) => [make.code.toString(), make.description, make().hint ?? ""]);
  return [`### ${code(codespaceOf(errors))}`, table(["Code", "Text", "Remedy"], rows)];
}
