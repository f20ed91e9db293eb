import {
  type DescExtension,
  type DescField,
  type DescMessage,
  type DescMethod,
  type DescService,
  getOption,
  hasOption,
} from "@bufbuild/protobuf";
import { type HttpRule, http } from "./gen/google/api/annotations_pb.js";
import {
  action,
  amino_empty_null,
  amino_field_name,
  amino_keep_empty,
  amino_name,
  amino_oneof_name,
  type Cli,
  type CliField,
  type CliGroup,
  CliText,
  cli,
  cli_field,
  cli_group,
  json_omit_empty,
  not_null,
  older_amino_name,
  Scalar,
  scalar,
  signer,
} from "./gen/svc/options/v1beta1/options_pb.js";

export { type Cli, type CliField, type CliGroup, CliText, type HttpRule, Scalar };

/**
 * Path of the field that holds the signer, for example `id.owner`; undefined if the type is not a transaction message.
 */
export const signerPath = remember((message: DescMessage) => textOption(message, signer));

/** Name in amino JSON sign documents. */
export const aminoName = remember((message: DescMessage) => textOption(message, amino_name));

/** That name before release 0.46 of the ecosystem; undefined where it was the same, empty where there was none. */
export const olderAminoName = remember((message: DescMessage) => textOption(message, older_amino_name));

/** Value of the `message.action` event attribute. */
export const messageAction = remember((message: DescMessage) => textOption(message, action));

/** How to interpret the text or bytes of a field. */
export const scalarOf = remember((field: DescField) => getOption(field, scalar));

/** Whether amino JSON prints the field even when it is empty. */
export const aminoKeepsEmpty = remember((field: DescField) => getOption(field, amino_keep_empty));

/** Whether amino JSON prints an empty list as null. */
export const aminoEmptyIsNull = remember((field: DescField) => getOption(field, amino_empty_null));

/** Name of a field in amino JSON. */
export const aminoFieldName = remember((field: DescField) => getOption(field, amino_field_name) || field.name);

/** Type name in amino JSON of a member of a oneof; empty where it has none. */
export const aminoOneofName = remember((field: DescField) => getOption(field, amino_oneof_name));

/** Whether a sub-message counts as an empty one where it is left out; others are then null. */
export const isNeverNull = remember((field: DescField) => getOption(field, not_null));

/** Whether JSON leaves the field out where it is not set. */
export const jsonOmitsEmpty = remember((field: DescField) => getOption(field, json_omit_empty));

/** The REST binding of an rpc. */
export const httpRule = remember((method: DescMethod): HttpRule | undefined =>
  hasOption(method, http) ? getOption(method, http) : undefined,
);

/** The command of an rpc. */
export const cliOption = remember((method: DescMethod): Cli | undefined =>
  hasOption(method, cli) ? getOption(method, cli) : undefined,
);

/** How the command line reads a field. */
export const cliField = remember((field: DescField): CliField => getOption(field, cli_field));

/** The group that holds the commands of a service; of a module's several services, one names it. */
export const cliGroup = remember((service: DescService): CliGroup | undefined =>
  hasOption(service, cli_group) ? getOption(service, cli_group) : undefined,
);

type TextOption = typeof signer;

function textOption(message: DescMessage, option: TextOption): string | undefined {
  return hasOption(message, option satisfies DescExtension) ? getOption(message, option) : undefined;
}

/** Options are decoded from descriptor bytes at every read, and each is read again and again. */
function remember<D extends object, T>(read: (descriptor: D) => T): (descriptor: D) => T {
  const known = new WeakMap<D, { readonly value: T }>();
  return (descriptor) => {
    const entry = known.get(descriptor) ?? { value: read(descriptor) };
    known.set(descriptor, entry);
    return entry.value;
  };
}
