import { create } from "@bufbuild/protobuf";
import { signTx, type TestKey, type TestMessage } from "../../../src/testing/index.ts";
import { toHex } from "../../../src/util/index.ts";
import { SimulateRequestSchema } from "../../../src/wire/gen/sdk/tx/v1beta1/service_pb.js";
import { EndpointSchema } from "../../../src/wire/gen/svc/base/v1beta1/base_pb.js";
import { GroupSpecSchema } from "../../../src/wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import {
  MsgCreateDeploymentSchema,
  MsgPauseGroupSchema,
  MsgStartGroupSchema,
} from "../../../src/wire/gen/svc/deployment/v1beta1/tx_pb.js";
import { encodeMessage } from "../../../src/wire/index.ts";
import { coin, groupSpec, MIN_DEPOSIT } from "../../support/chain/index.ts";
import { callText } from "./sockets.ts";

/** Bytes of an endpoint of a group in its encoding. */
const ENDPOINT_BYTES = 4;

/** A deployment with a group of this many bytes, which is paused and started this many times. */
export function pausedAndStarted(owner: string, { bytes, pairs }: { bytes: number; pairs: number }): TestMessage[] {
  const id = { owner, dseq: 1n };
  const group = create(GroupSpecSchema, groupSpec("web"));
  const endpoint = create(EndpointSchema, { kind: 1 });
  for (const { resources } of group.resources) {
    if (resources !== undefined) resources.endpoints = Array(Math.floor(bytes / ENDPOINT_BYTES)).fill(endpoint);
  }
  const version = new Uint8Array(32).fill(1);
  const groupId = { ...id, gseq: 1 };
  return [
    create(MsgCreateDeploymentSchema, { id, groups: [group], version, deposit: coin(MIN_DEPOSIT) }),
    ...Array.from({ length: pairs }, () => [
      create(MsgPauseGroupSchema, { id: groupId }),
      create(MsgStartGroupSchema, { id: groupId }),
    ]).flat(),
  ];
}

/** The call of the RPC by which a stranger has messages run in the name of an account, without its key or a fee. */
export function simulateCall(key: TestKey, messages: readonly TestMessage[]): string {
  const unsigned = { ...key, sign: () => new Uint8Array(64) };
  const txBytes = signTx("", messages, [{ key: unsigned, accountNumber: 0n, sequence: 0n }], { gas: 0n });
  const data = toHex(
    encodeMessage(SimulateRequestSchema, create(SimulateRequestSchema, { txBytes: new Uint8Array(txBytes) })),
  );
  return callText("abci_query", { path: "/cosmos.tx.v1beta1.Service/Simulate", data });
}
