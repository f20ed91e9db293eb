import { create } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seedFrom } from "../../../test/support/rng.ts";
import { runs } from "../../../test/support/runs.ts";
import { DEFAULT_LIMITS, DEFAULT_TERMS, loadSdl, MAX_FILE_BYTES, SdlError } from "../../sdl/index.ts";
import { DEC_ONE, decFromInt, formatDecShort, toUtf8 } from "../../util/index.ts";
import { type GroupSpec, GroupSpecSchema, LimitsSchema } from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { encodeAddress } from "../../wire/index.ts";
import { checkGroups } from "./group-spec.ts";

/** The request of one test deployment, the source of both its file and its groups on the chain. */
interface Row {
  readonly cpu: bigint;
  readonly memory: bigint;
  readonly volumes: readonly { readonly name: string; readonly size: bigint }[];
  readonly gpus: number;
  readonly models: readonly string[];
  readonly count: number;
  readonly price: bigint;
  readonly denom: string;
  readonly tee: boolean;
}

interface Group {
  readonly name: string;
  readonly attributes: readonly (readonly [key: string, value: string])[];
  readonly anyOf: readonly string[];
  readonly allOf: readonly string[];
  readonly rows: readonly Row[];
}

/** Nearly always the first kind, so that a fault is seldom hidden behind another one. */
function mostly<T>(usual: fc.Arbitrary<T>, odd: fc.Arbitrary<T>, weight = 40): fc.Arbitrary<T> {
  return fc.oneof({ weight, arbitrary: usual }, { weight: 1, arbitrary: odd });
}

/** Amounts at and around bounds. */
function around(...bounds: readonly bigint[]): fc.Arbitrary<bigint> {
  return fc.constantFrom(...bounds.flatMap((bound) => [bound - 1n, bound, bound + 1n]));
}

const limits = DEFAULT_LIMITS;
const MIB = 1n << 20n;
const auditor = fc.uint8Array({ minLength: 20, maxLength: 20 }).map((bytes) => encodeAddress(bytes));
const stranger = fc.oneof(
  fc.constantFrom("svc1auditor", "svc1", "x", "SVC1AUDITOR", "not an address", "ä"),
  auditor.map((text) => text.slice(0, -1)),
  auditor.map((text) => text.replace(/^svc1/, "akash1")),
  fc.uint8Array({ minLength: 20, maxLength: 20 }).map((bytes) => encodeAddress(bytes, "account", "akash")),
  fc.uint8Array({ minLength: 20, maxLength: 20 }).map((bytes) => encodeAddress(bytes, "valoper")),
);
const auditors = mostly(
  fc.array(mostly(auditor, stranger, 20), { maxLength: 3 }),
  auditor.chain((text) => fc.constantFrom(32, 33, 64, 65).map((length) => Array<string>(length).fill(text))),
);
const key = mostly(
  fc.stringMatching(/^[a-z][a-z0-9]{2,9}$/),
  fc.constantFrom("a", "ab", "1ab", "a b", "a".repeat(128), "a".repeat(129), "region*", "re*gion", "tee/type", "ä"),
);
const value = mostly(
  fc.stringMatching(/^[a-z0-9 .:-]{0,5}x$/),
  fc.constantFrom(256, 257).map((length) => "v".repeat(length)),
  100,
);
const attributes: fc.Arbitrary<Group["attributes"]> = mostly<Group["attributes"]>(
  fc.uniqueArray(fc.tuple(key, value), { selector: ([name]) => name, maxLength: 4 }),
  fc
    .constantFrom(-1, 0, 1)
    .map((n) => Array.from({ length: limits.groupAttributesMax + n }, (_, i) => [`key${i}`, "x"] as const)),
  100,
);
const row: fc.Arbitrary<Row> = fc
  .record({
    cpu: mostly(fc.constant(100n), around(0n, limits.unitCpuMin, limits.unitCpuMax)),
    memory: mostly(fc.constant(64n * MIB), around(limits.unitMemoryMin, limits.unitMemoryMax)),
    volumes: mostly<Row["volumes"]>(
      fc.constant([{ name: "default", size: 64n * MIB }]),
      fc.array(
        fc.record({
          name: fc.constantFrom("default", "data", "logs"),
          size: mostly(fc.constant(64n * MIB), around(limits.unitStorageMin, limits.unitStorageMax), 8),
        }),
        { maxLength: 3 },
      ),
    ),
    gpus: mostly(fc.constant(0), fc.constantFrom(1, Number(limits.unitGpuMax), Number(limits.unitGpuMax) + 1)),
    models: mostly(
      fc.constant<string[]>([]),
      fc.constantFrom(-1, 0, 1).map((n) => modelNames(limits.unitAttributesMax + n)),
      20,
    ),
    count: mostly(fc.constant(1), fc.constantFrom(0, 1, 49, limits.unitCountMax, limits.unitCountMax + 1)),
    price: mostly(
      fc.constant(10n * DEC_ONE),
      fc.oneof(fc.constantFrom(0n, 1n), around(decFromInt(limits.unitPriceMax))),
    ),
    denom: mostly(fc.constant("utoken"), fc.constantFrom("uother", "u", "1u", "")),
    tee: fc.boolean(),
  })
  // The file names the vendor of each GPU; on the chain that may be left out.
  .map((each) => (each.gpus > 0 && each.models.length === 0 ? { ...each, models: ["a100"] } : each));
const group: fc.Arbitrary<Group> = fc.record({
  name: mostly(
    fc.stringMatching(/^[a-z]{1,8}$/),
    fc.constantFrom(64, 65).map((length) => "n".repeat(length)),
  ),
  attributes,
  anyOf: auditors,
  allOf: auditors,
  rows: mostly(
    fc.array(row, { minLength: 1, maxLength: 3 }),
    fc.tuple(row, fc.constantFrom(20, 21)).map(([each, n]) => Array<Row>(n).fill(each)),
  ),
});
const groups = mostly(
  fc.uniqueArray(group, { selector: ({ name }) => name, minLength: 1, maxLength: 3 }),
  fc
    .tuple(group, fc.constantFrom(20, 21))
    .map(([each, n]) => Array.from({ length: n }, (_, i) => named(each, `g${i}`))),
);

function modelNames(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `m${i}`);
}

function named(each: Group, name: string): Group {
  return { ...each, name };
}

/** The deployment file, as JSON, which is YAML. */
function fileOf(all: readonly Group[]): string {
  const rows = all.flatMap((each) => each.rows.map((of, i) => ({ of, group: each, id: `${all.indexOf(each)}x${i}` })));
  const entries = <T>(make: (each: (typeof rows)[number]) => T) => Object.fromEntries(rows.map((r) => [r.id, make(r)]));
  const services = Object.entries(
    entries(({ of }) => ({
      image: "docker.io/library/nginx",
      expose: [{ port: 80, to: [{ global: true }] }],
      ...(of.tee ? { params: { tee: "cpu" } } : {}),
    })),
  ).map(([id, service]) => [`s${id}`, service]);
  return JSON.stringify({
    version: "2.0",
    services: Object.fromEntries(services),
    profiles: {
      compute: entries(({ of }) => ({ resources: resourcesText(of) })),
      placement: Object.fromEntries(
        all.map((each) => [
          each.name,
          {
            attributes: Object.fromEntries(each.attributes),
            signedBy: { anyOf: each.anyOf, allOf: each.allOf },
            pricing: Object.fromEntries(
              rows
                .filter((r) => r.group === each)
                .map(({ id, of }) => [id, { denom: of.denom, amount: formatDecShort(of.price) }]),
            ),
          },
        ]),
      ),
    },
    deployment: Object.fromEntries(
      rows.map(({ id, of, group: { name } }) => [`s${id}`, { [name]: { profile: id, count: of.count } }]),
    ),
  });
}

function resourcesText({ cpu, memory, volumes, gpus, models }: Row): object {
  const gpu = { units: gpus, attributes: { vendor: { nvidia: models.map((model) => ({ model })) } } };
  return {
    cpu: { units: `${cpu}m` },
    memory: { size: `${memory}` },
    storage: volumes.map(({ name, size }) => ({ name, size: `${size}` })),
    ...(gpus === 0 && models.length === 0 ? {} : { gpu }),
  };
}

function specsOf(all: readonly Group[]): GroupSpec[] {
  return all.map(({ name, attributes: own, anyOf, allOf, rows }) =>
    create(GroupSpecSchema, {
      name,
      requirements: {
        signedBy: { anyOf: [...anyOf], allOf: [...allOf] },
        attributes: [...own, ...(rows.some(({ tee }) => tee) ? [["tee/type", "cpu"] as const] : [])].map(
          ([each, text]) => ({ key: each, value: text }),
        ),
      },
      resources: rows.map((each, i) => rowOf(each, i + 1)),
    }),
  );
}

const val = (amount: bigint) => ({ val: toUtf8(`${amount}`) });

function rowOf({ cpu, memory, volumes, gpus, models, count, price, denom }: Row, id: number) {
  return {
    count,
    price: { denom, amount: `${price}` },
    resources: {
      id,
      cpu: { units: val(cpu) },
      memory: { quantity: val(memory) },
      storage: volumes.map(({ name, size }) => ({ name, quantity: val(size) })),
      gpu: {
        units: val(BigInt(gpus)),
        attributes: models.map((model) => ({ key: `vendor/nvidia/model/${model}`, value: "true" })),
      },
      endpoints: [{ kind: 0 }],
    },
  };
}

function chainFault(all: readonly Group[]): string | undefined {
  try {
    checkGroups(specsOf(all), create(LimitsSchema, { ...limits }), all[0]?.rows[0]?.denom ?? "");
    return undefined;
  } catch (error) {
    return String(error);
  }
}

function fileFaults(text: string, denoms: readonly string[]): readonly string[] {
  try {
    loadSdl(text, { chain: { ...DEFAULT_TERMS, denoms } });
    return [];
  } catch (error) {
    if (!(error instanceof SdlError)) throw error;
    return error.issues.map(({ path, problem }) => `${path}: ${problem}`);
  }
}

describe("a deployment file and the chain", () => {
  it("agree on which groups are taken, and the file names the value that is wrong", () => {
    const { seed } = seedFrom("SVC_TEST_SEED");
    let taken = 0;
    let refused = 0;
    fc.assert(
      fc.property(groups, (all) => {
        const text = fileOf(all);
        fc.pre(text.length <= MAX_FILE_BYTES);
        const onChain = chainFault(all);
        const inFile = fileFaults(
          text,
          all.flatMap(({ rows }) => rows.map(({ denom }) => denom)),
        );
        expect(inFile.length > 0, `chain: ${onChain}; file: ${inFile.join("; ")}`).toBe(onChain !== undefined);
        expect(inFile.filter((fault) => fault.includes("the chain refuses"))).toEqual([]);
        if (onChain === undefined) taken += 1;
        else refused += 1;
      }),
      { numRuns: runs(80), seed: seed | 0 },
    );
    // A tenth of all at the least: about a third are taken.
    expect(Math.min(taken, refused)).toBeGreaterThan(runs(8));
  });
});
