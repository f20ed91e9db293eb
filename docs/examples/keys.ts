// Creates a key in a keyring in the folder, exports it encrypted, and imports it under another name:
// node tools/run.mjs docs/examples/keys.ts <folder>
import { derivePrivateKey, generateMnemonic, mnemonicToSeed } from "svc/crypto";
import { decryptKeyArmor, encryptKeyArmor, fixedPassphrase, openKeyring } from "svc/keyring";
import { encodeAddress } from "svc/wire";

const [dir = ""] = process.argv.slice(2);
const keyring = openKeyring({
  backend: "file",
  dir,
  passphrase: fixedPassphrase("correct horse battery"),
  notify: console.error,
});

// 24 words that only the owner may see: this program does not keep them.
const words = await generateMnemonic();
const key = await keyring.addLocal("savings", await derivePrivateKey(await mnemonicToSeed(words), "m/44'/118'/0'/0/0"));

// The armor format of `svc keys export` and the ecosystem's tools.
const armor = await encryptKeyArmor(await keyring.exportPrivateKey("savings"), "armor passphrase");
console.log(armor.split("\n")[0]);
await keyring.delete("savings");
const again = await keyring.addLocal("restored", await decryptKeyArmor(armor, "armor passphrase"));
console.log(encodeAddress(again.address) === encodeAddress(key.address) ? "the same account" : "another account");
