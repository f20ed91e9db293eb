import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Fixture } from "../support/index.ts";
import { IS_NIGHT, sized } from "../support/runs.ts";
import { type BusyNode, startBusyNode } from "./busy-node.ts";
import { buildPeer, Peer } from "./peers.ts";

/** A generator of requests from OpenAPI documents asks a running node for whatever the document allows, and for more. */

const SEED = 1;
/** Made anew for each route; `npm run lab rest` asks for more. */
const EXAMPLES = Number(process.env.SVC_REST_EXAMPLES ?? sized(1, 4));
/** Coverage tries each bound of each parameter. */
const PHASES = IS_NIGHT ? "coverage,fuzzing" : "fuzzing";
const CHECKS = "not_a_server_error,response_schema_conformance,status_code_conformance,content_type_conformance";

const built = await buildPeer("schemathesis");
const missing = built instanceof Peer ? "" : built.missing;
const fixture = new Fixture();
let busy: BusyNode;

test.skipIf(missing !== "" && process.env.CI !== "true")(
  missing === "" ? "the tool is there" : `no generator of requests, REST is not tested with it: ${missing}`,
  () => expect(missing).toBe(""),
);

beforeAll(async () => {
  busy = await startBusyNode(fixture, SEED);
});

afterAll(async () => {
  if (built instanceof Peer) built.remove();
  await fixture.close();
});

/** Values that exist, so that requests pass the check of their form. */
function settings({ accounts, operator, validator }: BusyNode): string {
  const owners = [...accounts, operator].map(({ address }) => address);
  const dictionaries = { owners, validators: [validator], numbers: ["1", "2", "3", "40"], denoms: ["utoken", "uusd"] };
  const uses: Readonly<Record<keyof typeof dictionaries, readonly string[]>> = {
    owners: ["path.address", "path.owner", "path.delegator_addr", "path.delegator_address", "path.auditor"].concat([
      "query.id.owner",
      "query.id.provider",
      "query.filters.owner",
      "query.filters.provider",
      "query.owner",
    ]),
    validators: ["path.validator_addr", "path.validator_address", "query.src_validator_addr"],
    numbers: ["path.height", "query.id.dseq", "query.id.gseq", "query.id.oseq", "query.filters.dseq"],
    denoms: ["path.denom", "query.denom"],
  };
  const lines = [
    // A method that a route lacks is answered with 501, as wallets expect from the reference's gateway.
    "[phases.coverage]",
    "unexpected-methods = []",
    ...Object.entries(dictionaries).map(
      ([name, values]) => `[dictionaries.${name}]\nvalues = ${JSON.stringify(values)}`,
    ),
    "[parameters]",
    ...Object.entries(uses).flatMap(([dictionary, names]) =>
      names.map((name) => `"${name}" = { dictionary = "${dictionary}", probability = 0.7 }`),
    ),
  ];
  return `${lines.join("\n")}\n`;
}

test.skipIf(missing !== "")(
  "no request breaks the server, and every answer has the form that the document says",
  async () => {
    if (!(built instanceof Peer)) return;
    const config = join(fixture.folder, "schemathesis.toml");
    const report = join(fixture.folder, "report.ndjson");
    writeFileSync(config, settings(busy));
    const { code, out, err } = await built.run(
      [
        ...["--config-file", config, "--no-color", "run", `${busy.rest}/openapi.json`],
        ...["--checks", CHECKS, "--phases", PHASES, "--max-examples", `${EXAMPLES}`],
        ...["--seed", `${SEED}`, "--suppress-health-check", "all", "--generation-deterministic"],
        ...["--report", "ndjson", "--report-ndjson-path", report],
      ],
      { cwd: fixture.folder },
    );
    expect(`${code}\n${out}${err}`).toMatch(/^0\n/);
    expect(out).toMatch(/Tested: (\d+)/);
    const answers = readFileSync(report, "utf8");
    expect(answers).toContain("/svc/market/v1beta1/");
    expect(busy.node.process.running).toBe(true);
  },
);
