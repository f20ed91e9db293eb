import { asList } from "../../../../util/index.ts";

/** A registry that the operator allows wherever it is. */
export interface AllowedRegistry {
  /** As in names of images, with its port if that is not the usual one. */
  readonly host: string;
  /** Whether it is asked over `http://`, without encryption. */
  readonly plain: boolean;
}

const FORM = /^(https?:\/\/)?((?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::\d{1,5})?)$/i;

/** Reads `registry.internal:5000`, or `http://registry.internal:5000` for one without TLS. Undefined if it is neither. */
export function parseAllowedRegistry(text: string): AllowedRegistry | undefined {
  const [, scheme = "https://", host] = FORM.exec(text) ?? [];
  const plain = scheme.toLowerCase() === "http://";
  if (host === undefined || !URL.canParse(`${scheme}${host}`)) return undefined;
  return { host: new URL(`${scheme}${host}`).host, plain };
}

/** Registries, separated by commas. */
export const parseRegistries = asList(
  "hosts such as registry.internal:5000, or http://registry.internal:5000 for one without TLS",
  parseAllowedRegistry,
);
