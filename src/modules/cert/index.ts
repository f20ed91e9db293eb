import { create } from "@bufbuild/protobuf";
import { defineGenesis, defineModule, type Module } from "../../runtime/index.ts";
import { CertificateSchema, GenesisStateSchema, ParamsSchema } from "../../wire/gen/svc/cert/v1beta1/cert_pb.js";
import { encodeAddress } from "../../wire/index.ts";
import { checkCertificate, parseSerial } from "./check.ts";
import { errors } from "./errors.ts";
import { CertKeeper, certificateKey, STORE } from "./keeper.ts";
import { certMsgs } from "./msgs.ts";
import { certQueries } from "./queries.ts";

export { CertKeeper } from "./keeper.ts";

const DEFAULT_GAS = { MsgCreateCertificate: 80_000n, MsgRevokeCertificate: 40_000n };

/** Makes the module and its keeper. */
export function certModule(): { readonly keeper: CertKeeper; readonly module: Module } {
  const keeper = new CertKeeper();
  const module = defineModule({
    name: "cert",
    msg: certMsgs(keeper),
    query: certQueries(keeper),
    genesis: genesis(keeper),
    messageGas: (ctx, message) => {
      const row = keeper.params.require(ctx.store(STORE)).messageGas.find((each) => each.message === message);
      if (row === undefined) throw errors.internal(`no gas for ${message}`);
      return row.gas;
    },
    invariants: {
      "index-state": (ctx) => keeper.certificates.verifyIndexes(ctx.store(STORE))[0],
    },
  });
  return { keeper, module };
}

function genesis(keeper: CertKeeper) {
  return defineGenesis({
    schema: GenesisStateSchema,
    defaults: () => create(GenesisStateSchema, { params: { messageGas: gasRows() } }),
    init(ctx, state) {
      const store = ctx.store(STORE);
      keeper.params.set(store, state.params ?? create(ParamsSchema, { messageGas: gasRows() }));
      for (const { owner, certificate = create(CertificateSchema) } of state.certificates) {
        const serial = parseSerial(checkCertificate(owner, certificate.cert, certificate.pubkey).serial);
        const key = certificateKey(owner, serial);
        if (keeper.certificates.has(store, key)) throw errors.exists(`${owner}/${serial}`);
        keeper.certificates.set(store, key, certificate);
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

function gasRows(): { message: string; gas: bigint }[] {
  return Object.entries(DEFAULT_GAS).map(([message, gas]) => ({ message, gas }));
}
