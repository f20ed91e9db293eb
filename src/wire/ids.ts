import { create } from "@bufbuild/protobuf";
import { sdkErrors } from "../util/index.ts";
import { isAddress } from "./address.ts";
import { type CertificateID, CertificateIDSchema } from "./gen/svc/cert/v1beta1/cert_pb.js";
import {
  type DeploymentID,
  DeploymentIDSchema,
  type GroupID,
  GroupIDSchema,
} from "./gen/svc/deployment/v1beta1/deployment_pb.js";
import { type AccountID, AccountIDSchema } from "./gen/svc/escrow/v1beta1/escrow_pb.js";
import {
  type BidID,
  BidIDSchema,
  type LeaseID,
  LeaseIDSchema,
  type OrderID,
  OrderIDSchema,
} from "./gen/svc/market/v1beta1/market_pb.js";

/** The fields of an identifier, whichever message they come from. */
export type DeploymentKey = Pick<DeploymentID, "owner" | "dseq">;
/** The deployment and number of a group. */
export type GroupKey = DeploymentKey & Pick<GroupID, "gseq">;
/** The group and number of an order. */
export type OrderKey = GroupKey & Pick<OrderID, "oseq">;
/** The order and the provider of a bid. */
export type BidKey = OrderKey & Pick<BidID, "provider">;
/** A lease is named by the bid it came from. */
export type LeaseKey = BidKey;
/** Numbers of an order whose owner is known; all orders of the deployment where `gseq` and `oseq` are missing. */
export type OrderNumbers = Pick<OrderKey, "dseq"> & Partial<Pick<OrderKey, "gseq" | "oseq">>;
/** The owner and serial number of a certificate. */
export type CertificateKey = Pick<CertificateID, "owner" | "serial">;
/** Purpose of an escrow account: a deployment's money, or the deposit of a bid. */
export type AccountScope = "deployment" | "bid";
/** An escrow account; `xid` is the text of the deployment's or the bid's id. */
export type AccountKey = Pick<AccountID, "xid"> & { readonly scope: AccountScope };

const MAX_UINT32 = 0xffff_ffffn;
const MAX_UINT64 = (1n << 64n) - 1n;

/** `<owner>/<dseq>`. */
export function formatDeploymentId(id: DeploymentKey): string {
  return `${id.owner}/${id.dseq}`;
}

/** `<owner>/<dseq>/<gseq>`. */
export function formatGroupId(id: GroupKey): string {
  return `${formatDeploymentId(id)}/${id.gseq}`;
}

/** `<owner>/<dseq>/<gseq>/<oseq>`. */
export function formatOrderId(id: OrderKey): string {
  return `${formatGroupId(id)}/${id.oseq}`;
}

/** `<owner>/<dseq>/<gseq>/<oseq>/<provider>`. */
export function formatBidId(id: BidKey): string {
  return `${formatOrderId(id)}/${id.provider}`;
}

/** The same text as the bid's. */
export function formatLeaseId(id: LeaseKey): string {
  return formatBidId(id);
}

/** `<gseq>/<oseq>/<provider>`: the lease's payment inside the escrow account of its deployment. */
export function formatPaymentId(id: LeaseKey): string {
  return `${id.gseq}/${id.oseq}/${id.provider}`;
}

/** `<owner>/<serial>`. */
export function formatCertificateId(id: CertificateKey): string {
  return `${id.owner}/${id.serial}`;
}

/** `<scope>/<xid>`. */
export function formatAccountId(id: Pick<AccountID, "scope" | "xid">): string {
  return `${id.scope}/${id.xid}`;
}

/**
 * Reads `<owner>/<dseq>`, with or without `deployment/` in front. Throws `sdkErrors.invalidRequest`, like all parsers
 * here.
 */
export function parseDeploymentId(text: string): DeploymentID {
  const [owner, dseq] = splitId(text, "deployment", 2);
  return create(DeploymentIDSchema, { owner, dseq: number(text, dseq, MAX_UINT64) });
}

/** Reads `<owner>/<dseq>/<gseq>`, with or without `group/` in front. */
export function parseGroupId(text: string): GroupID {
  const [owner, dseq, gseq] = splitId(text, "group", 3);
  return create(GroupIDSchema, { owner, dseq: number(text, dseq, MAX_UINT64), gseq: sequence(text, gseq) });
}

/** Reads `<owner>/<dseq>/<gseq>/<oseq>`, with or without `order/` in front. */
export function parseOrderId(text: string): OrderID {
  return create(OrderIDSchema, orderFields(text, splitId(text, "order", 4)));
}

/** Reads `<owner>/<dseq>/<gseq>/<oseq>/<provider>`, with or without `bid/` in front. */
export function parseBidId(text: string): BidID {
  return create(BidIDSchema, bidFields(text, splitId(text, "bid", 5)));
}

/** Reads `<owner>/<dseq>/<gseq>/<oseq>/<provider>`, with or without `lease/` in front. */
export function parseLeaseId(text: string): LeaseID {
  return create(LeaseIDSchema, bidFields(text, splitId(text, "lease", 5)));
}

/** Reads `<owner>/<serial>`. */
export function parseCertificateId(text: string): CertificateID {
  const [owner, serial] = splitId(text, "certificate", 2);
  if (serial === undefined || !/^(0|[1-9]\d{0,59})$/.test(serial))
    throw malformed(text, "the serial is not a decimal number");
  return create(CertificateIDSchema, { owner, serial });
}

/** Reads `<scope>/<xid>`; the external id may itself hold slashes. */
export function parseAccountId(text: string): AccountID {
  const slash = text.indexOf("/");
  if (slash <= 0 || slash === text.length - 1) throw malformed(text, "write <scope>/<id>");
  return create(AccountIDSchema, { scope: text.slice(0, slash), xid: text.slice(slash + 1) });
}

function orderFields(text: string, parts: readonly string[]): OrderKey {
  const [owner = "", dseq, gseq, oseq] = parts;
  return {
    owner,
    dseq: number(text, dseq, MAX_UINT64),
    gseq: sequence(text, gseq),
    oseq: sequence(text, oseq),
  };
}

function bidFields(text: string, parts: readonly string[]): BidKey {
  const provider = parts[4] ?? "";
  if (!isAddress(provider)) throw malformed(text, `${JSON.stringify(provider)} is not a provider address`);
  return { ...orderFields(text, parts), provider };
}

function splitId(text: string, kind: string, length: number): [string, ...string[]] {
  const parts = text.split("/");
  const [owner = "", ...rest] = parts[0] === kind ? parts.slice(1) : parts;
  if (rest.length + 1 !== length) throw malformed(text, `it should have ${length} parts between slashes`);
  if (!isAddress(owner)) throw malformed(text, `${JSON.stringify(owner)} is not an account address`);
  return [owner, ...rest];
}

function number(text: string, digits: string | undefined, max: bigint): bigint {
  const value = digits !== undefined && /^[1-9]\d{0,19}$/.test(digits) ? BigInt(digits) : 0n;
  if (value === 0n || value > max) throw malformed(text, `${JSON.stringify(digits)} is not a number from 1 to ${max}`);
  return value;
}

function sequence(text: string, digits: string | undefined): number {
  return Number(number(text, digits, MAX_UINT32));
}

function malformed(text: string, why: string): Error {
  return sdkErrors.invalidRequest(`invalid identifier ${JSON.stringify(text.slice(0, 200))}: ${why}`);
}
