import { create } from "@bufbuild/protobuf";
import type { TestKey } from "../../../src/testing/index.ts";
import {
  type MsgCreateCertificate,
  MsgCreateCertificateSchema,
  MsgRevokeCertificateSchema,
} from "../../../src/wire/gen/svc/cert/v1beta1/cert_pb.js";
import { forgeCertificate } from "../../support/chain/index.ts";
import { type Cases, type GasCase, newChain, one, TENANT } from "./prepare.ts";

/** Beside the rest, this fills a block of 8,192 bytes of text almost to its end. */
const PADDING = 5400;

let serial = 0;

function certificate(owner: TestKey, padding: number): MsgCreateCertificate {
  serial += 1;
  const number = `01${serial.toString(16).padStart(8, "0")}`;
  const forged = forgeCertificate({ name: owner.address, serial: number, padding });
  return create(MsgCreateCertificateSchema, { owner: owner.address, ...forged } as never);
}

const CONTENTS = [
  { content: "an ordinary certificate", padding: 0 },
  { content: "a certificate of the largest size", padding: PADDING },
];

function publishing({ content, padding }: (typeof CONTENTS)[number]): GasCase {
  return {
    content,
    count: 20,
    prepare: (count) => {
      const chain = newChain();
      const owner = chain.key(TENANT);
      const txs = Array.from({ length: count }, () => one(owner, certificate(owner, padding)));
      return { chain, txs };
    },
  };
}

function revoking({ content, padding }: (typeof CONTENTS)[number]): GasCase {
  return {
    content,
    count: 20,
    prepare: (count) => {
      const chain = newChain();
      const owner = chain.key(TENANT);
      const first = serial + 1;
      chain.mustSend(
        owner,
        Array.from({ length: count }, () => certificate(owner, padding)),
      );
      const txs = Array.from({ length: count }, (_, i) => {
        const number = BigInt(`0x01${(first + i).toString(16).padStart(8, "0")}`);
        const id = { owner: owner.address, serial: number.toString() };
        return one(owner, create(MsgRevokeCertificateSchema, { id }));
      });
      return { chain, txs };
    },
  };
}

/** Certificates of accounts. */
export const CERTIFICATES: Cases = {
  "svc.cert.v1beta1.MsgCreateCertificate": CONTENTS.map(publishing),
  "svc.cert.v1beta1.MsgRevokeCertificate": CONTENTS.map(revoking),
};
