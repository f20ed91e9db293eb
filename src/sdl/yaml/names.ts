import { show } from "../errors.ts";
import type { Parsed } from "./fields.ts";

/** Rules for single texts, shared by deployment files and by manifests that arrive from elsewhere. */

const SERVICE_NAME_REMEDY = "write lower-case letters, digits and dashes, beginning with a letter, at most 63";

export function checkServiceName(text: string): Parsed<string> {
  if (isServiceName(text)) return { value: text };
  return { problem: `${show(text)} is not a name for a service`, remedy: SERVICE_NAME_REMEDY };
}

export function isServiceName(text: string): boolean {
  return text.length <= 63 && /^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(text);
}

/** Names of placements become names of groups on the chain. */
export function isGroupName(text: string): boolean {
  return text.length > 0 && text.length <= 64 && !/\p{C}/u.test(text);
}

export function isVolumeName(text: string): boolean {
  return text.length <= 63 && /^[a-zA-Z0-9]([-_.a-zA-Z0-9]*[a-zA-Z0-9])?$/.test(text);
}

export function isEndpointName(text: string): boolean {
  return text.length <= 63 && /^[a-z]+[a-z_0-9-]+$/.test(text);
}

const IMAGE_EXAMPLE = "write [registry/]name[:version], for example docker.io/library/nginx:1.27";
const IMAGE_HOST = /^[a-zA-Z0-9]([a-zA-Z0-9.-]*[a-zA-Z0-9])?(:\d{1,5})?$/;
const IMAGE_PART = /^[a-z0-9]+(([._]|__|-+)[a-z0-9]+)*$/;
const IMAGE_TAG = /^\w[\w.-]{0,127}$/;
const IMAGE_DIGEST = /^sha256:[0-9a-f]{64}$/;

/** The name of an image as container registries define it. */
export function checkImage(text: string): Parsed<string> {
  const fault = imageFault(text);
  return fault === undefined
    ? { value: text }
    : { problem: `${showImage(text)} is not the name of an image`, remedy: fault };
}

/** A name may hold a password by mistake, as in `user:password@host/image`; the text may be as long as its file. */
function showImage(text: string): string {
  const at = text.search(/[/@]/);
  const colon = text.lastIndexOf(":", at);
  return show(at >= 0 && text[at] === "@" && colon >= 0 ? `${text.slice(0, colon + 1)}...${text.slice(at)}` : text);
}

function imageFault(text: string): string | undefined {
  if (text.length > 512) return "write a name of at most 512 characters";
  if (/^\w+:\/\//.test(text)) return "leave out the part up to ://";
  const [name = "", digest, ...more] = text.split("@");
  if (more.length > 0 || (digest !== undefined && !IMAGE_DIGEST.test(digest))) {
    return digest?.includes("/") === true
      ? "put user name and password under credentials:"
      : "write the digest as @sha256: and 64 hexadecimal digits";
  }
  const parts = name.split("/");
  const first = parts[0] ?? "";
  if (parts.length > 1 && (/[.:]/.test(first) || first === "localhost")) {
    if (!IMAGE_HOST.test(first)) return IMAGE_EXAMPLE;
    parts.shift();
  }
  const last = parts.pop() ?? "";
  const colon = last.indexOf(":");
  if (colon >= 0 && !IMAGE_TAG.test(last.slice(colon + 1))) return IMAGE_EXAMPLE;
  parts.push(colon < 0 ? last : last.slice(0, colon));
  if (parts.every((part) => IMAGE_PART.test(part))) return undefined;
  return parts.every((part) => IMAGE_PART.test(part.toLowerCase())) ? "write the name in lower case" : IMAGE_EXAMPLE;
}

/** The name of an environment variable, from `NAME=value` or `NAME`. */
export function checkVariable(text: string): Parsed<string> {
  const name = text.split("=", 1)[0] ?? "";
  if (text.includes("\0")) return { problem: `the value of ${show(name)} holds a NUL byte`, remedy: "remove it" };
  if (/^[-._a-zA-Z][-._a-zA-Z0-9]*$/.test(name)) return { value: name };
  const problem = `${show(name)} is not the name of a variable`;
  return { problem, remedy: "write NAME=value, the name with letters, digits, _, - and . and no digit first" };
}

/** Places in a container that volumes must not cover. */
const RESERVED_MOUNTS = ["/proc", "/sys", "/dev"];

/** An absolute path in its shortest form; a slash at the end is dropped. */
export function checkMount(text: string): Parsed<string> {
  const problem = `${show(text)} is not a place for a volume`;
  if (!text.startsWith("/")) return { problem, remedy: "write an absolute path, for example /data" };
  if (text.length > 1024 || /\p{C}/u.test(text))
    return { problem, remedy: "write a shorter path of visible characters" };
  const parts = text.split("/").slice(1);
  if (parts.at(-1) === "") parts.pop();
  const path = `/${parts.join("/")}`;
  if (path === "/") return { problem, remedy: "write a directory below /, for example /data" };
  if (parts.some((part) => part === "" || part === "." || part === "..")) {
    return { problem, remedy: "write the path without //, . and .." };
  }
  const reserved = RESERVED_MOUNTS.find((mount) => path === mount || path.startsWith(`${mount}/`));
  if (reserved === undefined || path === "/dev/shm") return { value: text };
  return { problem, remedy: `${reserved} belongs to the system: mount elsewhere` };
}

/** Browsers read a name as an IPv4 address where its last part is a number, also a hexadecimal one. */
const ENDS_AS_ADDRESS = /(^|\.)(\d+|0x[\da-f]*)$/;

/** A host name in the form it is compared in: lower case, no dot at the end. */
export function checkHost(text: string): Parsed<string> {
  const canonical = text.toLowerCase().replace(/\.$/, "");
  const problem = `${show(text)} is not a host name`;
  if (!isSubdomain(canonical)) return { problem, remedy: hostRemedy(text) };
  if (ENDS_AS_ADDRESS.test(canonical)) return { problem, remedy: "write a name, not an address" };
  if (canonical === "localhost")
    return { problem: `${show(text)} is not a name of your own`, remedy: "write a name in a domain you own" };
  return canonical === text ? { value: text } : { problem, remedy: `write ${canonical}` };
}

function isSubdomain(text: string): boolean {
  return text.length <= 253 && text.split(".").every((part) => /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(part));
}

function hostRemedy(text: string): string {
  if (text.startsWith("*")) return "write each name out: patterns are not supported";
  if (text.includes("/")) return "write only the name, without http:// and path";
  if (text.includes(":")) return "write only the name, without the port";
  const ascii = asciiHost(text);
  if (ascii !== undefined) return `write ${ascii}`;
  return "write letters, digits, dashes and dots, for example shop.example.com";
}

/** The form in the DNS of a name with letters beyond ASCII; undefined where it has none. */
function asciiHost(text: string): string | undefined {
  if (/^\p{ASCII}*$/u.test(text) || text.length > 253 || !URL.canParse(`http://${text}`)) return undefined;
  const { hostname } = new URL(`http://${text}`);
  const checked = checkHost(hostname.replace(/\.$/, ""));
  return "value" in checked ? checked.value : undefined;
}
