import type { DescFile } from "@bufbuild/protobuf";
import {
  file_google_protobuf_any,
  file_google_protobuf_duration,
  file_google_protobuf_timestamp,
} from "@bufbuild/protobuf/wkt";
import { file_comet_v1_abci } from "./gen/comet/v1/abci_pb.js";
import { file_comet_v1_types } from "./gen/comet/v1/types_pb.js";
import { file_google_api_annotations } from "./gen/google/api/annotations_pb.js";
import { file_sdk_auth_v1beta1_auth } from "./gen/sdk/auth/v1beta1/auth_pb.js";
import { file_sdk_authz_v1beta1_authz } from "./gen/sdk/authz/v1beta1/authz_pb.js";
import { file_sdk_authz_v1beta1_query } from "./gen/sdk/authz/v1beta1/query_pb.js";
import { file_sdk_authz_v1beta1_tx } from "./gen/sdk/authz/v1beta1/tx_pb.js";
import { file_sdk_bank_v1beta1_authz } from "./gen/sdk/bank/v1beta1/authz_pb.js";
import { file_sdk_bank_v1beta1_bank } from "./gen/sdk/bank/v1beta1/bank_pb.js";
import { file_sdk_bank_v1beta1_query } from "./gen/sdk/bank/v1beta1/query_pb.js";
import { file_sdk_bank_v1beta1_tx } from "./gen/sdk/bank/v1beta1/tx_pb.js";
import { file_sdk_base_abci_v1beta1_abci } from "./gen/sdk/base/abci/v1beta1/abci_pb.js";
import { file_sdk_base_query_v1beta1_pagination } from "./gen/sdk/base/query/v1beta1/pagination_pb.js";
import { file_sdk_base_tendermint_v1beta1_query } from "./gen/sdk/base/tendermint/v1beta1/query_pb.js";
import { file_sdk_base_v1beta1_coin } from "./gen/sdk/base/v1beta1/coin_pb.js";
import { file_sdk_crypto_ed25519_keys } from "./gen/sdk/crypto/ed25519/keys_pb.js";
import { file_sdk_crypto_keyring_v1_record } from "./gen/sdk/crypto/keyring/v1/record_pb.js";
import { file_sdk_crypto_multisig_keys } from "./gen/sdk/crypto/multisig/keys_pb.js";
import { file_sdk_crypto_multisig_v1beta1_multisig } from "./gen/sdk/crypto/multisig/v1beta1/multisig_pb.js";
import { file_sdk_crypto_secp256k1_keys } from "./gen/sdk/crypto/secp256k1/keys_pb.js";
import { file_sdk_distribution_v1beta1_distribution } from "./gen/sdk/distribution/v1beta1/distribution_pb.js";
import { file_sdk_distribution_v1beta1_query } from "./gen/sdk/distribution/v1beta1/query_pb.js";
import { file_sdk_distribution_v1beta1_tx } from "./gen/sdk/distribution/v1beta1/tx_pb.js";
import { file_sdk_feegrant_v1beta1_feegrant } from "./gen/sdk/feegrant/v1beta1/feegrant_pb.js";
import { file_sdk_feegrant_v1beta1_query } from "./gen/sdk/feegrant/v1beta1/query_pb.js";
import { file_sdk_feegrant_v1beta1_tx } from "./gen/sdk/feegrant/v1beta1/tx_pb.js";
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
import { file_svc_audit_v1beta1_audit } from "./gen/svc/audit/v1beta1/audit_pb.js";
import { file_svc_base_v1beta1_base } from "./gen/svc/base/v1beta1/base_pb.js";
import { file_svc_cert_v1beta1_cert } from "./gen/svc/cert/v1beta1/cert_pb.js";
import { file_svc_deployment_v1beta1_deployment } from "./gen/svc/deployment/v1beta1/deployment_pb.js";
import { file_svc_deployment_v1beta1_query } from "./gen/svc/deployment/v1beta1/query_pb.js";
import { file_svc_deployment_v1beta1_tx } from "./gen/svc/deployment/v1beta1/tx_pb.js";
import { file_svc_escrow_v1beta1_escrow } from "./gen/svc/escrow/v1beta1/escrow_pb.js";
import { file_svc_market_v1beta1_market } from "./gen/svc/market/v1beta1/market_pb.js";
import { file_svc_market_v1beta1_query } from "./gen/svc/market/v1beta1/query_pb.js";
import { file_svc_market_v1beta1_tx } from "./gen/svc/market/v1beta1/tx_pb.js";
import { file_svc_options_v1beta1_options } from "./gen/svc/options/v1beta1/options_pb.js";
import { file_svc_provider_v1beta1_provider } from "./gen/svc/provider/v1beta1/provider_pb.js";

/** Every generated file, in the order of its path. A new proto file gets its line here; a test compares the folder. */
export const PROTO_FILES: readonly DescFile[] = [
  file_google_protobuf_any,
  file_google_protobuf_duration,
  file_google_protobuf_timestamp,
  file_comet_v1_abci,
  file_comet_v1_types,
  file_google_api_annotations,
  file_sdk_auth_v1beta1_auth,
  file_sdk_authz_v1beta1_authz,
  file_sdk_authz_v1beta1_query,
  file_sdk_authz_v1beta1_tx,
  file_sdk_bank_v1beta1_authz,
  file_sdk_bank_v1beta1_bank,
  file_sdk_bank_v1beta1_query,
  file_sdk_bank_v1beta1_tx,
  file_sdk_base_abci_v1beta1_abci,
  file_sdk_base_query_v1beta1_pagination,
  file_sdk_base_tendermint_v1beta1_query,
  file_sdk_base_v1beta1_coin,
  file_sdk_crypto_ed25519_keys,
  file_sdk_crypto_keyring_v1_record,
  file_sdk_crypto_multisig_keys,
  file_sdk_crypto_multisig_v1beta1_multisig,
  file_sdk_crypto_secp256k1_keys,
  file_sdk_distribution_v1beta1_distribution,
  file_sdk_distribution_v1beta1_query,
  file_sdk_distribution_v1beta1_tx,
  file_sdk_feegrant_v1beta1_feegrant,
  file_sdk_feegrant_v1beta1_query,
  file_sdk_feegrant_v1beta1_tx,
  file_sdk_gov_v1_gov,
  file_sdk_gov_v1_query,
  file_sdk_gov_v1_tx,
  file_sdk_gov_v1beta1_gov,
  file_sdk_gov_v1beta1_query,
  file_sdk_gov_v1beta1_tx,
  file_sdk_ics23_v1_proofs,
  file_sdk_mint_v1beta1_mint,
  file_sdk_mint_v1beta1_query,
  file_sdk_mint_v1beta1_tx,
  file_sdk_slashing_v1beta1_query,
  file_sdk_slashing_v1beta1_slashing,
  file_sdk_slashing_v1beta1_tx,
  file_sdk_staking_v1beta1_authz,
  file_sdk_staking_v1beta1_query,
  file_sdk_staking_v1beta1_staking,
  file_sdk_staking_v1beta1_tx,
  file_sdk_tx_signing_v1beta1_signing,
  file_sdk_tx_v1beta1_service,
  file_sdk_tx_v1beta1_tx,
  file_svc_audit_v1beta1_audit,
  file_svc_base_v1beta1_base,
  file_svc_cert_v1beta1_cert,
  file_svc_deployment_v1beta1_deployment,
  file_svc_deployment_v1beta1_query,
  file_svc_deployment_v1beta1_tx,
  file_svc_escrow_v1beta1_escrow,
  file_svc_market_v1beta1_market,
  file_svc_market_v1beta1_query,
  file_svc_market_v1beta1_tx,
  file_svc_options_v1beta1_options,
  file_svc_provider_v1beta1_provider,
];
