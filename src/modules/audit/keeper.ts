import { create } from "@bufbuild/protobuf";
import type { Context } from "../../runtime/index.ts";
import { addressKey, collection, index, item, protoValue, tupleKey } from "../../store/index.ts";
import {
  type AuditedAttributes,
  AuditedAttributesSchema,
  ParamsSchema,
} from "../../wire/gen/svc/audit/v1beta1/audit_pb.js";
import type { Attribute } from "../../wire/gen/svc/base/v1beta1/base_pb.js";
import { decodeAddress } from "../../wire/index.ts";
import { ATTRIBUTE_LIMITS } from "../provider/index.ts";
import { errors } from "./errors.ts";

export const STORE = "audit";

/** What audits need to know of providers. */
export interface ProviderBook {
  exists(ctx: Context, owner: string): boolean;
  attributes(ctx: Context, owner: string): readonly Attribute[];
}

/** Attributes that auditors have signed, by provider and auditor. */
export class AuditKeeper {
  readonly params = item({ name: "audit params", prefix: 0x00, value: protoValue(ParamsSchema) });
  readonly records = collection({
    name: "audited attributes",
    prefix: 0x01,
    key: tupleKey(addressKey, addressKey),
    value: protoValue(AuditedAttributesSchema),
    notFound: errors.notFound,
    indexes: {
      auditor: index({
        prefix: 0x02,
        key: tupleKey(addressKey),
        of: (_: AuditedAttributes, [, auditor]: [Uint8Array, Uint8Array]) => [auditor] as const,
      }),
    },
  });
  readonly #providers: ProviderBook;

  constructor(providers: ProviderBook) {
    this.#providers = providers;
  }

  get(ctx: Context, owner: string, auditor: string): AuditedAttributes | undefined {
    return this.records.get(ctx.store(STORE), recordKey(owner, auditor));
  }

  /** What the auditor has signed of the provider; empty when nothing. */
  signedAttributes(ctx: Context, owner: string, auditor: string): readonly Attribute[] {
    return this.get(ctx, owner, auditor)?.attributes ?? [];
  }

  /** Merges the attributes by key into the record, sorted by key. */
  sign(ctx: Context, request: Pick<AuditedAttributes, "owner" | "auditor" | "attributes">): void {
    const { owner, auditor } = request;
    if (!this.#providers.exists(ctx, owner)) throw errors.unknownProvider(owner);
    const merged = new Map(this.signedAttributes(ctx, owner, auditor).map((each) => [each.key, each]));
    for (const attribute of request.attributes) merged.set(attribute.key, attribute);
    if (merged.size > ATTRIBUTE_LIMITS.entries)
      throw errors.attributes(`more than ${ATTRIBUTE_LIMITS.entries} attributes`);
    this.#save(ctx, { owner, auditor, attributes: [...merged.values()] });
    emit(ctx, "audit-trusted-auditor-created", owner, auditor);
  }

  /** Removes the named keys, or the whole record when none is named or none is left. */
  delete(ctx: Context, owner: string, auditor: string, keys: readonly string[]): void {
    const record = this.records.require(ctx.store(STORE), recordKey(owner, auditor));
    const unknown = keys.find((key) => !record.attributes.some((each) => each.key === key));
    if (unknown !== undefined) throw errors.attributeNotFound(unknown);
    const left = keys.length === 0 ? [] : record.attributes.filter((each) => !keys.includes(each.key));
    if (left.length === 0) this.records.delete(ctx.store(STORE), recordKey(owner, auditor));
    else this.#save(ctx, { owner, auditor, attributes: left });
    emit(ctx, "audit-trusted-auditor-deleted", owner, auditor);
  }

  /** The record with the keys whose signed value is no longer the provider's own. */
  withStaleKeys(ctx: Context, record: AuditedAttributes): AuditedAttributes {
    const current = this.#providers.attributes(ctx, record.owner);
    const isCurrent = (signed: Attribute) =>
      current.some((own) => own.key === signed.key && own.value === signed.value);
    const staleKeys = record.attributes.filter((signed) => !isCurrent(signed)).map((signed) => signed.key);
    return { ...record, staleKeys };
  }

  #save(ctx: Context, record: Pick<AuditedAttributes, "owner" | "auditor" | "attributes">): void {
    const attributes = record.attributes.toSorted((a, b) => (a.key < b.key ? -1 : 1));
    const value = create(AuditedAttributesSchema, { ...record, attributes, signedAt: ctx.height });
    this.records.set(ctx.store(STORE), recordKey(record.owner, record.auditor), value);
  }
}

export function recordKey(owner: string, auditor: string): [Uint8Array, Uint8Array] {
  return [decodeAddress(owner, "account"), decodeAddress(auditor, "account")];
}

function emit(ctx: Context, action: string, owner: string, auditor: string): void {
  ctx.events.emit("svc.v1", { module: "audit", action, owner, auditor });
}
