import { equalBytes, toUtf8 } from "../../util/index.ts";
import { decodeMessage, wireErrors } from "../codec/index.ts";
import { type CommitmentProof, CommitmentProofSchema } from "../gen/sdk/ics23/v1/proofs_pb.js";
import { verifyAbsence } from "./absence.ts";
import { existenceRoot, verifyExistence } from "./existence.ts";
import { IAVL_SPEC, type ProofSpec, SMT_SPEC, TENDERMINT_SPEC } from "./specs.ts";

/** One part of the proof of an `abci_query` with `prove`. */
export interface ProofOp {
  readonly type: string;
  readonly key: Uint8Array;
  /** A `CommitmentProof`. */
  readonly data: Uint8Array;
}

/** The claim about a store of an application. */
export interface StoreClaim {
  /** App hash of the state: that in the header of the next block. */
  readonly appHash: Uint8Array;
  readonly store: string;
  readonly key: Uint8Array;
  /** Undefined when the claim is that the key is absent. */
  readonly value: Uint8Array | undefined;
}

const STORES: ReadonlyMap<string, ProofSpec> = new Map([
  ["ics23:iavl", IAVL_SPEC],
  ["ics23:smt", SMT_SPEC],
]);

/** Throws `wireErrors.badProof` unless the two parts of a proof (key in store, store in application) show the claim. */
export function verifyStoreProof(ops: readonly ProofOp[], { appHash, store, key, value }: StoreClaim): void {
  const [inStore, inApp, ...others] = ops;
  const spec = STORES.get(inStore?.type ?? "");
  if (inStore === undefined || spec === undefined || inApp?.type !== "ics23:simple" || others.length > 0) {
    throw wireErrors.badProof(`its parts are ${ops.map(({ type }) => type.slice(0, 32)).join(", ") || "missing"}`);
  }
  const name = toUtf8(store);
  if (!equalBytes(inStore.key, key)) throw wireErrors.badProof("it is of another key");
  if (!equalBytes(inApp.key, name)) throw wireErrors.badProof("it is of another store");
  const whole = decode(inApp.data);
  if (whole.proof.case !== "exist") throw wireErrors.badProof("it says nothing of the store");
  const root = whole.proof.value.value;
  verifyExistence(TENDERMINT_SPEC, whole.proof.value, { root: appHash, key: name, value: root });
  verifyInStore(spec, decode(inStore.data), { root, key, value });
}

function verifyInStore(
  spec: ProofSpec,
  { proof }: CommitmentProof,
  { root, key, value }: { readonly root: Uint8Array; readonly key: Uint8Array; readonly value: Uint8Array | undefined },
): void {
  if (value !== undefined && proof.case === "exist") verifyExistence(spec, proof.value, { root, key, value });
  else if (value === undefined && proof.case === "nonexist") verifyAbsence(spec, proof.value, { root, key });
  else throw wireErrors.badProof(`it does not show that the key ${value === undefined ? "is not there" : "is there"}`);
}

function decode(data: Uint8Array): CommitmentProof {
  return decodeMessage(CommitmentProofSchema, data, wireErrors.badProof);
}

/** The root that a proof of existence leads to, as `existenceRoot` returns it, from the bytes of a part. */
export function rootOfProof(spec: ProofSpec, data: Uint8Array): Uint8Array {
  const { proof } = decode(data);
  if (proof.case !== "exist") throw wireErrors.badProof("it is not a proof that a key is there");
  return existenceRoot(spec, proof.value).root;
}
