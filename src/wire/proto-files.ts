// Written by npm run gen.
import type { DescFile } from "@bufbuild/protobuf";
import {
  file_google_protobuf_any,
  file_google_protobuf_duration,
  file_google_protobuf_timestamp,
} from "@bufbuild/protobuf/wkt";
import { file_comet_v1_abci } from "./gen/comet/v1/abci_pb.js";
import { file_comet_v1_app } from "./gen/comet/v1/app_pb.js";
import { file_comet_v1_types } from "./gen/comet/v1/types_pb.js";
import { file_google_api_annotations } from "./gen/google/api/annotations_pb.js";
import { file_sdk_auth_v1beta1_auth } from "./gen/sdk/auth/v1beta1/auth_pb.js";
import { file_sdk_auth_v1beta1_tx } from "./gen/sdk/auth/v1beta1/tx_pb.js";
import { file_sdk_authz_v1beta1_authz } from "./gen/sdk/authz/v1beta1/authz_pb.js";
import { file_sdk_authz_v1beta1_genesis } from "./gen/sdk/authz/v1beta1/genesis_pb.js";
import { file_sdk_authz_v1beta1_query } from "./gen/sdk/authz/v1beta1/query_pb.js";
import { file_sdk_authz_v1beta1_tx } from "./gen/sdk/authz/v1beta1/tx_pb.js";
import { file_sdk_bank_v1beta1_authz } from "./gen/sdk/bank/v1beta1/authz_pb.js";
import { file_sdk_bank_v1beta1_bank } from "./gen/sdk/bank/v1beta1/bank_pb.js";
import { file_sdk_bank_v1beta1_query } from "./gen/sdk/bank/v1beta1/query_pb.js";
import { file_sdk_bank_v1beta1_tx } from "./gen/sdk/bank/v1beta1/tx_pb.js";
import { file_sdk_base_abci_v1beta1_abci } from "./gen/sdk/base/abci/v1beta1/abci_pb.js";
import { file_sdk_base_node_v1beta1_query } from "./gen/sdk/base/node/v1beta1/query_pb.js";
import { file_sdk_base_query_v1beta1_pagination } from "./gen/sdk/base/query/v1beta1/pagination_pb.js";
import { file_sdk_base_reflection_v1beta1_reflection } from "./gen/sdk/base/reflection/v1beta1/reflection_pb.js";
import { file_sdk_base_tendermint_v1beta1_query } from "./gen/sdk/base/tendermint/v1beta1/query_pb.js";
import { file_sdk_base_v1beta1_coin } from "./gen/sdk/base/v1beta1/coin_pb.js";
import { file_sdk_consensus_v1_genesis } from "./gen/sdk/consensus/v1/genesis_pb.js";
import { file_sdk_consensus_v1_query } from "./gen/sdk/consensus/v1/query_pb.js";
import { file_sdk_consensus_v1_tx } from "./gen/sdk/consensus/v1/tx_pb.js";
import { file_sdk_crypto_ed25519_keys } from "./gen/sdk/crypto/ed25519/keys_pb.js";
import { file_sdk_crypto_keyring_v1_record } from "./gen/sdk/crypto/keyring/v1/record_pb.js";
import { file_sdk_crypto_multisig_keys } from "./gen/sdk/crypto/multisig/keys_pb.js";
import { file_sdk_crypto_multisig_v1beta1_multisig } from "./gen/sdk/crypto/multisig/v1beta1/multisig_pb.js";
import { file_sdk_crypto_secp256k1_keys } from "./gen/sdk/crypto/secp256k1/keys_pb.js";
import { file_sdk_distribution_v1beta1_distribution } from "./gen/sdk/distribution/v1beta1/distribution_pb.js";
import { file_sdk_distribution_v1beta1_query } from "./gen/sdk/distribution/v1beta1/query_pb.js";
import { file_sdk_distribution_v1beta1_tx } from "./gen/sdk/distribution/v1beta1/tx_pb.js";
import { file_sdk_evidence_v1beta1_evidence } from "./gen/sdk/evidence/v1beta1/evidence_pb.js";
import { file_sdk_evidence_v1beta1_query } from "./gen/sdk/evidence/v1beta1/query_pb.js";
import { file_sdk_evidence_v1beta1_tx } from "./gen/sdk/evidence/v1beta1/tx_pb.js";
import { file_sdk_feegrant_v1beta1_feegrant } from "./gen/sdk/feegrant/v1beta1/feegrant_pb.js";
import { file_sdk_feegrant_v1beta1_genesis } from "./gen/sdk/feegrant/v1beta1/genesis_pb.js";
import { file_sdk_feegrant_v1beta1_query } from "./gen/sdk/feegrant/v1beta1/query_pb.js";
import { file_sdk_feegrant_v1beta1_tx } from "./gen/sdk/feegrant/v1beta1/tx_pb.js";
import { file_sdk_genutil_v1beta1_genutil } from "./gen/sdk/genutil/v1beta1/genutil_pb.js";
import { file_sdk_gov_v1_gov } from "./gen/sdk/gov/v1/gov_pb.js";
import { file_sdk_gov_v1_query } from "./gen/sdk/gov/v1/query_pb.js";
import { file_sdk_gov_v1_tx } from "./gen/sdk/gov/v1/tx_pb.js";
import { file_sdk_gov_v1beta1_gov } from "./gen/sdk/gov/v1beta1/gov_pb.js";
import { file_sdk_gov_v1beta1_query } from "./gen/sdk/gov/v1beta1/query_pb.js";
import { file_sdk_gov_v1beta1_tx } from "./gen/sdk/gov/v1beta1/tx_pb.js";
import { file_sdk_ics23_v1_proofs } from "./gen/sdk/ics23/v1/proofs_pb.js";
import { file_sdk_mint_v1beta1_mint } from "./gen/sdk/mint/v1beta1/mint_pb.js";
import { file_sdk_mint_v1beta1_query } from "./gen/sdk/mint/v1beta1/query_pb.js";
import { file_sdk_mint_v1beta1_tx } from "./gen/sdk/mint/v1beta1/tx_pb.js";
import { file_sdk_params_v1beta1_query } from "./gen/sdk/params/v1beta1/query_pb.js";
import { file_sdk_slashing_v1beta1_query } from "./gen/sdk/slashing/v1beta1/query_pb.js";
import { file_sdk_slashing_v1beta1_slashing } from "./gen/sdk/slashing/v1beta1/slashing_pb.js";
import { file_sdk_slashing_v1beta1_tx } from "./gen/sdk/slashing/v1beta1/tx_pb.js";
import { file_sdk_staking_v1beta1_authz } from "./gen/sdk/staking/v1beta1/authz_pb.js";
import { file_sdk_staking_v1beta1_query } from "./gen/sdk/staking/v1beta1/query_pb.js";
import { file_sdk_staking_v1beta1_staking } from "./gen/sdk/staking/v1beta1/staking_pb.js";
import { file_sdk_staking_v1beta1_tx } from "./gen/sdk/staking/v1beta1/tx_pb.js";
import { file_sdk_tx_signing_v1beta1_signing } from "./gen/sdk/tx/signing/v1beta1/signing_pb.js";
import { file_sdk_tx_v1beta1_service } from "./gen/sdk/tx/v1beta1/service_pb.js";
import { file_sdk_tx_v1beta1_tx } from "./gen/sdk/tx/v1beta1/tx_pb.js";
import { file_sdk_upgrade_v1beta1_genesis } from "./gen/sdk/upgrade/v1beta1/genesis_pb.js";
import { file_sdk_upgrade_v1beta1_query } from "./gen/sdk/upgrade/v1beta1/query_pb.js";
import { file_sdk_upgrade_v1beta1_tx } from "./gen/sdk/upgrade/v1beta1/tx_pb.js";
import { file_sdk_vesting_v1beta1_tx } from "./gen/sdk/vesting/v1beta1/tx_pb.js";
import { file_sdk_vesting_v1beta1_vesting } from "./gen/sdk/vesting/v1beta1/vesting_pb.js";
import { file_svc_audit_v1beta1_audit } from "./gen/svc/audit/v1beta1/audit_pb.js";
import { file_svc_base_v1beta1_base } from "./gen/svc/base/v1beta1/base_pb.js";
import { file_svc_cert_v1beta1_cert } from "./gen/svc/cert/v1beta1/cert_pb.js";
import { file_svc_deployment_v1beta1_authz } from "./gen/svc/deployment/v1beta1/authz_pb.js";
import { file_svc_deployment_v1beta1_deployment } from "./gen/svc/deployment/v1beta1/deployment_pb.js";
import { file_svc_deployment_v1beta1_query } from "./gen/svc/deployment/v1beta1/query_pb.js";
import { file_svc_deployment_v1beta1_tx } from "./gen/svc/deployment/v1beta1/tx_pb.js";
import { file_svc_escrow_v1beta1_escrow } from "./gen/svc/escrow/v1beta1/escrow_pb.js";
import { file_svc_market_v1beta1_market } from "./gen/svc/market/v1beta1/market_pb.js";
import { file_svc_market_v1beta1_query } from "./gen/svc/market/v1beta1/query_pb.js";
import { file_svc_market_v1beta1_tx } from "./gen/svc/market/v1beta1/tx_pb.js";
import { file_svc_options_v1beta1_options } from "./gen/svc/options/v1beta1/options_pb.js";
import { file_svc_provider_v1beta1_provider } from "./gen/svc/provider/v1beta1/provider_pb.js";

/** A generated file, built when it is asked for: the bundle evaluates none before. */
export interface ProtoFile {
  readonly package: string;
  readonly file: () => DescFile;
}

/** Every generated file, in the order of its path. */
export const PROTO_FILES: readonly ProtoFile[] = [
  { package: "google.protobuf", file: () => file_google_protobuf_any },
  { package: "google.protobuf", file: () => file_google_protobuf_duration },
  { package: "google.protobuf", file: () => file_google_protobuf_timestamp },
  { package: "comet.v1", file: () => file_comet_v1_abci },
  { package: "comet.v1", file: () => file_comet_v1_app },
  { package: "comet.v1", file: () => file_comet_v1_types },
  { package: "google.api", file: () => file_google_api_annotations },
  { package: "sdk.auth.v1beta1", file: () => file_sdk_auth_v1beta1_auth },
  { package: "sdk.auth.v1beta1", file: () => file_sdk_auth_v1beta1_tx },
  { package: "sdk.authz.v1beta1", file: () => file_sdk_authz_v1beta1_authz },
  { package: "sdk.authz.v1beta1", file: () => file_sdk_authz_v1beta1_genesis },
  { package: "sdk.authz.v1beta1", file: () => file_sdk_authz_v1beta1_query },
  { package: "sdk.authz.v1beta1", file: () => file_sdk_authz_v1beta1_tx },
  { package: "sdk.bank.v1beta1", file: () => file_sdk_bank_v1beta1_authz },
  { package: "sdk.bank.v1beta1", file: () => file_sdk_bank_v1beta1_bank },
  { package: "sdk.bank.v1beta1", file: () => file_sdk_bank_v1beta1_query },
  { package: "sdk.bank.v1beta1", file: () => file_sdk_bank_v1beta1_tx },
  { package: "sdk.base.abci.v1beta1", file: () => file_sdk_base_abci_v1beta1_abci },
  { package: "sdk.base.node.v1beta1", file: () => file_sdk_base_node_v1beta1_query },
  { package: "sdk.base.query.v1beta1", file: () => file_sdk_base_query_v1beta1_pagination },
  { package: "sdk.base.reflection.v1beta1", file: () => file_sdk_base_reflection_v1beta1_reflection },
  { package: "sdk.base.tendermint.v1beta1", file: () => file_sdk_base_tendermint_v1beta1_query },
  { package: "sdk.base.v1beta1", file: () => file_sdk_base_v1beta1_coin },
  { package: "sdk.consensus.v1", file: () => file_sdk_consensus_v1_genesis },
  { package: "sdk.consensus.v1", file: () => file_sdk_consensus_v1_query },
  { package: "sdk.consensus.v1", file: () => file_sdk_consensus_v1_tx },
  { package: "sdk.crypto.ed25519", file: () => file_sdk_crypto_ed25519_keys },
  { package: "sdk.crypto.keyring.v1", file: () => file_sdk_crypto_keyring_v1_record },
  { package: "sdk.crypto.multisig", file: () => file_sdk_crypto_multisig_keys },
  { package: "sdk.crypto.multisig.v1beta1", file: () => file_sdk_crypto_multisig_v1beta1_multisig },
  { package: "sdk.crypto.secp256k1", file: () => file_sdk_crypto_secp256k1_keys },
  { package: "sdk.distribution.v1beta1", file: () => file_sdk_distribution_v1beta1_distribution },
  { package: "sdk.distribution.v1beta1", file: () => file_sdk_distribution_v1beta1_query },
  { package: "sdk.distribution.v1beta1", file: () => file_sdk_distribution_v1beta1_tx },
  { package: "sdk.evidence.v1beta1", file: () => file_sdk_evidence_v1beta1_evidence },
  { package: "sdk.evidence.v1beta1", file: () => file_sdk_evidence_v1beta1_query },
  { package: "sdk.evidence.v1beta1", file: () => file_sdk_evidence_v1beta1_tx },
  { package: "sdk.feegrant.v1beta1", file: () => file_sdk_feegrant_v1beta1_feegrant },
  { package: "sdk.feegrant.v1beta1", file: () => file_sdk_feegrant_v1beta1_genesis },
  { package: "sdk.feegrant.v1beta1", file: () => file_sdk_feegrant_v1beta1_query },
  { package: "sdk.feegrant.v1beta1", file: () => file_sdk_feegrant_v1beta1_tx },
  { package: "sdk.genutil.v1beta1", file: () => file_sdk_genutil_v1beta1_genutil },
  { package: "sdk.gov.v1", file: () => file_sdk_gov_v1_gov },
  { package: "sdk.gov.v1", file: () => file_sdk_gov_v1_query },
  { package: "sdk.gov.v1", file: () => file_sdk_gov_v1_tx },
  { package: "sdk.gov.v1beta1", file: () => file_sdk_gov_v1beta1_gov },
  { package: "sdk.gov.v1beta1", file: () => file_sdk_gov_v1beta1_query },
  { package: "sdk.gov.v1beta1", file: () => file_sdk_gov_v1beta1_tx },
  { package: "sdk.ics23.v1", file: () => file_sdk_ics23_v1_proofs },
  { package: "sdk.mint.v1beta1", file: () => file_sdk_mint_v1beta1_mint },
  { package: "sdk.mint.v1beta1", file: () => file_sdk_mint_v1beta1_query },
  { package: "sdk.mint.v1beta1", file: () => file_sdk_mint_v1beta1_tx },
  { package: "sdk.params.v1beta1", file: () => file_sdk_params_v1beta1_query },
  { package: "sdk.slashing.v1beta1", file: () => file_sdk_slashing_v1beta1_query },
  { package: "sdk.slashing.v1beta1", file: () => file_sdk_slashing_v1beta1_slashing },
  { package: "sdk.slashing.v1beta1", file: () => file_sdk_slashing_v1beta1_tx },
  { package: "sdk.staking.v1beta1", file: () => file_sdk_staking_v1beta1_authz },
  { package: "sdk.staking.v1beta1", file: () => file_sdk_staking_v1beta1_query },
  { package: "sdk.staking.v1beta1", file: () => file_sdk_staking_v1beta1_staking },
  { package: "sdk.staking.v1beta1", file: () => file_sdk_staking_v1beta1_tx },
  { package: "sdk.tx.signing.v1beta1", file: () => file_sdk_tx_signing_v1beta1_signing },
  { package: "sdk.tx.v1beta1", file: () => file_sdk_tx_v1beta1_service },
  { package: "sdk.tx.v1beta1", file: () => file_sdk_tx_v1beta1_tx },
  { package: "sdk.upgrade.v1beta1", file: () => file_sdk_upgrade_v1beta1_genesis },
  { package: "sdk.upgrade.v1beta1", file: () => file_sdk_upgrade_v1beta1_query },
  { package: "sdk.upgrade.v1beta1", file: () => file_sdk_upgrade_v1beta1_tx },
  { package: "sdk.vesting.v1beta1", file: () => file_sdk_vesting_v1beta1_tx },
  { package: "sdk.vesting.v1beta1", file: () => file_sdk_vesting_v1beta1_vesting },
  { package: "svc.audit.v1beta1", file: () => file_svc_audit_v1beta1_audit },
  { package: "svc.base.v1beta1", file: () => file_svc_base_v1beta1_base },
  { package: "svc.cert.v1beta1", file: () => file_svc_cert_v1beta1_cert },
  { package: "svc.deployment.v1beta1", file: () => file_svc_deployment_v1beta1_authz },
  { package: "svc.deployment.v1beta1", file: () => file_svc_deployment_v1beta1_deployment },
  { package: "svc.deployment.v1beta1", file: () => file_svc_deployment_v1beta1_query },
  { package: "svc.deployment.v1beta1", file: () => file_svc_deployment_v1beta1_tx },
  { package: "svc.escrow.v1beta1", file: () => file_svc_escrow_v1beta1_escrow },
  { package: "svc.market.v1beta1", file: () => file_svc_market_v1beta1_market },
  { package: "svc.market.v1beta1", file: () => file_svc_market_v1beta1_query },
  { package: "svc.market.v1beta1", file: () => file_svc_market_v1beta1_tx },
  { package: "svc.options.v1beta1", file: () => file_svc_options_v1beta1_options },
  { package: "svc.provider.v1beta1", file: () => file_svc_provider_v1beta1_provider },
];
