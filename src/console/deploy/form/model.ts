import { type Document, isMap, isScalar, isSeq } from "yaml";
import { editableDocument } from "../../../sdl/index.ts";
import { BEYOND, isWithin, nodeAt, type Path, pathText, scalarText } from "./paths.ts";

/** A value of the file that the form shows; its text is empty where the file has none. */
export interface Field {
  readonly path: Path;
  readonly text: string;
}

/** A list of the file that the form shows as lines. */
export interface Lines {
  readonly path: Path;
  readonly lines: readonly string[];
}

export interface PortForm {
  readonly path: Path;
  readonly port: Field | undefined;
  readonly as: Field | undefined;
  readonly proto: Field | undefined;
  /** Undefined where only the text says who may connect. */
  readonly isGlobal: boolean | undefined;
  readonly hosts: Lines | undefined;
}

export interface VolumeForm {
  readonly name: string;
  readonly size: Field | undefined;
}

/** A service at a place, and the price there. */
export interface PlacementForm {
  readonly name: string;
  readonly count: Field | undefined;
  readonly amount: Field | undefined;
  readonly denom: Field | undefined;
}

/** A service of the file. A part that is undefined is written in a way that the form does not know. */
export interface ServiceForm {
  readonly name: string;
  readonly image: Field | undefined;
  readonly command: Lines | undefined;
  readonly args: Lines | undefined;
  readonly env: Lines | undefined;
  readonly ports: readonly PortForm[] | undefined;
  readonly cpu: Field | undefined;
  readonly memory: Field | undefined;
  readonly volumes: readonly VolumeForm[];
  /** Services with the same resources and prices, which change with them. */
  readonly sharedWith: readonly string[];
  readonly placements: readonly PlacementForm[];
}

export interface SdlForm {
  readonly services: readonly ServiceForm[];
  /** Names of all services, shown in the form or not. */
  readonly names: readonly string[];
  /** Paths of what the form does not show. */
  readonly textOnly: readonly string[];
  /** Paths of what it shows. */
  readonly shown: ReadonlySet<string>;
}

/** Services that the form shows; the text may have more. */
const MAX_SERVICES = 30;

/** Reads a text for the form; undefined if it is no document, or holds no map. */
export function readForm(text: string): SdlForm | undefined {
  const document = editableDocument(text);
  if (document === undefined) return undefined;
  const { contents } = document;
  if (contents !== null && !isMap(contents) && scalarText(contents) !== undefined) return undefined;
  return new FormReader(document).read();
}

class FormReader {
  readonly #document: Document;
  readonly #shown = new Set<string>();

  constructor(document: Document) {
    this.#document = document;
  }

  read(): SdlForm {
    this.#field(["version"]);
    const names = this.#keys(["services"]);
    const services = names.slice(0, MAX_SERVICES).map((name) => this.#service(name));
    return { services, names, textOnly: this.#hidden(this.#document.contents, []), shown: this.#shown };
  }

  #service(name: string): ServiceForm {
    const path = ["services", name];
    const places = this.#keys(["deployment", name]);
    const profiles = places.map((place) => this.#field(["deployment", name, place, "profile"])?.text ?? "");
    const profile = profiles[0] ?? "";
    const resources = ["profiles", "compute", profile, "resources"];
    const isKnown = profile !== "" && nodeAt(this.#document, resources) !== undefined;
    return {
      name,
      image: this.#field([...path, "image"]),
      command: this.#lines([...path, "command"]),
      args: this.#lines([...path, "args"]),
      env: this.#lines([...path, "env"]),
      ports: this.#ports([...path, "expose"]),
      cpu: isKnown ? this.#field([...resources, "cpu", "units"]) : undefined,
      memory: isKnown ? this.#field([...resources, "memory", "size"]) : undefined,
      volumes: isKnown ? this.#volumes([...resources, "storage"]) : [],
      sharedWith: this.#sharing(name, profiles),
      placements: places.map((place, i) => this.#placement(name, place, profiles[i] ?? "")),
    };
  }

  /** Other services with one of the profiles. */
  #sharing(name: string, profiles: readonly string[]): string[] {
    return this.#keys(["deployment"]).filter((other) => {
      const named = this.#keys(["deployment", other]).map((place) => ["deployment", other, place, "profile"]);
      return other !== name && named.some((path) => profiles.includes(scalarText(nodeAt(this.#document, path)) ?? ""));
    });
  }

  #placement(service: string, place: string, profile: string): PlacementForm {
    const price = ["profiles", "placement", place, "pricing", profile];
    const isPriced = isMap(nodeAt(this.#document, price));
    return {
      name: place,
      count: this.#field(["deployment", service, place, "count"]),
      amount: isPriced ? this.#field([...price, "amount"]) : undefined,
      denom: isPriced ? this.#field([...price, "denom"]) : undefined,
    };
  }

  #volumes(path: Path): VolumeForm[] {
    const node = nodeAt(this.#document, path);
    if (isMap(node)) return [{ name: "", size: this.#field([...path, "size"]) }];
    if (!isSeq(node)) return [];
    return node.items.map((_, i) => {
      return { name: this.#field([...path, i, "name"])?.text ?? "", size: this.#field([...path, i, "size"]) };
    });
  }

  #ports(path: Path): PortForm[] | undefined {
    const node = nodeAt(this.#document, path);
    if (node === undefined) return [];
    if (!isSeq(node)) return undefined;
    return node.items.flatMap((item, i) => (isMap(item) ? [this.#port([...path, i])] : []));
  }

  #port(path: Path): PortForm {
    return {
      path,
      port: this.#field([...path, "port"]),
      as: this.#field([...path, "as"]),
      proto: this.#field([...path, "proto"]),
      isGlobal: this.#isGlobal([...path, "to"]),
      hosts: this.#lines([...path, "accept"]),
    };
  }

  #isGlobal(path: Path): boolean | undefined {
    const node = nodeAt(this.#document, path);
    if (node === undefined) return false;
    if (!isSeq(node)) return undefined;
    return node.items.map((_, i) => this.#field([...path, i, "global"])?.text).includes("true");
  }

  /** A value; undefined where something else than one stands, or stands in the way. */
  #field(path: Path): Field | undefined {
    const node = nodeAt(this.#document, path);
    if (node === undefined) return { path, text: "" };
    if (!isScalar(node) || node.anchor !== undefined) return undefined;
    this.#shown.add(pathText(path));
    return { path, text: scalarText(node) ?? "" };
  }

  /** A list of values of one line each. */
  #lines(path: Path): Lines | undefined {
    const node = nodeAt(this.#document, path);
    if (node === undefined) return { path, lines: [] };
    if (!isSeq(node) || node.anchor !== undefined) return undefined;
    const texts = node.items.map((item) =>
      isScalar(item) && item.anchor === undefined ? scalarText(item) : undefined,
    );
    const lines = texts.flatMap((text) => (text === undefined || text === "" || text.includes("\n") ? [] : [text]));
    if (lines.length < texts.length) return undefined;
    this.#shown.add(pathText(path));
    return { path, lines };
  }

  #keys(path: Path): string[] {
    const node = nodeAt(this.#document, path);
    if (node === BEYOND || !isMap(node)) return [];
    return node.items.flatMap(({ key }) => scalarText(key) ?? []);
  }

  /** The outermost values below a node in which nothing is shown. */
  #hidden(node: unknown, path: Path): string[] {
    const text = pathText(path);
    if (this.#shown.has(text)) return [];
    const isOpen = path.length === 0 || [...this.#shown].some((shown) => isWithin(shown, text));
    if (isOpen && isMap(node))
      return node.items.flatMap(({ key, value }) => this.#hidden(value, [...path, scalarText(key) ?? "?"]));
    if (isOpen && isSeq(node)) return node.items.flatMap((item, i) => this.#hidden(item, [...path, i]));
    return path.length === 0 ? [] : [text];
  }
}
