/** Signer of an extension in the form of CosmJS; devices have `signAmino` alone. */
export interface ExtensionSigner {
  signDirect?(signer: string, document: object): Promise<unknown>;
  signAmino(signer: string, document: unknown): Promise<unknown>;
}

/** The parts of Keplr's interface that the pages use; Leap and others have the same. */
export interface Extension {
  experimentalSuggestChain(info: unknown): Promise<void>;
  enable(chainId: string): Promise<void>;
  getKey(chainId: string): Promise<unknown>;
  getOfflineSignerAuto(chainId: string): Promise<ExtensionSigner>;
  signArbitrary(chainId: string, signer: string, data: string): Promise<unknown>;
}

/** Extensions by the global under which each is found, with the event by which it says that its account has changed. */
export const EXTENSIONS = {
  keplr: { name: "Keplr", event: "keplr_keystorechange" },
  leap: { name: "Leap", event: "leap_keystorechange" },
} as const;
export type ExtensionName = keyof typeof EXTENSIONS;

/** The page around an extension. */
export interface ExtensionHost {
  /** Objects by the names of globals. */
  readonly globals: object;
  /** Receives the events of extensions. */
  readonly events: Pick<EventTarget, "addEventListener" | "removeEventListener">;
}

/** The extensions that this browser has. */
export function foundExtensions({ globals }: Pick<ExtensionHost, "globals">): ExtensionName[] {
  const names: readonly ExtensionName[] = ["keplr", "leap"];
  return names.filter((name) => extensionOf(globals, name) !== undefined);
}

/** The extension of a name; undefined where the global is something else. */
export function extensionOf(globals: object, name: ExtensionName): Extension | undefined {
  const found: unknown = Reflect.get(globals, name);
  return isExtension(found) ? found : undefined;
}

const METHODS = ["experimentalSuggestChain", "enable", "getKey", "getOfflineSignerAuto", "signArbitrary"] as const;

function isExtension(value: unknown): value is Extension {
  if (typeof value !== "object" || value === null) return false;
  return METHODS.every((method) => typeof Reflect.get(value, method) === "function");
}
