import { create } from "@bufbuild/protobuf";
import { type BoundService, bindService } from "../../runtime/index.ts";
import { attributeFault } from "../../sdl/index.ts";
import {
  Msg,
  type MsgCreateProvider,
  type MsgUpdateProvider,
  type Provider,
  ProviderInfoSchema,
  ProviderSchema,
} from "../../wire/gen/svc/provider/v1beta1/provider_pb.js";
import { decodeAddress } from "../../wire/index.ts";
import { errors } from "./errors.ts";
import type { ProviderKeeper } from "./keeper.ts";

/** Longest texts of a provider's record, in bytes. */
const MAX_URI = 512;
const MAX_INFO = 256;
const EMAIL = /^[^\s@]+@[^\s@]+$/;

export function providerMsgs(keeper: ProviderKeeper): BoundService {
  return bindService(
    Msg,
    {
      createProvider: (ctx, msg) => {
        keeper.create(ctx, record(msg));
        return {};
      },
      updateProvider: (ctx, msg) => {
        keeper.update(ctx, record(msg));
        return {};
      },
      deleteProvider: (ctx, { owner }) => {
        keeper.delete(ctx, owner);
        return {};
      },
    },
    {
      createProvider: validate,
      updateProvider: validate,
      deleteProvider: ({ owner }) => checkOwner(owner),
    },
  );
}

function record({ owner, hostUri, attributes, info }: MsgCreateProvider | MsgUpdateProvider): Provider {
  return create(ProviderSchema, { owner, hostUri, attributes, info: info ?? create(ProviderInfoSchema) });
}

function validate(msg: MsgCreateProvider | MsgUpdateProvider): void {
  checkOwner(msg.owner);
  checkHostUri(msg.hostUri);
  const fault = attributeFault(msg.attributes, "offered");
  if (fault !== undefined) throw errors.attributes(fault);
  const { email = "", website = "" } = msg.info ?? {};
  if (email !== "" && (email.length > MAX_INFO || !EMAIL.test(email)))
    throw errors.invalidEmail(email.slice(0, MAX_INFO));
  if (website !== "" && (website.length > MAX_INFO || !URL.canParse(website))) {
    throw errors.invalidWebsite(website.slice(0, MAX_INFO));
  }
}

function checkOwner(owner: string): void {
  try {
    decodeAddress(owner, "account");
  } catch (cause) {
    throw errors.invalidAddress(owner.slice(0, MAX_INFO), { cause });
  }
}

/** Scheme exactly https, a host, no path, query or user. */
function checkHostUri(uri: string): void {
  if (uri.length > MAX_URI || !URL.canParse(uri)) throw errors.invalidHostUri(uri.slice(0, MAX_URI));
  if (!uri.startsWith("https://")) throw errors.notAbsoluteHostUri(uri);
  const url = new URL(uri);
  const bare =
    url.pathname === "/" && url.search === "" && url.hash === "" && url.username === "" && url.password === "";
  if (!bare || uri.endsWith("/") || url.hostname === "") throw errors.invalidHostUri(uri);
}
