import { type BoundService, bindService, checkAddress } from "../../runtime/index.ts";
import { Msg } from "../../wire/gen/svc/cert/v1beta1/cert_pb.js";
import { certErrors as errors } from "../../wire/index.ts";
import { checkCertificate, parseSerial, readCertificate } from "./check.ts";
import type { CertKeeper } from "./keeper.ts";

export function certMsgs(keeper: CertKeeper): BoundService {
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
    },
  );
}
