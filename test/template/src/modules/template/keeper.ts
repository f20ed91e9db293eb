import { create } from "@bufbuild/protobuf";
import { type Context, checkAddress, paramsItem } from "../../runtime/index.ts";
import { addressKey, checkPrefixes, collection, protoValue } from "../../store/index.ts";
import { type Note, NoteSchema, ParamsSchema } from "../../wire/gen/svc/template/v1beta1/template_pb.js";
import { decodeAddress, templateErrors as errors } from "../../wire/index.ts";

export const STORE = "template";

const MAX_TEXT = 256;

/** Notes, by owner. */
export class TemplateKeeper {
  readonly params = paramsItem({ prefix: 0x00, schema: ParamsSchema });
  readonly notes = collection({
    name: "note",
    prefix: 0x01,
    key: addressKey,
    value: protoValue(NoteSchema),
    notFound: errors.notFound,
  });

  constructor() {
    checkPrefixes({ params: this.params, notes: this.notes });
  }

  require(ctx: Context, owner: string): Note {
    const note = this.notes.get(ctx.store(STORE), decodeAddress(owner, "account"));
    if (note === undefined) throw errors.notFound(owner);
    return note;
  }

  set(ctx: Context, { owner, text }: Pick<Note, "owner" | "text">): void {
    this.notes.set(ctx.store(STORE), decodeAddress(owner, "account"), create(NoteSchema, { owner, text }));
    ctx.events.emit("svc.v1", { module: "template", action: "note-set", owner });
  }
}

/** Throws a row of `templateErrors` unless an account may show this. */
export function checkNote({ owner, text }: Pick<Note, "owner" | "text">): void {
  checkAddress("owner", owner, errors.invalidAddress);
  if (text === "" || text.length > MAX_TEXT) throw errors.text(`it has ${text.length} characters`);
}
