import { readFileSync } from "node:fs";
import { join } from "node:path";
import faults from "../../vectors/sdl-faults/faults.json" with { type: "json" };
import type { Row, TestHome } from "./home.ts";

const SAMPLE = readFileSync(join(import.meta.dirname, "../../vectors/sdl-faults/sample.yaml"), "utf8");
const HOST = "host: https://provider.example.com:8443\n";
/** Every fourth recorded fault; each of them has its own test. */
const EVERY = 4;

/** Deployment files and provider files: each fault is reported with its position. */
export function fileRows(testHome: TestHome): readonly Row[] {
  return [...providerRows(testHome), ...sdlRows(testHome)];
}

function providerRows({ file, none, root }: TestHome): readonly Row[] {
  let count = 0;
  const create = (path: string, text: string): Row => [["tx", "provider", "create", path, "--from", "a"], 1, text];
  const given = (content: string | Uint8Array, text: string): Row => {
    count += 1;
    return create(file(`provider/${count}.yaml`, content), text);
  };
  const good = file("provider/good.yaml", HOST);
  return [
    create(none, "cannot read the provider file"),
    create(root, "cannot read the provider file"),
    given("", "1.yaml:1:1:"),
    given(Uint8Array.of(0x68, 0xe9), "is not UTF-8 text"),
    given("attributes: []\n", '"host" is missing'),
    given("host: http://x\n", "yaml:1:7: host:"),
    given("host: provider.example.com\n", "is not an address"),
    given("host: https://a.example/path\n", "has more than host and port"),
    given("host: https://u:p@a.example\n", "has more than host and port"),
    given("host: https://a.example:99999\n", "is not an address"),
    given("hots: https://a.example\n", 'did you mean "host"?'),
    given(`${HOST}attributes: {a: b}\n`, "a map is not a list of attributes"),
    given(`${HOST}attributes:\n  - key: region\n`, '"value" is missing'),
    given(`${HOST}attributes:\n  - {key: a b, value: c}\n`, 'invalid attribute key "a b"'),
    given(
      `${HOST}attributes:\n  - {key: region, value: c}\n  - {key: region, value: d}\n`,
      "attribute region appears twice",
    ),
    given(`${HOST}info: {email: nobody}\n`, "is not an email address"),
    given("host: !a https://a.example\n", "tags are not supported"),
    given(`host: ${"x".repeat(70_000)}\n`, "is larger than"),
    [["tx", "provider", "create", good], 2, "required flag --from"],
    [["tx", "provider", "create", good, "--from", "nobody"], 1, "nobody is not a valid name or address"],
    [["tx", "provider", "update", none, "--from", "a"], 1, "cannot read the provider file"],
  ];
}

function sdlRows({ file, none, root }: TestHome): readonly Row[] {
  const found = faults
    .filter((_, at) => at % EVERY === 0)
    .map(({ from, to, says }, at): Row => {
      if (!SAMPLE.includes(from)) throw new Error(`the sample has no ${from}`);
      const [first = says] = says.split("; ");
      return [["sdl", "hash", file(`sdl/${at}.yaml`, SAMPLE.replace(from, to))], 1, first];
    });
  return [
    ...found,
    [["sdl", "hash", none], 1, "cannot read the deployment file"],
    [["sdl", "manifest", root], 1, "cannot read the deployment file"],
    [["sdl", "manifest", file("sdl/provider.yaml", HOST)], 1, "provider.yaml:1:1"],
    [["sdl", "validate", none], 1, "cannot read the deployment file"],
    [["sdl", "hash"], 2, "missing required argument 'file'"],
  ];
}
