import { type BoundService, bindService, checkAddress, updateParams } from "../../runtime/index.ts";
import { Msg } from "../../wire/gen/svc/cert/v1beta1/cert_pb.js";
import { certErrors as errors } from "../../wire/index.ts";
import { checkCertificate, parseSerial, readCertificate } from "./check.ts";
import { paramsProblems } from "./genesis.ts";
import { type CertKeeper, STORE } from "./keeper.ts";

export function certMsgs(keeper: CertKeeper): BoundService {
  const update = updateParams({
    set: (ctx, params) => keeper.params.set(ctx.store(STORE), params),
    problems: paramsProblems,
    refuse: errors.invalidParams,
  });
  return bindService(
    Msg,
    {
      createCertificate: (ctx, { owner, cert, pubkey }) => {
        const { serial } = checkCertificate(owner, { cert, pubkey });
        keeper.create(ctx, owner, parseSerial(serial), { cert, pubkey });
        return { id: { owner, serial } };
      },
      revokeCertificate: (ctx, { id }) => {
        if (id === undefined) throw errors.notFound();
        keeper.revoke(ctx, id.owner, parseSerial(id.serial));
        return {};
      },
      updateParams: update.handle,
    },
    {
      createCertificate: (msg) => {
        checkAddress("owner", msg.owner, errors.invalidAddress);
        readCertificate(msg.owner, msg);
      },
      revokeCertificate: ({ id }) => {
        checkAddress("owner", id?.owner ?? "", errors.invalidAddress);
        parseSerial(id?.serial ?? "");
      },
      updateParams: update.check,
    },
  );
}
