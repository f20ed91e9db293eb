import { join } from "node:path";
import type { Row, TestHome } from "./home.ts";

/** Settings: written with `svc config`, and read from `client.toml`. */
export function configRows({ file }: TestHome): readonly Row[] {
  const found = (name: string, text: string | Uint8Array, expected: string): Row => {
    const path = file(join("homes", name, "config", "client.toml"), text);
    return [["keys", "list", "--home", join(path, "../..")], 1, expected];
  };
  const unknownProfile = join(file("homes/profile/config/client.toml", 'profile = "hub"\n'), "../..");
  return [
    [["config", "nod"], 2, '<key>: there is no key "nod"'],
    [["config", "nod", "x"], 2, '<key>: there is no key "nod"'],
    [["config", "get", "denm"], 2, '<key>: there is no key "denm"'],
    [["config", "get"], 2, "missing required argument 'key'"],
    [["config", "set", "node"], 2, "missing required argument 'value'"],
    [["config", "set", "gas", "auto"], 2, '<key>: there is no key "gas"'],
    [["config", "set", "output", "yaml"], 2, '<value>: "yaml" is not one of text, json'],
    [["config", "keyring-backend", "vault"], 2, '<value>: "vault" is not one of os, file'],
    [["config", "set", "broadcast-mode", "fast"], 2, '<value>: "fast" is not one of sync, async, block'],
    [["config", "set", "node", "tcp://a:99999"], 2, '<value>: "tcp://a:99999" is not a node address'],
    [["config", "set", "chain-id", "a b"], 2, '<value>: "a b" is not a chain id'],
    [["config", "set", "chain-id", "x".repeat(51)], 2, "is not a chain id"],
    [["config", "set", "coin-type", "2147483648"], 2, "is not a whole number from 0 to 2147483647"],
    [["config", "set", "bech32-prefix", "SVC"], 2, '<value>: "SVC" is not a prefix'],
    [["config", "set", "denom", "1x"], 2, '<value>: "1x" is not a denomination'],
    [["config", "set", "namespace", "osmo"], 2, '<value>: "osmo" is not one of sdk, cosmos'],
    [["config", "set", "profile", "../x"], 2, '<value>: "../x" is not a name'],
    [["config", "set", "node", "tcp://a:1", "--profile", "a]b"], 2, '--profile: "a]b" is not a name'],
    [["config", "set", "profile", "x", "--profile", "hub"], 2, 'the key "profile" cannot be inside a profile'],
    [["config", "a", "b", "c"], 2, "too many arguments"],
    found("typo", 'nodee = "x"\n', ':1: unknown key "nodee"'),
    found("value", 'output = "yaml"\n', ':1: output: "yaml" is not one of text, json'),
    found("type", "\n\noutput = 1\n", ':3: the value of "output" is not a text in quotes'),
    found("list", 'node = ["a"]\n', ':1: the value of "node" is not a text in quotes'),
    found("bare", "node = localhost\n", "client.toml:1:8:"),
    found("half", 'node = "x\n', "client.toml:1:"),
    found("twice", 'node = "x"\nnode = "y"\n', "client.toml:2:"),
    found("table", "[network]\n", 'unknown key "network"'),
    found("binary", Uint8Array.of(0xff, 0), "is not UTF-8 text"),
    found("large", `#${"x".repeat(2 ** 20)}\n`, "is larger than"),
    found("escape", 'chain-id = "\\u001b[2J"\n', "is not a chain id"),
    [["keys", "list", "--home", unknownProfile], 2, 'client.toml: profile: there is no profile "hub"'],
  ];
}
