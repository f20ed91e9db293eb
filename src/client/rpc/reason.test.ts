import { expect, it } from "vitest";
import { reasonOf } from "./reason.ts";

const failure = (code: string): Error => Object.assign(new Error(`connect ${code} 203.0.113.1:80`), { code });

it.each([
  ["an address", failure("ECONNREFUSED"), "connection refused"],
  [
    "a name with several addresses",
    new AggregateError([failure("EHOSTUNREACH"), failure("EACCES")]),
    "host unreachable",
  ],
  ["what has no code", new Error("the certificate has expired"), "the certificate has expired"],
  ["another code", failure("EACCES"), "connect EACCES 203.0.113.1:80"],
  ["no error", "gone", "gone"],
])("why %s cannot be reached", (_, error, text) => {
  expect(reasonOf(error)).toBe(text);
});
