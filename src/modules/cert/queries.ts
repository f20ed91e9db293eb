import { type BoundService, bindService, type Context, readState } from "../../runtime/index.ts";
import type { Page, PageRequest } from "../../store/index.ts";
import {
  type Certificate,
  Certificate_State,
  type CertificateFilter,
  Query,
} from "../../wire/gen/svc/cert/v1beta1/cert_pb.js";
import { decodeAddress, certErrors as errors } from "../../wire/index.ts";
import { parseSerial } from "./check.ts";
import { type CertificateStoreKey, type CertKeeper, certificateKey, STORE } from "./keeper.ts";

type Row = readonly [CertificateStoreKey, Certificate];

export function certQueries(keeper: CertKeeper): BoundService {
  return bindService(Query, {
    certificates: (ctx, { filter, pagination }) => {
      const { owner = "", serial = "", state = "" } = filter ?? {};
      if (serial !== "") return { certificates: one(keeper, ctx, { owner, serial, state }).map(answer) };
      const page = list(keeper, ctx, { owner, state }, pagination);
      return { certificates: page.items.map(answer), pagination: page.pagination };
    },
  });
}

type Filter = Pick<CertificateFilter, "owner" | "state">;

function list(keeper: CertKeeper, ctx: Context, filter: Filter, page?: PageRequest): Page<Row> {
  const store = ctx.store(STORE);
  const { certificates } = keeper;
  const state = stateOf(filter.state);
  if (filter.owner === "") {
    return state === undefined
      ? certificates.paginate(store, page)
      : certificates.by.state.paginate(store, page, { prefix: [state] });
  }
  const owner = decodeAddress(filter.owner, "account");
  return state === undefined
    ? certificates.paginate(store, page, { prefix: [owner] })
    : certificates.by.ownerState.paginate(store, page, { prefix: [owner, state] });
}

function one(keeper: CertKeeper, ctx: Context, filter: Filter & { serial: string }): Row[] {
  if (filter.owner === "") throw errors.invalidSerial("a serial number needs its owner");
  const state = stateOf(filter.state);
  const key = certificateKey(filter.owner, parseSerial(filter.serial));
  const certificate = keeper.certificates.get(ctx.store(STORE), key);
  if (certificate === undefined) throw errors.notFound(`${filter.owner}/${filter.serial}`);
  return state === undefined || state === certificate.state ? [[key, certificate]] : [];
}

function stateOf(text: string): Certificate_State | undefined {
  return readState(text, Certificate_State, errors.invalidState);
}

function answer([[, serial], certificate]: Row) {
  return { certificate, serial: serial.toString() };
}
