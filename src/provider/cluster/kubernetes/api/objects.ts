/** An object of the API, as far as every kind is alike. */
export interface ApiObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    /** Counts changes of the wanted state. */
    readonly generation?: number;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly finalizers?: readonly string[];
    readonly deletionTimestamp?: string;
  };
}

/** A kind of object and where the server has it. */
export interface Resource {
  /** With its group: `apps/v1`; the first group has none: `v1`. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
}

/** The place of objects, or of one object. Without a namespace, all namespaces, or the cluster's own objects. */
export interface Place {
  readonly namespace?: string;
  readonly name?: string;
}

export function pathOf({ apiVersion, plural }: Resource, { namespace, name }: Place = {}): string {
  const root = apiVersion.includes("/") ? "/apis" : "/api";
  const space = namespace === undefined ? [] : ["namespaces", namespace];
  const words = [...space, plural, ...(name === undefined ? [] : [name])];
  for (const word of words) {
    // Such a segment would be another path.
    if (word === "" || word === "." || word === "..") throw new Error(`"${word}" is not the name of an object`);
  }
  return `${root}/${apiVersion}/${words.map(encodeURIComponent).join("/")}`;
}

/** Whether the value is an object of the API. */
export function isApiObject(value: unknown): value is ApiObject {
  if (typeof value !== "object" || value === null || !("metadata" in value)) return false;
  const { metadata } = value;
  return typeof metadata === "object" && metadata !== null && "name" in metadata && typeof metadata.name === "string";
}

/** Without the record of who set which field, often the larger part of an object. */
export function lean<T extends ApiObject>(object: T): T {
  const { managedFields: _, ...metadata }: ApiObject["metadata"] & { managedFields?: unknown } = object.metadata;
  return { ...object, metadata };
}
