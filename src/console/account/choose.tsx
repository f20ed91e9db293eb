import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { generateMnemonic } from "../../crypto/index.ts";
import { SignMode } from "../../wire/index.ts";
import { foundHid, type HidHost } from "../ledger/hid.ts";
import { useAsk } from "../live/ask.ts";
import { chainId } from "../live/blocks/head.ts";
import { session } from "../live/chain.ts";
import { adopt, derive, loadChainInfo, ofKeyring } from "../live/wallet.ts";
import { Field, textOf } from "../parts/act.tsx";
import { Known, Section } from "../parts/blocks.tsx";
import { Fault } from "../parts/fault.tsx";
import { Address, Strange } from "../parts/text.tsx";
import { account as accountWords, choose as chooseWords, ledger as ledgerWords } from "../text/account.ts";
import { t } from "../text/index.ts";
import { EXTENSIONS, type ExtensionHost, type ExtensionName, foundExtensions } from "../wallet/found.ts";
import type { SealedKey } from "../wallet/sealed.ts";
import { addressWallet, type Wallet } from "../wallet/wallet.ts";

/** Extensions put themselves into the page. */
const HOST: ExtensionHost = { globals: globalThis, events: globalThis };

/** The ways to connect an account. */
export function Choose() {
  const shown = chainId.value;
  if (shown === undefined) return <p class="waiting">{t.state.loading} …</p>;
  return (
    <>
      {session.value?.keys !== undefined && (
        <Section title={chooseWords.keyring}>
          {session.value.keys.map((key) => (
            <Step
              key={key.address}
              label={chooseWords.use(key.name)}
              run={async () => adopt(await ofKeyring(key, shown))}
            />
          ))}
        </Section>
      )}
      <Section title={chooseWords.extensions}>
        {session.value?.mode === "console" ? <p class="none">{chooseWords.noReach}</p> : <Extensions shown={shown} />}
      </Section>
      <Section title={ledgerWords.title}>
        <Device shown={shown} />
      </Section>
      <Section title={chooseWords.keys}>
        <Keys shown={shown} />
      </Section>
      <Section title={chooseWords.look}>
        <Step
          label={chooseWords.lookAt}
          run={async (fields) =>
            adopt(addressWallet(textOf(fields, "address"), { chainId: shown, signMode: SignMode.DIRECT }))
          }
        >
          <Field name="address" label={accountWords.address} />
        </Step>
      </Section>
    </>
  );
}

function Extensions({ shown }: { shown: string }) {
  const found = foundExtensions(HOST);
  if (found.length === 0) return <p class="none">{chooseWords.noExtension}</p>;
  return (
    <div class="row">
      {found.map((name) => (
        <Step
          key={name}
          label={chooseWords.connect(EXTENSIONS[name].name)}
          run={async () => adopt(await connected(name, shown))}
        />
      ))}
    </div>
  );
}

function Device({ shown }: { shown: string }) {
  const hid = foundHid(navigator);
  if (hid === undefined) return <p class="none">{ledgerWords.noHid}</p>;
  return (
    <Step
      label={ledgerWords.connect}
      run={async (fields) => adopt(await ofDevice(hid, shown, textOf(fields, "account")))}
    >
      <p>{ledgerWords.hint}</p>
      <Field name="account" label={ledgerWords.account} value="0" />
    </Step>
  );
}

/** A form whose button runs one step, and tells its fault. */
export function Step({
  label,
  run,
  children,
}: {
  label: string;
  run: (fields: FormData) => Promise<void>;
  children?: ComponentChildren;
}) {
  const isOpen = useSignal(false);
  const error = useSignal<unknown>(undefined);
  const start = async (form: HTMLFormElement): Promise<void> => {
    isOpen.value = true;
    error.value = undefined;
    try {
      await run(new FormData(form));
      // A passphrase stays in the page no longer than it is needed.
      form.reset();
    } catch (reason) {
      error.value = reason;
    }
    isOpen.value = false;
  };
  return (
    <form
      class="act"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isOpen.value) void start(event.currentTarget);
      }}
    >
      {children}
      <button type="submit" disabled={isOpen}>
        {label}
      </button>
      {error.value !== undefined && <Fault error={error.value} />}
    </form>
  );
}

function Keys({ shown }: { shown: string }) {
  const changes = useSignal(0);
  const stored = useAsk(async () => (await import("../wallet/stored/keys.ts")).storedKeys(), {
    key: `keys ${changes.value}`,
  });
  return (
    <>
      <Known answer={stored}>
        {(keys) => (
          <>
            {keys.map((key) => (
              <Step
                key={key.address}
                label={chooseWords.unlock}
                run={(fields) => unlock(key, shown, textOf(fields, "passphrase"))}
              >
                <p>
                  <Strange text={key.name} isName max={100} /> <Address text={key.address} />
                </p>
                <Field name="passphrase" label={chooseWords.passphrase} isSecret />
              </Step>
            ))}
          </>
        )}
      </Known>
      <details>
        <summary>{chooseWords.add}</summary>
        <p class="notice">{chooseWords.warning}</p>
        <NewPhrase />
        <Step label={chooseWords.keep} run={(fields) => keep(fields, shown)}>
          <p class="field">
            <label htmlFor="secret">{chooseWords.secret}</label>
            <textarea
              id="secret"
              name="secret"
              required
              rows={4}
              spellcheck={false}
              autocomplete="off"
              maxLength={4000}
            />
          </p>
          <Field name="armor" label={chooseWords.armorPassphrase} isSecret isOptional />
          <Field name="name" label={chooseWords.name} isOptional />
          <Field name="passphrase" label={chooseWords.newPassphrase} isSecret />
        </Step>
      </details>
    </>
  );
}

/** Modules with cryptography are loaded when they are needed. */
async function connected(name: ExtensionName, chainId: string): Promise<Wallet> {
  const { connectExtension } = await import("../wallet/extension.ts");
  return connectExtension(HOST, { name, chainId, info: await loadChainInfo() });
}

async function ofDevice(hid: HidHost, chainId: string, account: string): Promise<Wallet> {
  const { connectLedger } = await import("../ledger/wallet.ts");
  return connectLedger(hid, { chainId, account });
}

async function unlock(key: SealedKey, chainId: string, passphrase: string): Promise<void> {
  const { LocalWallet } = await import("../wallet/local.ts");
  const account = new LocalWallet(key, { chainId, derive });
  await account.unlock(passphrase);
  adopt(account);
}

/** Stores the key of the form's phrase or armor. */
async function keep(fields: FormData, chainId: string): Promise<void> {
  const [{ keyOfArmor, keyOfPhrase }, { sealKey }, { storeKey }] = await Promise.all([
    import("../wallet/local.ts"),
    import("../wallet/sealed.ts"),
    import("../wallet/stored/keys.ts"),
  ]);
  const [secret, passphrase] = [textOf(fields, "secret"), textOf(fields, "passphrase")];
  const isArmor = secret.startsWith("-----");
  const key = isArmor ? await keyOfArmor(secret, textOf(fields, "armor")) : await keyOfPhrase(secret);
  const sealed = await sealKey(key, { name: textOf(fields, "name"), passphrase, derive });
  key.fill(0);
  await storeKey(sealed);
  await unlock(sealed, chainId, passphrase);
}

function NewPhrase() {
  const phrase = useSignal("");
  return (
    <Step
      label={chooseWords.newPhrase}
      run={async () => {
        phrase.value = await generateMnemonic();
      }}
    >
      {phrase.value !== "" && (
        <p>
          {chooseWords.writeDown} <code class="phrase">{phrase}</code>
        </p>
      )}
    </Step>
  );
}
