import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { cliOption, type JsonObject, toNamespace } from "../../../wire/index.ts";
import type { Route } from "../routes.ts";
import { formatTemplate } from "../template.ts";
import { describeParameter } from "./descriptions.ts";
import { Schemas, textSchema } from "./schemas.ts";

/** Messages within messages whose fields are parameters of a query. */
const MAX_DEPTH = 4;
const ERROR_NAME = "Error";

const ERROR_SCHEMA: JsonObject = {
  type: "object",
  required: ["code", "message", "details"],
  properties: {
    code: { type: "integer", description: "gRPC status" },
    message: { type: "string" },
    details: { type: "array", items: { type: "object" } },
  },
};

const HEIGHT_HEADER: JsonObject = {
  name: "x-cosmos-block-height",
  in: "header",
  description: "height of the state to query; the latest unless given",
  schema: { type: "string", pattern: "^[0-9]{1,18}$" },
};

/** The OpenAPI document of routes, in our spelling of their paths. */
export function openApiDocument(routes: readonly Route[], chainId: string): JsonObject {
  const schemas = new Schemas();
  const paths: Record<string, Record<string, JsonObject>> = {};
  const shapes = new Map<string, string>();
  for (const route of routes) {
    const path = formatTemplate(route.steps);
    // The format has no paths that differ only in the name of a variable.
    const shape = path.replaceAll(/\{[^}]*\}/g, "{}");
    if (shapes.has(shape) && shapes.get(shape) !== path) continue;
    shapes.set(shape, path);
    paths[path] = { ...paths[path], [route.verb.toLowerCase()]: operation(route, routes, schemas) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: `REST of ${chainId}`,
      version: "v1beta1",
      description: "Paths that begin with /sdk are also served as /cosmos; answers use the spelling of the request.",
    },
    servers: [{ url: "/" }],
    paths,
    components: { schemas: { ...schemas.all, [ERROR_NAME]: ERROR_SCHEMA } },
  };
}

function operation(route: Route, routes: readonly Route[], schemas: Schemas): JsonObject {
  const { method, body } = route;
  const short = summaryOf(route);
  const content = (schema: JsonObject): JsonObject => ({ content: { "application/json": { schema } } });
  return {
    operationId: operationId(route, routes),
    tags: [tagOf(route)],
    ...(short === "" ? {} : { summary: short }),
    parameters: parametersOf(route),
    ...(body === "" ? {} : { requestBody: { required: true, ...content(schemas.message(method.input)) } }),
    responses: {
      200: { description: "the answer", ...content(schemas.message(method.output)) },
      default: { description: "a refusal", ...content({ $ref: `#/components/schemas/${ERROR_NAME}` }) },
    },
  };
}

/** The rpc's sentence in the help of its command. */
export function summaryOf({ method }: Route): string {
  return cliOption(method)?.short ?? "";
}

/** The package of the rpc, without the version. */
export function tagOf({ method }: Route): string {
  return method.parent.file.proto.package.replace(/\.v\w+$/, "");
}

/** Unique in the document: further routes of one rpc are numbered. */
function operationId(route: Route, routes: readonly Route[]): string {
  const { method } = route;
  const number = routes.filter((each) => each.method === method).indexOf(route);
  const name = `${toNamespace(method.parent.typeName, "sdk")}.${method.name}`.replaceAll(".", "_");
  return number === 0 ? name : `${name}_${number + 1}`;
}

/** Parameters of path and query, in the order of the request's fields. */
export function parametersOf({ method, steps, body }: Route): JsonObject[] {
  const inPath = new Set(steps.flatMap((step) => (step.kind === "word" ? [] : [step.field])));
  const all = textFields(method.input, "", 0).map(({ name, field }) => parameter(name, field, inPath.has(name)));
  const known = body === "*" ? all.filter(({ in: place }) => place === "path") : all;
  return [...known, HEIGHT_HEADER];
}

function parameter(name: string, field: DescField, isInPath: boolean): JsonObject {
  const schema = field.message === undefined ? textSchema(field) : { type: "string" };
  const isList = field.fieldKind === "list";
  const description = describeParameter(name, field);
  return {
    name,
    in: isInPath ? "path" : "query",
    ...(isInPath ? { required: true } : {}),
    ...(description === "" ? {} : { description }),
    schema: isList ? { type: "array", items: schema } : schema,
  };
}

interface NamedField {
  readonly name: string;
  readonly field: DescField;
}

/** Fields that a text can give, with the names of the messages around them. */
function textFields(message: DescMessage, prefix: string, depth: number): NamedField[] {
  return message.fields.flatMap((field): NamedField[] => {
    const name = prefix + field.name;
    if (field.message === undefined) return field.fieldKind === "map" ? [] : [{ name, field }];
    if (field.fieldKind !== "message") return [];
    const isWellKnown = field.message.file.proto.package === "google.protobuf";
    if (isWellKnown) return field.message.name === "Any" ? [] : [{ name, field }];
    return depth >= MAX_DEPTH ? [] : textFields(field.message, `${name}.`, depth + 1);
  });
}
