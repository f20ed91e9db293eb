import { create } from "@bufbuild/protobuf";
import {
  checkAddress,
  defineGenesis,
  entryProblems,
  type GenesisPart,
  gasTable,
  gasTableProblems,
} from "../../runtime/index.ts";
import {
  type Certificate,
  Certificate_State,
  CertificateSchema,
  type GenesisCertificate,
  GenesisStateSchema,
  Msg,
  type Params,
  ParamsSchema,
} from "../../wire/gen/svc/cert/v1beta1/cert_pb.js";
import { encodeAddress, certErrors as errors } from "../../wire/index.ts";
import { checkCertificate, parseSerial } from "./check.ts";
import { type CertKeeper, certificateKey, STORE } from "./keeper.ts";

const DEFAULT_GAS = { MsgCreateCertificate: 80_000n, MsgRevokeCertificate: 40_000n };

export function certGenesis(keeper: CertKeeper): GenesisPart {
  return defineGenesis({
    schema: GenesisStateSchema,
    defaults: () => create(GenesisStateSchema, { params: defaultParams() }),
    validate: ({ params = defaultParams(), certificates }) => [
      ...paramsProblems(params),
      ...entryProblems("certificates", certificates, identify),
    ],
    init(ctx, { params, certificates }) {
      const store = ctx.store(STORE);
      keeper.params.set(store, params ?? defaultParams());
      for (const entry of certificates) {
        const certificate = certificateOf(entry);
        const { serial } = checkCertificate(entry.owner, certificate);
        keeper.certificates.set(store, certificateKey(entry.owner, parseSerial(serial)), certificate);
      }
    },
    export(ctx) {
      const store = ctx.store(STORE);
      const certificates = [...keeper.certificates.iterate(store)].map(([[owner], certificate]) => ({
        owner: encodeAddress(owner, "account"),
        certificate,
      }));
      return create(GenesisStateSchema, { certificates, params: keeper.params.require(store) });
    },
  });
}

/** Faults of parameters, one sentence each. */
export function paramsProblems(params: Params): string[] {
  return gasTableProblems(Msg, params.messageGas);
}

function defaultParams(): Params {
  return create(ParamsSchema, { messageGas: gasTable(DEFAULT_GAS) });
}

/** Checks an entry as if its owner had just published it. The text is the certificate's id. */
function identify(entry: GenesisCertificate): string {
  const certificate = certificateOf(entry);
  checkAddress("owner", entry.owner, errors.invalidAddress);
  const { serial } = checkCertificate(entry.owner, certificate);
  if (certificate.state !== Certificate_State.valid && certificate.state !== Certificate_State.revoked) {
    throw errors.invalidState(`${entry.owner}/${serial}`);
  }
  return `${entry.owner}/${serial}`;
}

function certificateOf({ certificate }: GenesisCertificate): Certificate {
  return certificate ?? create(CertificateSchema);
}
