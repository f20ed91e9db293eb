import { AnySchema } from "@bufbuild/protobuf/wkt";
import { BLOCK_PROTOCOL, ENGINE_VERSION, homeNodeId, homeValidatorKey, P2P_PROTOCOL } from "../../node/index.ts";
import { encodeAddress, publicKeyAddress, publicKeyToAny, toJson } from "../../wire/index.ts";
import type { Flags } from "../command/flags.ts";
import { homeOf } from "../command/home.ts";
import type { CommandInput } from "../command/spec.ts";
import { printAs, printResult } from "../terminal/output.ts";

/** Version of the interface between engine and application. */
const ABCI_VERSION = "2.0.0";

/** `tendermint show-node-id`. */
export async function showNodeId(input: CommandInput): Promise<void> {
  const id = homeNodeId(homeOf(input.flags));
  printAs(input, { node_id: id }, `${id}\n`);
}

/** `tendermint show-validator`: the key with which the node signs blocks, in the form that files of validators use. */
export async function showValidator({ flags, io }: CommandInput): Promise<void> {
  printResult(toJson(AnySchema, publicKeyToAny(validatorKey(flags), flags.profile.namespace)), "json", io);
}

/** `tendermint show-address`: the consensus address of that key. */
export async function showAddress(input: CommandInput): Promise<void> {
  const { flags } = input;
  const address = encodeAddress(publicKeyAddress(validatorKey(flags)), "valcons", flags.profile.bech32Prefix);
  printAs(input, { address }, `${address}\n`);
}

function validatorKey(flags: Flags) {
  return { type: "ed25519", key: homeValidatorKey(homeOf(flags)) } as const;
}

/** `tendermint version`: the protocols of the engine. */
export async function engineVersion({ flags, io }: CommandInput): Promise<void> {
  const versions = {
    ABCI: ABCI_VERSION,
    BlockProtocol: BLOCK_PROTOCOL,
    CometBFT: ENGINE_VERSION,
    P2PProtocol: P2P_PROTOCOL,
  };
  printResult(versions, flags.text("output") === "json" ? "json" : "text", io);
}
