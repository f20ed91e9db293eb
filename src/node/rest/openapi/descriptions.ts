import type { DescField } from "@bufbuild/protobuf";

/**
 * Descriptions of parameters, by the full name of a field, the end of the parameter's name, or the name of the field: a
 * name means the same in every request unless a longer one is here.
 */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  "pagination.key": "next_key of the page before, to continue after it",
  "pagination.offset": "number of rows to skip; not together with key",
  "pagination.limit": "rows of a page, at most 1000; 100 unless given",
  "pagination.count_total": "whether to count all rows",
  "pagination.reverse": "whether the last rows come first",

  address: "address of the account",
  address_bytes: "bytes of the address in base64, or the text of the address",
  address_string: "text of the address",
  account_id: "number of the account",
  "sdk.auth.v1beta1.QueryAccountAddressByIDRequest.id": "number of the account; use account_id instead",
  "sdk.auth.v1beta1.QueryModuleAccountByNameRequest.name": "name of the module's account",
  denom: "denomination, such as utoken",
  denoms: "denominations to show; all unless given",
  granter: "account that gave the grant",
  grantee: "account that received the grant",
  msg_type_url: "type URL of the messages that are granted; all unless given",

  validator_addr: "operator address of the validator",
  validator_address: "operator address of the validator",
  delegator_addr: "account of the delegator",
  delegator_address: "account of the delegator",
  src_validator_addr: "operator address of the validator from which stake moves; all unless given",
  dst_validator_addr: "operator address of the validator to which stake moves; all unless given",
  status: "bonding status of the validators; all unless given",
  cons_address: "consensus address of the validator",
  starting_height: "first height of the range",
  ending_height: "last height of the range",
  evidence_hash: "hash of the evidence in base64; use hash instead",
  "sdk.evidence.v1beta1.QueryEvidenceRequest.hash": "hash of the evidence, in hex",

  proposal_id: "number of the proposal",
  proposal_status: "status of the proposals; all unless given",
  voter: "account that votes",
  depositor: "account that makes the deposit",
  params_type: "part of the parameters: voting, deposit or tallying",

  height: "height of the block",
  hash: "hash of the transaction, in hex",
  query: "conditions on events, such as tx.height>5 AND transfer.recipient='svc1...'",
  events: "conditions on events, all of which must hold; use query instead",
  order_by: "order of the transactions by height",
  page: "number of the page, from 1",
  limit: "transactions of a page, at most 100",
  path: "path of the query, such as /store/bank/key",
  data: "bytes of the query in base64",
  prove: "whether to prove the answer",
  "sdk.base.tendermint.v1beta1.ABCIQueryRequest.height": "height of the state; the latest unless given",
  interface_name: "name of the interface",
  subspace: "name of the module",
  key: "name of the parameter",
  module_name: "name of the module; all unless given",
  "sdk.upgrade.v1beta1.QueryAppliedPlanRequest.name": "name of the upgrade",

  owner: "account that owns the deployment, provider, certificate or payment",
  dseq: "number of the deployment, which its owner chose",
  gseq: "number of the group in the deployment",
  oseq: "number of the order of the group",
  provider: "account of the provider",
  auditor: "account of the auditor",
  serial: "serial number of the certificate",
  state: "state of the records; all unless given",
  scope: "what the escrow account is for: deployment or bid",
  xid: "id of the escrow account in its scope, or the beginning of it up to a slash",
  "svc.escrow.v1beta1.QueryPaymentsRequest.id": "id of the payment; all unless given",
};

/** Description of a parameter; empty if there is none. */
export function describeParameter(name: string, { parent, name: ownName }: DescField): string {
  const found = DESCRIPTIONS[`${parent.typeName}.${ownName}`] ?? DESCRIPTIONS[name] ?? DESCRIPTIONS[ownName];
  return found ?? "";
}
