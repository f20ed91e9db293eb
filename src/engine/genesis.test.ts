import { expect, test } from "vitest";
import { parseGenesis } from "./index.ts";

const file = (params: object) =>
  JSON.stringify({
    genesis_time: "2026-01-01T00:00:00Z",
    chain_id: "svc-1",
    consensus_params: {
      block: { max_bytes: "1000000", max_gas: "-1" },
      evidence: { max_age_num_blocks: "10", max_age_duration: "10", max_bytes: "10" },
      ...params,
    },
    validators: [],
    app_state: {},
  });

test.each([
  [{ abci: { vote_extensions_enable_height: "1" } }, "abci.vote_extensions_enable_height"],
  [{ version: { app: "7" } }, "version.app"],
])("a genesis file with %j is refused, not changed silently", (params, name) => {
  expect(() => parseGenesis(file(params))).toThrow(
    `invalid genesis: consensus_params.${name} must be 0: applications of svc do not have it`,
  );
});

test.each([{}, { abci: {}, version: {} }, { abci: null }, { abci: { vote_extensions_enable_height: "0" } }])(
  "a genesis file with %j begins a chain",
  (params) => expect(parseGenesis(file(params)).chainId).toBe("svc-1"),
);
