import { create } from "@bufbuild/protobuf";
import { sdkErrors } from "../../util/index.ts";
import {
  type SignatureDescriptor,
  type SignatureDescriptor_Data,
  SignatureDescriptor_DataSchema,
  SignatureDescriptorSchema,
} from "../gen/sdk/tx/signing/v1beta1/signing_pb.js";
import type { SignerInfo } from "../gen/sdk/tx/v1beta1/tx_pb.js";
import { decodeMultiSignature, type MemberSignature, publicKeyFromAny } from "../keys/index.ts";
import { SignMode } from "./tx.ts";

/** A signature by itself, in the form that travels between the signers of a transaction. */
export function describeSignature(info: SignerInfo, signature: Uint8Array): SignatureDescriptor {
  const { publicKey, sequence } = info;
  const data = describeData(info, signature);
  return create(SignatureDescriptorSchema, { ...(publicKey === undefined ? {} : { publicKey }), data, sequence });
}

function describeData({ modeInfo }: SignerInfo, signature: Uint8Array): SignatureDescriptor_Data {
  const sum = modeInfo?.sum;
  if (sum?.case !== "multi") return single(sum?.case === "single" ? sum.value.mode : SignMode.UNSPECIFIED, signature);
  const { bitarray, modeInfos } = sum.value;
  const signatures = decodeMultiSignature(signature).map((bytes, i) => {
    const member = modeInfos[i]?.sum;
    return single(member?.case === "single" ? member.value.mode : SignMode.UNSPECIFIED, bytes);
  });
  const value = { ...(bitarray === undefined ? {} : { bitarray }), signatures };
  return create(SignatureDescriptor_DataSchema, { sum: { case: "multi", value } });
}

function single(mode: SignMode, signature: Uint8Array): SignatureDescriptor_Data {
  return create(SignatureDescriptor_DataSchema, { sum: { case: "single", value: { mode, signature } } });
}

/** The share of a member of a multisig. Throws `sdkErrors.invalidRequest` unless it is a signature of one key. */
export function memberSignatureOf({ publicKey, data }: SignatureDescriptor): MemberSignature {
  const key = publicKey === undefined ? undefined : publicKeyFromAny(publicKey);
  const sum = data?.sum;
  if (key === undefined || key.type === "multisig" || sum?.case !== "single") {
    throw sdkErrors.invalidRequest("it does not hold the signature of one key");
  }
  return { publicKey: key, mode: sum.value.mode, signature: sum.value.signature };
}
