import armors from "../../vectors/armor.json" with { type: "json" };
import type { Row, TestHome } from "./home.ts";

const GOOD = armors.items.find(({ kdf }) => kdf === "argon2")?.armor ?? "";
const HEAD = "-----BEGIN TENDERMINT PRIVATE KEY-----\n";
const END = "-----END TENDERMINT PRIVATE KEY-----\n";
const PASSPHRASE = "long enough passphrase";

/** Exported keys: every way in which such a file can be damaged. */
export function armorRows({ file, none, root }: TestHome): readonly Row[] {
  let count = 0;
  const given = (text: string, expected: string, passphrase = PASSPHRASE): Row => {
    count += 1;
    const path = file(`armor/${count}.key`, text, 0o600);
    return [["keys", "import", "n", path], 1, expected, { input: `${passphrase}\n` }];
  };
  const edited = (from: string | RegExp, to: string, expected: string): Row => {
    const text = GOOD.replace(from, to);
    if (text === GOOD) throw new Error(`the armor has no ${from}`);
    return given(text, expected);
  };
  return [
    [["keys", "import", "n"], 2, "missing required argument 'file'"],
    [["keys", "import", "n", none], 1, "ENOENT"],
    [["keys", "import", "n", root], 1, "key file"],
    given("", "armor"),
    given("not a key", 'no line "-----BEGIN'),
    given("0".repeat(70_000), "is larger than 65536 bytes"),
    given(GOOD, "password must be at least 8 characters", "short"),
    given(GOOD, "invalid account password"),
    edited(HEAD, "-----BEGIN PRIVATE KEY-----\n", "key file"),
    edited(HEAD, "", "armor"),
    edited(END, "", "armor"),
    edited(END, "-----END PRIVATE KEY-----\n", "armor"),
    edited(/kdf: .*\n/, "", "unrecognized KDF type"),
    edited(/kdf: .*/, "kdf: scrypt", "scrypt"),
    edited(/kdf: .*/, "kdf:", "a header line is not"),
    edited(/salt: .*\n/, "", "salt"),
    edited(/salt: .*/, "salt:", "a header line is not"),
    edited(/salt: .*/, "salt: xyz", "salt"),
    edited(/salt: ../, "salt: ", "salt"),
    edited(/salt: ./, "salt: ", "salt"),
    edited(/salt: .*/, `salt: ${"A".repeat(40_000)}`, "armor"),
    edited(/type: .*/, "type: ed25519", "ed25519"),
    edited(/type: (.*)/, "type: $1\ntype: $1", "type"),
    edited(/\n=.*\n/, "\n=AAAA\n", "checksum"),
    edited(/\n=.*\n/, "\n", "checksum"),
    edited(/\n\n./, "\n\n", "armor"),
    edited(/\n\n/, "\n\n%%%\n", "armor"),
    edited(/\n\n/, "\n", "armor"),
    given(GOOD + GOOD, "armor"),
    given(GOOD.slice(0, 120), "armor"),
    [
      ["keys", "import", "../x", file("armor/good.key", GOOD, 0o600)],
      1,
      "invalid key name",
      { input: `${PASSPHRASE}\n` },
    ],
    [["keys", "export", "a"], 1, "password must be at least 8 characters", { input: "short\n" }],
    [["keys", "export", "a"], 1, "standard input ended"],
    [["keys", "export", "a", "--unsafe"], 2, "the flags unsafe and unarmored-hex must be used together"],
    [["keys", "export", "a", "--unarmored-hex"], 2, "the flags unsafe and unarmored-hex must be used together"],
    [["keys", "export", "nobody"], 1, "nobody is not a valid name or address", { input: `${PASSPHRASE}\n` }],
  ];
}
