import { create } from "@bufbuild/protobuf";
import { forgeCertificate, type TestKey } from "../../../src/testing/index.ts";
import {
  MsgCreateCertificateSchema,
  MsgRevokeCertificateSchema,
} from "../../../src/wire/gen/svc/cert/v1beta1/cert_pb.js";
import { type Cases, newWorld, one, TENANT } from "./prepare.ts";

let serial = 0;
/** A certificate close to the largest: its name repeats. */
function certificate(owner: TestKey) {
  serial += 1;
  return forgeCertificate({ name: owner.address, serial: `01${serial.toString(16).padStart(8, "0")}` });
}

/** Certificates of accounts. */
export const CERTIFICATES: Cases = {
  "svc.cert.v1beta1.MsgCreateCertificate": [
    {
      content: "an ordinary certificate",
      count: 20,
      prepare: (count) => {
        const world = newWorld();
        const owner = world.key(TENANT);
        const txs = Array.from({ length: count }, () =>
          one(owner, create(MsgCreateCertificateSchema, { owner: owner.address, ...certificate(owner) } as never)),
        );
        return { world, txs };
      },
    },
  ],
  "svc.cert.v1beta1.MsgRevokeCertificate": [
    {
      content: "an ordinary certificate",
      count: 20,
      prepare: (count) => {
        const world = newWorld();
        const owner = world.key(TENANT);
        const first = serial + 1;
        world.mustSend(
          owner,
          Array.from({ length: count }, () =>
            create(MsgCreateCertificateSchema, { owner: owner.address, ...certificate(owner) } as never),
          ),
        );
        const txs = Array.from({ length: count }, (_, i) => {
          const number = BigInt(`0x01${(first + i).toString(16).padStart(8, "0")}`);
          return one(
            owner,
            create(MsgRevokeCertificateSchema, { id: { owner: owner.address, serial: number.toString() } }),
          );
        });
        return { world, txs };
      },
    },
  ],
};
