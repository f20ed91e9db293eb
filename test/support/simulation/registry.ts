import { create } from "@bufbuild/protobuf";
import { sha256 } from "../../../src/crypto/index.ts";
import { toUtf8 } from "../../../src/util/index.ts";
import {
  MsgDeleteProviderAttributesSchema,
  MsgSignProviderAttributesSchema,
} from "../../../src/wire/gen/svc/audit/v1beta1/audit_pb.js";
import {
  MsgCreateCertificateSchema,
  MsgRevokeCertificateSchema,
} from "../../../src/wire/gen/svc/cert/v1beta1/cert_pb.js";
import { forgeCertificate } from "../chain/index.ts";
import type { MarketSimulation } from "./market.ts";
import type { SimAction, SimOperation } from "./operation.ts";

/** Everything that people publish about themselves and about providers: certificates and audited attributes. */
export const registryOperations: readonly SimOperation<MarketSimulation>[] = [
  { name: "publish-certificate", weight: 1, build: publish },
  { name: "revoke-certificate", weight: 1, build: revoke },
  { name: "sign-attributes", weight: 3, build: signAttributes },
  { name: "delete-attributes", weight: 1, build: deleteAttributes },
];

/** Certificates stay forever: an account has a few. */
const SERIALS = ["01", "7f"];
const AUDITORS = 3;
const KEYS = ["region", "tier", "host"];

function publish({ random, tenants }: MarketSimulation): SimAction | undefined {
  const owner = random.pick(tenants);
  const serial = random.pick(SERIALS);
  if (owner === undefined || serial === undefined) return undefined;
  const secret = Uint8Array.from(sha256(toUtf8(`${owner} ${serial}`)));
  const name = random.int(8) === 0 ? (random.pick(tenants) ?? owner) : owner;
  const { cert, pubkey } = forgeCertificate({ name, serial, secret });
  return { signer: owner, message: create(MsgCreateCertificateSchema, { owner, cert, pubkey }) };
}

function revoke({ random, tenants }: MarketSimulation): SimAction | undefined {
  const owner = random.pick(tenants);
  if (owner === undefined) return undefined;
  const serial = `${Number.parseInt(random.pick(SERIALS) ?? "1", 16)}`;
  return { signer: owner, message: create(MsgRevokeCertificateSchema, { id: { owner, serial } }) };
}

function signAttributes({ random, tenants, providers }: MarketSimulation): SimAction | undefined {
  const [auditor, owner] = [random.pick(tenants.slice(0, AUDITORS)), random.pick(providers)];
  if (auditor === undefined || owner === undefined) return undefined;
  const keys = KEYS.filter(() => random.int(2) === 0);
  const attributes = keys.map((key) => ({ key, value: `${random.int(3)}` }));
  return { signer: auditor, message: create(MsgSignProviderAttributesSchema, { owner, auditor, attributes }) };
}

function deleteAttributes({ random, tenants, providers }: MarketSimulation): SimAction | undefined {
  const [auditor, owner] = [random.pick(tenants.slice(0, AUDITORS)), random.pick(providers)];
  if (auditor === undefined || owner === undefined) return undefined;
  const keys = KEYS.filter(() => random.int(3) === 0);
  return { signer: auditor, message: create(MsgDeleteProviderAttributesSchema, { owner, auditor, keys }) };
}
