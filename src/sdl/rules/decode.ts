import * as v from "valibot";
import { manifestErrors, show } from "../errors.ts";
import type { Manifest } from "../manifest.ts";
import { NEXT_CASES } from "../read/expose.ts";
import { validateManifest } from "./validate.ts";

/** Bounds of lists and texts. A manifest made from a file of the largest size stays within them. */
const MAX_GROUPS = 20;
const MAX_ITEMS = 1_000;
const MAX_TEXT = 65_536;
const MAX_UINT32 = 4_294_967_295;

const wellFormed = v.check((text: string) => !/\p{Cs}/u.test(text), "text is not well-formed Unicode");
const text = v.pipe(v.string(), v.maxLength(MAX_TEXT), wellFormed);
const name = v.pipe(v.string(), v.nonEmpty(), v.maxLength(64), wellFormed);
const uint32 = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MAX_UINT32));
const port = v.pipe(uint32, v.maxValue(65_535));
const amount = v.strictObject({ val: v.pipe(v.string(), v.regex(/^(0|[1-9]\d{0,18})$/)) });

function list<T extends v.GenericSchema>(item: T) {
  return v.pipe(v.array(item), v.maxLength(MAX_ITEMS));
}

const attributes = v.exactOptional(
  list(v.strictObject({ key: v.pipe(text, v.maxLength(128)), value: v.pipe(text, v.maxLength(256)) })),
);

const resources = v.strictObject({
  id: v.pipe(uint32, v.minValue(1)),
  cpu: v.strictObject({ units: amount, attributes }),
  memory: v.strictObject({ size: amount, attributes }),
  storage: list(v.strictObject({ name, size: amount, attributes })),
  gpu: v.strictObject({ units: amount, attributes }),
  endpoints: list(v.strictObject({ kind: v.exactOptional(v.picklist([1, 2])), sequence_number: uint32 })),
});

const httpOptions = v.strictObject({
  maxBodySize: v.pipe(uint32, v.maxValue(104_857_600)),
  readTimeout: v.pipe(uint32, v.maxValue(60_000)),
  sendTimeout: v.pipe(uint32, v.maxValue(60_000)),
  nextTries: uint32,
  nextTimeout: uint32,
  nextCases: v.exactOptional(list(v.picklist(NEXT_CASES))),
  proxyBufferSize: v.exactOptional(v.pipe(uint32, v.maxValue(1_048_576))),
});

const expose = v.strictObject({
  port: v.pipe(port, v.minValue(1)),
  externalPort: port,
  proto: v.picklist(["TCP", "UDP"]),
  service: text,
  global: v.boolean(),
  hosts: v.nullable(list(text)),
  httpOptions,
  ip: v.pipe(text, v.maxLength(64)),
  endpointSequenceNumber: uint32,
});

const TEE_TYPES = ["cpu", "cpu-gpu"] as const;

/** The long form is hashed and sent; our types have the short one. */
const tee = v.union([
  v.picklist(TEE_TYPES),
  v.pipe(
    v.strictObject({ type: v.picklist(TEE_TYPES), attestation: v.literal(true) }),
    v.transform(({ type }) => type),
  ),
]);

const params = v.strictObject({
  storage: v.nullable(list(v.strictObject({ name, mount: v.pipe(text, v.maxLength(1024)), readOnly: v.boolean() }))),
  permissions: v.exactOptional(v.strictObject({ read: list(v.picklist(["deployment", "logs", "events"])) })),
  tee: v.exactOptional(tee),
});

const credentials = v.strictObject({
  host: v.pipe(text, v.nonEmpty()),
  email: text,
  username: v.pipe(text, v.nonEmpty()),
  password: v.pipe(text, v.nonEmpty()),
});

const service = v.strictObject({
  name,
  image: v.pipe(text, v.nonEmpty(), v.maxLength(512)),
  command: v.nullable(list(text)),
  args: v.nullable(list(text)),
  env: v.nullable(list(text)),
  resources,
  count: v.pipe(uint32, v.minValue(1)),
  expose: list(expose),
  params: v.exactOptional(params),
  credentials: v.nullable(credentials),
});

const manifestSchema = v.pipe(v.array(v.strictObject({ name, services: list(service) })), v.maxLength(MAX_GROUPS));

/**
 * Reads a manifest from untrusted JSON: every field known and of its type, all bounds kept, all rules of
 * `validateManifest` fulfilled.
 * @throws SvcError `sdl` 20 with the path of the first fault; values are not repeated, since they may be secret
 */
export function decodeManifest(json: unknown): Manifest {
  const result = v.safeParse(manifestSchema, json, { abortEarly: true });
  if (!result.success) throw manifestErrors.invalid(describeIssue(result.issues[0]));
  validateManifest(result.output);
  return result.output;
}

function describeIssue(issue: v.BaseIssue<unknown>): string {
  const path = (issue.path ?? []).map(({ key }) => (typeof key === "number" ? `[${key}]` : `.${shownKey(key)}`));
  const where = `manifest${path.join("")}`;
  if (issue.type === "strict_object" && issue.expected === "never") return `${where}: unknown field`;
  if (issue.received === "undefined") return `${where}: missing`;
  return `${where}: expected ${issue.expected ?? issue.message}`;
}

function shownKey(key: unknown): string {
  const text = String(key);
  return /^\w{1,64}$/.test(text) ? text : show(text);
}
