import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import * as v from "valibot";
import { readWhole, tryJson } from "../../../../util/index.ts";
import { jsonRefusal } from "../../../../wire/index.ts";
import { clusterErrors } from "../../contract/index.ts";
import { type ImageReference, isRegistryHost } from "../../shared/index.ts";
import { MAX_TOKEN } from "./limits.ts";
import type { RegistryNetwork } from "./network.ts";

/** A tenant's login for a registry. */
export interface RegistryLogin {
  /** The registry, as people write it. */
  readonly host: string;
  readonly username: string;
  readonly password: string;
}

/** Bytes with the digest that was asked for. */
export interface Content {
  readonly bytes: Uint8Array;
  readonly digest: string;
}

const Token = v.object({ token: v.optional(v.string()), access_token: v.optional(v.string()) });
const MAX_CHALLENGE = 4_096;

/** One image's repository at its registry, asked with the tenant's login where there is one. */
export class Repository {
  /** Path without tag, as registries want it. */
  readonly path: string;
  /** Tag or digest. */
  readonly version: string;
  readonly #network: RegistryNetwork;
  readonly #reference: ImageReference;
  readonly #login: RegistryLogin | undefined;
  readonly #signal: AbortSignal;
  #authorization: string | undefined;

  constructor(
    network: RegistryNetwork,
    reference: ImageReference,
    { login, signal }: { readonly login: RegistryLogin | undefined; readonly signal: AbortSignal },
  ) {
    this.#network = network;
    this.#reference = reference;
    this.#login = login;
    this.#signal = signal;
    const name = reference.full.slice(reference.registry.length + 1);
    const cut = name.indexOf(reference.pinned ? "@" : ":");
    this.path = name.slice(0, cut);
    this.version = name.slice(cut + 1);
  }

  /** Whether the registry has never asked for a login, so that its layers are public. */
  get isPublic(): boolean {
    return this.#authorization === undefined || this.#own === undefined;
  }

  /** A manifest or index; for a digest, the one with that digest. */
  async manifest(version: string, accept: string, most: number): Promise<Content> {
    const response = await this.#get(`manifests/${version}`, { accept });
    const bytes = await readWhole(response, most, () => this.#tooLarge("its manifest"));
    const digest = sha256(bytes);
    if (version.startsWith("sha256:") && version !== digest) throw this.#wrongDigest();
    return { bytes, digest };
  }

  /** A small blob in memory, checked. */
  async small(digest: string, most: number): Promise<Uint8Array> {
    const bytes = await readWhole(await this.blob(digest), most, () => this.#tooLarge("its configuration"));
    if (sha256(bytes) !== digest) throw this.#wrongDigest();
    return bytes;
  }

  /** A blob as it comes; the caller checks size and digest. */
  blob(digest: string): Promise<IncomingMessage> {
    return this.#get(`blobs/${digest}`, {});
  }

  /** The login where it is for this registry. */
  get #own(): RegistryLogin | undefined {
    const login = this.#login;
    return login !== undefined && isRegistryHost(login.host, this.#reference.registry) ? login : undefined;
  }

  async #get(what: string, headers: Record<string, string>): Promise<IncomingMessage> {
    const { registry } = this.#reference;
    const url = new URL(`${this.#network.origin(registry)}/v2/${this.path}/${what}`);
    for (let attempt = 0; ; attempt++) {
      const authorization = this.#authorization;
      const given = authorization === undefined ? headers : { ...headers, authorization };
      const response = await this.#network.get(url, registry, { headers: given, signal: this.#signal });
      if (response.statusCode === 200) return response;
      const challenge = response.headers["www-authenticate"];
      response.destroy();
      if (response.statusCode !== 401 || attempt > 0 || challenge === undefined)
        throw this.#refusal(response.statusCode);
      await this.#authorize(challenge);
    }
  }

  /** Gets a token from the realm that the registry names, or sends the login itself. */
  async #authorize(challenge: string): Promise<void> {
    const login = this.#own;
    const basic =
      login === undefined
        ? undefined
        : `Basic ${Buffer.from(`${login.username}:${login.password}`).toString("base64")}`;
    const [, scheme = ""] = /^\s*(\w+)/.exec(challenge) ?? [];
    if (scheme.toLowerCase() === "basic") {
      if (basic === undefined) throw this.#refusal(401);
      this.#authorization = basic;
      return;
    }
    const url = scheme.toLowerCase() === "bearer" ? this.#realm(challenge) : undefined;
    if (url === undefined) throw this.#refusal(401);
    const headers: Record<string, string> = basic === undefined ? {} : { authorization: basic };
    const { registry } = this.#reference;
    const response = await this.#network.get(url, registry, { headers, signal: this.#signal });
    if (response.statusCode !== 200) {
      response.destroy();
      throw this.#refusal(response.statusCode === 404 ? 401 : response.statusCode);
    }
    const bytes = await readWhole(response, MAX_TOKEN, () => this.#tooLarge("its token"));
    const { token, access_token: other } = this.#parse(Token, bytes);
    const word = token ?? other ?? "";
    // Other characters could not be part of a header.
    if (!/^[\x21-\x7e]+$/.test(word)) throw this.#refusal(401);
    this.#authorization = `Bearer ${word}`;
  }

  #realm(challenge: string): URL | undefined {
    const fields = challenge.slice(0, MAX_CHALLENGE).matchAll(/(\w+)="([^"]*)"/g);
    const values = new Map([...fields].map(([, name = "", value = ""]) => [name.toLowerCase(), value]));
    const realm = values.get("realm") ?? "";
    if (!URL.canParse(realm)) return undefined;
    const url = new URL(realm);
    // A login that the registry has put there is not the tenant's.
    url.username = "";
    url.password = "";
    const service = values.get("service");
    if (service !== undefined) url.searchParams.set("service", service);
    url.searchParams.set("scope", `repository:${this.path}:pull`);
    return url;
  }

  #parse<T>(schema: v.GenericSchema<unknown, T>, bytes: Uint8Array): T {
    const result = v.safeParse(schema, parseJson(bytes));
    if (result.success) return result.output;
    throw clusterErrors.registryRefused(`registry ${this.#reference.registry} sent an invalid answer`);
  }

  #refusal(status: number | undefined): Error {
    const { full, registry } = this.#reference;
    const login = this.#login;
    if (status === 401 || status === 403) {
      if (login === undefined) {
        return clusterErrors.registryRefused(
          `image ${full} does not exist or needs credentials; add them under credentials`,
        );
      }
      if (this.#own === undefined) {
        const other = login.host.slice(0, 200);
        return clusterErrors.registryRefused(
          `image ${full} needs credentials for ${registry}, those given are for ${other}`,
        );
      }
      return clusterErrors.registryRefused(
        `registry ${registry} refused the credentials for image ${full}; check user name and password`,
      );
    }
    if (status === 404) {
      return clusterErrors.imageNotFound(`image ${full} does not exist in the registry; check name and tag`);
    }
    if (status === 429) {
      return clusterErrors.registryRefused(`registry ${registry} limits requests; give your own credentials, or wait`);
    }
    return clusterErrors.registryRefused(`registry ${registry} answered image ${full} with status ${status ?? 0}`);
  }

  #tooLarge(what: string): Error {
    return clusterErrors.imageTooLarge(`image ${this.#reference.full}: ${what} is too long`);
  }

  #wrongDigest(): Error {
    return clusterErrors.imageInvalid(
      `registry ${this.#reference.registry} sent other content than image ${this.#reference.full} names (wrong digest)`,
    );
  }
}

export function sha256(bytes: Uint8Array): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

/** Undefined where it is none. */
export function parseJson(bytes: Uint8Array): unknown {
  const text = Buffer.from(bytes).toString("utf8");
  return jsonRefusal(text) === undefined ? tryJson(text) : undefined;
}
