import { type BoundService, bindService, checkAddress } from "../../runtime/index.ts";
import { Msg, type Note } from "../../wire/gen/svc/template/v1beta1/template_pb.js";
import { templateErrors as errors } from "../../wire/index.ts";
import type { TemplateKeeper } from "./keeper.ts";

const MAX_TEXT = 256;

export function templateMsgs(keeper: TemplateKeeper): BoundService {
  return bindService(
    Msg,
    {
      setNote: (ctx, msg) => {
        keeper.set(ctx, msg);
        return {};
      },
    },
    { setNote: checkNote },
  );
}

/** Throws a row of `templateErrors` unless an account may show this. */
export function checkNote({ owner, text }: Pick<Note, "owner" | "text">): void {
  checkAddress("owner", owner, errors.invalidAddress);
  if (text === "" || text.length > MAX_TEXT) throw errors.text(`it has ${text.length} characters`);
}
