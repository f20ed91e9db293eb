import {
  MsgCreateProviderSchema,
  MsgUpdateProviderSchema,
} from "../../../wire/gen/svc/provider/v1beta1/provider_pb.js";
import { packAny } from "../../../wire/index.ts";
import type { CommandInput } from "../../command/spec.ts";
import { runTx } from "../session/run.ts";
import { readProviderFile } from "./provider-file.ts";

/** `tx provider create FILE`. */
export function providerCreate(input: CommandInput): Promise<number> {
  return sendRecord(input, MsgCreateProviderSchema);
}

/** `tx provider update FILE`. */
export function providerUpdate(input: CommandInput): Promise<number> {
  return sendRecord(input, MsgUpdateProviderSchema);
}

async function sendRecord(
  input: CommandInput,
  schema: typeof MsgCreateProviderSchema | typeof MsgUpdateProviderSchema,
): Promise<number> {
  const { hostUri, attributes, info } = readProviderFile(input.args[0] ?? "");
  return runTx(input, ({ sender }) => [
    packAny(schema, { owner: sender.address, hostUri, attributes: [...attributes], info }),
  ]);
}
