import type { DescMessage } from "@bufbuild/protobuf";
import { standardModules } from "../../app/index.ts";
import { sdkErrors } from "../../util/index.ts";
import { BaseAccountSchema, ModuleAccountSchema } from "../../wire/gen/sdk/auth/v1beta1/auth_pb.js";
import { ReflectionService } from "../../wire/gen/sdk/base/reflection/v1beta1/reflection_pb.js";
import { PubKeySchema as Ed25519Schema } from "../../wire/gen/sdk/crypto/ed25519/keys_pb.js";
import { LegacyAminoPubKeySchema } from "../../wire/gen/sdk/crypto/multisig/keys_pb.js";
import { PubKeySchema as Secp256k1Schema } from "../../wire/gen/sdk/crypto/secp256k1/keys_pb.js";
import { TxSchema } from "../../wire/gen/sdk/tx/v1beta1/tx_pb.js";
import { toNamespace } from "../../wire/index.ts";
import { bindNodeService } from "./bind.ts";

/**
 * The interfaces of the ecosystem that a message of this chain may hold, by name, with the messages that implement
 * them.
 */
const IMPLEMENTATIONS: ReadonlyMap<string, () => readonly DescMessage[]> = new Map([
  ["sdk.auth.v1beta1.AccountI", () => [BaseAccountSchema, ModuleAccountSchema]],
  ["sdk.base.v1beta1.Msg", messages],
  ["sdk.crypto.PubKey", () => [Ed25519Schema, LegacyAminoPubKeySchema, Secp256k1Schema]],
  ["sdk.tx.v1beta1.Tx", () => [TxSchema]],
]);

/** Every message that a transaction on this chain may carry. */
function messages(): readonly DescMessage[] {
  return standardModules().modules.flatMap(({ msg }) => msg?.service.methods.map(({ input }) => input) ?? []);
}

/** Tells clients which types they must know. */
export const reflectionService = bindNodeService(ReflectionService, {
  listAllInterfaces({ namespace }) {
    return { interfaceNames: [...IMPLEMENTATIONS.keys()].map((name) => toNamespace(name, namespace)) };
  },

  listImplementations({ namespace }, { interfaceName }) {
    if (interfaceName === "") throw sdkErrors.invalidRequest("invalid interface name");
    const types = IMPLEMENTATIONS.get(toNamespace(interfaceName, "sdk"))?.();
    if (types === undefined)
      throw sdkErrors.invalidRequest(`${interfaceName.slice(0, 80)} is not a registered interface`);
    return { implementationMessageNames: types.map(({ typeName }) => `/${toNamespace(typeName, namespace)}`) };
  },
});
