import { create } from "@bufbuild/protobuf";
import { type Context, paramsItem } from "../../runtime/index.ts";
import { attributeLimits, matchAttributes } from "../../sdl/index.ts";
import { addressKey, checkPrefixes, collection, index, protoValue, tupleKey } from "../../store/index.ts";
import {
  type AuditedAttributes,
  AuditedAttributesSchema,
  ParamsSchema,
} from "../../wire/gen/svc/audit/v1beta1/audit_pb.js";
import type { Attribute } from "../../wire/gen/svc/base/v1beta1/base_pb.js";
import { decodeAddress, encodeAddress, auditErrors as errors } from "../../wire/index.ts";
import { checkAttributes } from "./check.ts";

export const STORE = "audit";

/** Functions of the provider keeper that audits need. */
export interface ProviderBook {
  exists(ctx: Context, owner: string): boolean;
  attributes(ctx: Context, owner: string): readonly Attribute[];
}

/** Attributes that auditors have signed, by provider and auditor. */
export class AuditKeeper {
  readonly params = paramsItem({ prefix: 0x00, schema: ParamsSchema });
  readonly records = collection({
    name: "audited attributes",
    prefix: 0x01,
    key: tupleKey(addressKey, addressKey),
    value: protoValue(AuditedAttributesSchema),
    notFound: errors.notFound,
    describe: ([owner, auditor]) => `of ${encodeAddress(owner)} signed by ${encodeAddress(auditor)}`,
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
    checkPrefixes({ params: this.params, records: this.records });
  }

  require(ctx: Context, owner: string, auditor: string): AuditedAttributes {
    return this.records.require(ctx.store(STORE), recordKey(owner, auditor));
  }

  /** Attributes of the provider that the auditor has signed; may be empty. */
  signedAttributes(ctx: Context, owner: string, auditor: string): readonly Attribute[] {
    return this.records.get(ctx.store(STORE), recordKey(owner, auditor))?.attributes ?? [];
  }

  /** Merges the attributes by key into the record, sorted by key. */
  sign(ctx: Context, request: Pick<AuditedAttributes, "owner" | "auditor" | "attributes">): void {
    const { owner, auditor } = request;
    if (!this.#providers.exists(ctx, owner)) throw errors.unknownProvider(owner);
    const limits = attributeLimits(this.params.require(ctx.plainStore(STORE)));
    checkAttributes(request.attributes, limits);
    const merged = new Map(this.signedAttributes(ctx, owner, auditor).map((each) => [each.key, each]));
    for (const attribute of request.attributes) merged.set(attribute.key, attribute);
    if (merged.size > limits.entries) throw errors.attributes(`more than ${limits.entries} attributes`);
    this.restore(ctx, { owner, auditor, attributes: [...merged.values()], signedAt: ctx.height });
    emit(ctx, "audit-trusted-auditor-created", owner, auditor);
  }

  /** Removes the named keys, or the whole record when none is named or none is left. */
  delete(ctx: Context, owner: string, auditor: string, keys: readonly string[]): void {
    const record = this.require(ctx, owner, auditor);
    const unknown = keys.find((key) => !record.attributes.some((each) => each.key === key));
    if (unknown !== undefined) throw errors.attributeNotFound(JSON.stringify(unknown.slice(0, 128)));
    const left = keys.length === 0 ? [] : record.attributes.filter((each) => !keys.includes(each.key));
    if (left.length === 0) this.records.delete(ctx.store(STORE), recordKey(owner, auditor));
    else this.restore(ctx, { ...record, attributes: left });
    emit(ctx, "audit-trusted-auditor-deleted", owner, auditor);
  }

  /** The record with the keys whose signed value is no longer the provider's own. */
  withStaleKeys(ctx: Context, record: AuditedAttributes): AuditedAttributes {
    const current = this.#providers.attributes(ctx, record.owner);
    const stale = record.attributes.filter((signed) => !matchAttributes([signed], current));
    return { ...record, staleKeys: stale.map(({ key }) => key) };
  }

  /** Sets a record in its stored form: sorted by key, nothing computed in it. */
  restore(ctx: Context, record: Omit<AuditedAttributes, "$typeName" | "staleKeys">): void {
    const { owner, auditor, signedAt } = record;
    const attributes = record.attributes.toSorted((a, b) => (a.key < b.key ? -1 : 1));
    const value = create(AuditedAttributesSchema, { owner, auditor, attributes, signedAt });
    this.records.set(ctx.store(STORE), recordKey(owner, auditor), value);
  }
}

function recordKey(owner: string, auditor: string): [Uint8Array, Uint8Array] {
  return [decodeAddress(owner, "account"), decodeAddress(auditor, "account")];
}

function emit(ctx: Context, action: string, owner: string, auditor: string): void {
  ctx.events.emit("svc.v1", { module: "audit", action, owner, auditor });
}
