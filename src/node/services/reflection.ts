import type { DescMethod } from "@bufbuild/protobuf";
import { standardModules } from "../../app/index.ts";
import { sdkErrors } from "../../util/index.ts";
import { ReflectionService } from "../../wire/gen/sdk/base/reflection/v1beta1/reflection_pb.js";
import { toNamespace } from "../../wire/index.ts";
import { bindNodeService } from "./bind.ts";

const VESTING_ACCOUNTS = [
  "sdk.vesting.v1beta1.ContinuousVestingAccount",
  "sdk.vesting.v1beta1.DelayedVestingAccount",
  "sdk.vesting.v1beta1.PeriodicVestingAccount",
  "sdk.vesting.v1beta1.PermanentLockedAccount",
];
const ACCOUNTS = [
  "sdk.auth.v1beta1.BaseAccount",
  "sdk.auth.v1beta1.ModuleAccount",
  "sdk.vesting.v1beta1.BaseVestingAccount",
  ...VESTING_ACCOUNTS,
];

/**
 * The interfaces of the ecosystem that a message of this chain may hold, by name, with the names of the messages that
 * implement them.
 */
const IMPLEMENTATIONS: ReadonlyMap<string, () => readonly string[]> = new Map([
  ["sdk.auth.v1beta1.AccountI", () => ACCOUNTS],
  ["sdk.auth.v1beta1.GenesisAccount", () => ACCOUNTS],
  [
    "sdk.authz.v1beta1.Authorization",
    () => [
      "sdk.authz.v1beta1.GenericAuthorization",
      "sdk.bank.v1beta1.SendAuthorization",
      "sdk.staking.v1beta1.StakeAuthorization",
      "svc.deployment.v1beta1.DepositDeploymentAuthorization",
    ],
  ],
  ["sdk.base.v1beta1.Msg", () => rpcs().map(({ input }) => input.typeName)],
  [
    "sdk.crypto.PubKey",
    () => ["sdk.crypto.ed25519.PubKey", "sdk.crypto.multisig.LegacyAminoPubKey", "sdk.crypto.secp256k1.PubKey"],
  ],
  ["sdk.evidence.v1beta1.Evidence", () => ["sdk.evidence.v1beta1.Equivocation"]],
  [
    "sdk.feegrant.v1beta1.FeeAllowanceI",
    () => [
      "sdk.feegrant.v1beta1.AllowedMsgAllowance",
      "sdk.feegrant.v1beta1.BasicAllowance",
      "sdk.feegrant.v1beta1.PeriodicAllowance",
    ],
  ],
  [
    "sdk.gov.v1beta1.Content",
    () => [
      "sdk.distribution.v1beta1.CommunityPoolSpendProposal",
      "sdk.gov.v1beta1.TextProposal",
      "sdk.params.v1beta1.ParameterChangeProposal",
    ],
  ],
  ["sdk.tx.v1beta1.MsgResponse", () => rpcs().map(({ output }) => output.typeName)],
  ["sdk.tx.v1beta1.Tx", () => ["sdk.tx.v1beta1.Tx"]],
  ["sdk.vesting.v1beta1.VestingAccount", () => VESTING_ACCOUNTS],
]);

/** Rpcs that transactions on this chain may call, in the older form too. */
function rpcs(): readonly DescMethod[] {
  return standardModules().modules.flatMap(({ msg, older }) =>
    [msg, older?.msg].flatMap((bound) => bound?.service.methods ?? []),
  );
}

/** Tells clients which types they must know. */
export const reflectionService = bindNodeService(ReflectionService, {
  listAllInterfaces({ namespace }) {
    return { interfaceNames: [...IMPLEMENTATIONS.keys()].map((name) => toNamespace(name, namespace)) };
  },

  listImplementations({ namespace }, { interfaceName }) {
    if (interfaceName === "") throw sdkErrors.invalidRequest("invalid interface name");
    const names = IMPLEMENTATIONS.get(toNamespace(interfaceName, "sdk"))?.();
    if (names === undefined) throw sdkErrors.keyNotFound(`${interfaceName.slice(0, 80)} is not a registered interface`);
    return { implementationMessageNames: names.map((name) => `/${toNamespace(name, namespace)}`) };
  },
});
