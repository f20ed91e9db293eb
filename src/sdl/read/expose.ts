import type { HttpOptions } from "../manifest.ts";
import type { ExposeDecl, HostDecl, ToDecl } from "../model.ts";
import type { Node } from "../yaml/document.ts";
import type { Fields, Reader, Want } from "../yaml/fields.ts";
import { EXPOSE_HABITS, TO_HABITS } from "../yaml/habits.ts";
import { checkHost } from "../yaml/names.ts";

const EXPOSE_EXAMPLE = "write - port: 8080, as: 80, to: [{global: true}]";
const EXPOSE_WANT: Want = { what: "a list of exposed ports", remedy: EXPOSE_EXAMPLE };
const ENTRY_WANT: Want = { what: "an exposed port", remedy: EXPOSE_EXAMPLE };
const EXPOSE_SHAPE = { keys: ["port", "as", "proto", "to", "accept", "http_options"], habits: EXPOSE_HABITS };

const TO_WANT: Want = {
  what: "a list of who may connect",
  remedy: "write to: [{global: true}] or to: [{service: NAME}]",
};
const TARGET_WANT: Want = { what: "a map of who may connect", remedy: "write global: true or service: NAME" };
const TO_SHAPE = { keys: ["global", "service", "ip"], habits: TO_HABITS };

const ACCEPT_WANT: Want = { what: "a list of host names", remedy: "write accept: [shop.example.com]" };
const HOST_WANT: Want = { what: "a host name", remedy: "write a name, for example shop.example.com" };

const PORT_RANGE = { min: 1, max: 65_535 };

/** `services.<name>.expose`. */
export function readExposes(reader: Reader, node: Node | undefined): readonly ExposeDecl[] {
  return reader.items(node, EXPOSE_WANT).flatMap((item) => {
    const fields = reader.fields(item, EXPOSE_SHAPE, ENTRY_WANT);
    return fields === undefined ? [] : [readExpose(reader, fields)];
  });
}

function readExpose(reader: Reader, fields: Fields): ExposeDecl {
  const port = fields.require("port", "write the port that the program listens on, for example port: 8080");
  const as = fields.get("as");
  return {
    place: fields.place,
    port: port === undefined ? 0 : readPort(reader, port),
    externalPort: as === undefined ? 0 : readPort(reader, as),
    proto: readProtocol(reader, fields.get("proto")),
    hosts: readHosts(reader, fields.get("accept")),
    httpOptions: readHttpOptions(reader, fields.get("http_options")),
    to: readTargets(reader, fields.get("to")),
  };
}

function readPort(reader: Reader, node: Node): number {
  return reader.integer(node, { what: "a port", remedy: portRemedy(node) }, PORT_RANGE) ?? 0;
}

function portRemedy(node: Node): string {
  const text = node.kind === "scalar" ? node.text : "";
  const [, outside, inside] = /^(\d{1,5}):(\d{1,5})$/.exec(text) ?? [];
  if (outside !== undefined && inside !== undefined) return `write port: ${inside} and as: ${outside}`;
  const [, port, proto] = /^(\d{1,5})\/(tcp|udp)$/i.exec(text) ?? [];
  if (port !== undefined && proto !== undefined) return `write port: ${port} and proto: ${proto.toLowerCase()}`;
  if (/^\d{1,5}\s*-\s*\d{1,5}$/.test(text)) return "write one entry for each port";
  return "write a number from 1 to 65535";
}

function readProtocol(reader: Reader, node: Node | undefined): "TCP" | "UDP" {
  const text = node?.kind === "scalar" ? node.text.toUpperCase() : undefined;
  if (node === undefined || text === "TCP") return "TCP";
  if (text === "UDP") return "UDP";
  const remedy = text === "HTTP" || text === "HTTPS" ? "write tcp: HTTP runs over it" : "write tcp or udp";
  reader.wrong(node, { what: "a protocol", remedy });
  return "TCP";
}

function readHosts(reader: Reader, node: Node | undefined): readonly HostDecl[] {
  return reader.items(node, ACCEPT_WANT).flatMap((item) => {
    const name = reader.parsed(item, HOST_WANT, checkHost);
    return name === undefined ? [] : [{ name, place: item.place }];
  });
}

function readTargets(reader: Reader, node: Node | undefined): readonly ToDecl[] {
  return reader.items(node, TO_WANT).flatMap((item) => {
    const remedy = item.kind === "scalar" ? targetRemedy(item.text) : TARGET_WANT.remedy;
    const fields = reader.fields(item, TO_SHAPE, { what: TARGET_WANT.what, remedy });
    return fields === undefined ? [] : [readTarget(reader, fields)];
  });
}

function targetRemedy(text: string): string {
  return text.startsWith("global") ? "write - global: true" : "write - global: true or - service: NAME";
}

function readTarget(reader: Reader, fields: Fields): ToDecl {
  const global = fields.get("global");
  const service = fields.get("service");
  const ip = fields.get("ip");
  const decl = {
    place: fields.place,
    global: global === undefined ? false : (reader.flag(global) ?? true),
    service: service === undefined ? "" : (reader.text(service, SERVICE_WANT) ?? ""),
    ip: ip === undefined ? "" : (reader.text(ip, IP_WANT) ?? ""),
  };
  if (decl.ip !== "" && ip !== undefined && !decl.global) {
    reader.report.error(ip.place, "value", {
      problem: "a leased address is open to everybody, but global is not true",
      remedy: "write global: true next to ip:",
    });
  }
  return decl;
}

const SERVICE_WANT: Want = { what: "the name of a service", remedy: "write the name of a service of this file" };
const IP_WANT: Want = { what: "the name of an endpoint", remedy: "write a name listed under endpoints:" };

const HTTP_WANT: Want = {
  what: "a map of HTTP options",
  remedy: "write for example http_options: {max_body_size: 10485760}",
};
const HTTP_SHAPE = {
  keys: [
    "max_body_size",
    "read_timeout",
    "send_timeout",
    "next_tries",
    "next_timeout",
    "next_cases",
    "proxy_buffer_size",
  ],
};

const MAX_BODY_SIZE = 104_857_600;
const MAX_TIMEOUT = 60_000;
const MAX_PROXY_BUFFER = 1_048_576;
const MAX_UINT32 = 4_294_967_295;

/** Default behaviour of the ingress; zero in a file also means the default. */
export const DEFAULT_HTTP_OPTIONS: HttpOptions = {
  maxBodySize: 1_048_576,
  readTimeout: MAX_TIMEOUT,
  sendTimeout: MAX_TIMEOUT,
  nextTries: 3,
  nextTimeout: 0,
  nextCases: ["error", "timeout"],
};

/** Options by their names in the deployment file that are others than where the file says nothing. */
export function chosenOptions(options: HttpOptions): string[] {
  const { maxBodySize, readTimeout, sendTimeout, nextTries, nextTimeout, nextCases } = DEFAULT_HTTP_OPTIONS;
  const isOther = {
    max_body_size: options.maxBodySize !== maxBodySize,
    read_timeout: options.readTimeout !== readTimeout,
    send_timeout: options.sendTimeout !== sendTimeout,
    next_tries: options.nextTries !== nextTries,
    next_timeout: options.nextTimeout !== nextTimeout,
    next_cases: (options.nextCases ?? nextCases)?.join() !== nextCases?.join(),
    proxy_buffer_size: (options.proxyBufferSize ?? 0) > 0,
  };
  return Object.entries(isOther).flatMap(([name, is]) => (is ? [name] : []));
}

/** Failures of one replica after which the ingress tries the next. */
export const NEXT_CASES = ["error", "timeout", "500", "502", "503", "504", "403", "404", "429", "off"] as const;

function readHttpOptions(reader: Reader, node: Node | undefined): HttpOptions {
  const fields = node === undefined ? undefined : reader.fields(node, HTTP_SHAPE, HTTP_WANT);
  if (fields === undefined) return DEFAULT_HTTP_OPTIONS;
  const number = (key: string, unit: string, max: number): number => {
    const value = fields.get(key);
    const want = { what: `a number of ${unit}`, remedy: `write a number from 0 to ${max}` };
    return value === undefined ? 0 : (reader.integer(value, want, { min: 0, max }) ?? 0);
  };
  const proxyBufferSize = number("proxy_buffer_size", "bytes", MAX_PROXY_BUFFER);
  return {
    maxBodySize: number("max_body_size", "bytes", MAX_BODY_SIZE) || DEFAULT_HTTP_OPTIONS.maxBodySize,
    readTimeout: number("read_timeout", "milliseconds", MAX_TIMEOUT) || DEFAULT_HTTP_OPTIONS.readTimeout,
    sendTimeout: number("send_timeout", "milliseconds", MAX_TIMEOUT) || DEFAULT_HTTP_OPTIONS.sendTimeout,
    nextTries: number("next_tries", "tries", MAX_UINT32) || DEFAULT_HTTP_OPTIONS.nextTries,
    nextTimeout: number("next_timeout", "milliseconds", MAX_UINT32),
    nextCases: readNextCases(reader, fields.get("next_cases")),
    ...(proxyBufferSize === 0 ? {} : { proxyBufferSize }),
  };
}

function readNextCases(reader: Reader, node: Node | undefined): readonly string[] {
  const want = { what: "a list of cases", remedy: "write next_cases: [error, timeout]" };
  const items = reader.items(node, want);
  const cases = items.map((item) => reader.oneOf(item, NEXT_CASES, "a case") ?? "error");
  if (node !== undefined && cases.length > 1 && cases.includes("off")) {
    reader.report.error(node.place, "value", {
      problem: '"off" cannot be combined with other cases',
      remedy: "write next_cases: [off], or leave off out",
    });
  }
  return cases.length === 0 ? (DEFAULT_HTTP_OPTIONS.nextCases ?? []) : cases;
}
