import { create, type DescField, type DescMessage, isMessage, type MessageShape } from "@bufbuild/protobuf";
import { DurationSchema } from "@bufbuild/protobuf/wkt";
import { standardModules } from "../../app/index.ts";
import type { ChainSource } from "../../engine/index.ts";
import { SvcError, sdkErrors } from "../../util/index.ts";
import { Query } from "../../wire/gen/sdk/params/v1beta1/query_pb.js";
import { decodeMessage, encodeMessage, isObject, printJson, toJson, toNanos } from "../../wire/index.ts";
import { bindNodeService } from "./bind.ts";

/** The query of a module for its parameters. */
interface ParamsQuery {
  readonly path: string;
  readonly input: DescMessage;
  readonly output: DescMessage;
  readonly params: DescMessage;
}

/** Light explorers read single parameters as releases before 0.47 of the ecosystem kept them: by module and name. */
export const paramsService = bindNodeService(
  Query,
  {
    async params({ chain, height }, { subspace, key }) {
      if (subspace === "" || key === "") throw sdkErrors.invalidRequest("a parameter has a subspace and a key");
      const query = queries().get(subspace);
      if (query === undefined) throw sdkErrors.keyNotFound(`there is no subspace ${shown(subspace)}`);
      const field = query.params.fields.find(({ name }) => pascalCase(name) === pascalCase(key));
      if (field === undefined) throw sdkErrors.keyNotFound(`${subspace} has no parameter ${shown(key)}`);
      return { param: { subspace, key, value: textOf(field, await ask(chain, query, height)) } };
    },

    async subspaces() {
      const subspaces = [...queries()].map(([subspace, { params }]) => ({
        subspace,
        keys: params.fields.map(({ name }) => pascalCase(name)),
      }));
      return { subspaces };
    },
  },
  { isOfState: true },
);

let known: ReadonlyMap<string, ParamsQuery> | undefined;

/** By module; a module without parameters has none. */
function queries(): ReadonlyMap<string, ParamsQuery> {
  known ??= new Map(
    standardModules().modules.flatMap(({ name, query }) => {
      const { input, output } = query?.methods.get("Params") ?? {};
      const params = output?.field.params?.message;
      if (query === undefined || input === undefined || output === undefined || params === undefined) return [];
      return [[name, { path: `/${query.service.typeName}/Params`, input, output, params }] as const];
    }),
  );
  return known;
}

/** All parameters of a module. */
async function ask(
  chain: ChainSource,
  { path, input, output }: ParamsQuery,
  height: bigint,
): Promise<MessageShape<DescMessage>> {
  const data = encodeMessage(input, create(input));
  const answer = await chain.app.query({ path, data, height, prove: false });
  if (answer.code !== 0) throw new SvcError(answer.codespace, answer.code, answer.log);
  return decodeMessage(output, answer.value);
}

/** JSON as the amino codec wrote it: a duration is its nanoseconds in quotes. */
function textOf(field: DescField, answer: MessageShape<DescMessage>): string {
  const params: unknown = Reflect.get(answer, "params");
  if (!isMessage(params)) return printJson(null);
  const value: unknown = Reflect.get(params, field.localName);
  if (isMessage(value, DurationSchema)) return printJson(toNanos(value).toString());
  const schema = field.parent;
  const json = toJson(schema, params, { exact: true });
  return printJson((isObject(json) ? json[field.name] : undefined) ?? null);
}

/** `max_validators` and `MaxValidators` are the same parameter. */
function pascalCase(name: string): string {
  return name.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function shown(text: string): string {
  return JSON.stringify(text.slice(0, 80));
}
