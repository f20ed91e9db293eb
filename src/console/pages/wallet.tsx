import { useSignal } from "@preact/signals";
import { MsgSendSchema } from "../../wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { Query as DistributionQuery } from "../../wire/gen/sdk/distribution/v1beta1/query_pb.js";
import { MsgWithdrawDelegatorRewardSchema } from "../../wire/gen/sdk/distribution/v1beta1/tx_pb.js";
import { isAddress, packAny } from "../../wire/index.ts";
import { Choose, Step } from "../account/choose.tsx";
import { AccountView, ViewLinks } from "../account/views.tsx";
import { useAsk } from "../live/ask.ts";
import { chain } from "../live/chain.ts";
import type { PageProps } from "../live/route.ts";
import { disconnect, ended, wallet, walletState } from "../live/wallet.ts";
import { Act, amountWord, Field, mustCoin, textOf } from "../parts/act.tsx";
import { Facts, Known, Section } from "../parts/blocks.tsx";
import { Fault } from "../parts/fault.tsx";
import { Address, Heading, Strange } from "../parts/text.tsx";
import { account as accountWords, choose as chooseWords } from "../text/account.ts";
import { t } from "../text/index.ts";
import type { LocalWallet } from "../wallet/local.ts";
import type { Wallet } from "../wallet/wallet.ts";

export function WalletPage({ words: [view = ""] }: PageProps) {
  const account = wallet.value;
  return (
    <>
      <Heading title={t.wallet.title}>{account !== undefined && <ViewLinks view={view} />}</Heading>
      {ended.value !== undefined && <Fault error={ended.value} />}
      {account === undefined && <Choose />}
      {account !== undefined && view === "" && <Connected key={account.address} />}
      {account !== undefined && view !== "" && (
        <AccountView key={account.address} view={view} address={account.address} />
      )}
    </>
  );
}

function isLocal(account: Wallet): account is LocalWallet {
  return account.kind === "local";
}

function Connected() {
  const account = wallet.value;
  if (account === undefined) return null;
  const { address } = account;
  return (
    <>
      <Facts
        rows={[
          [t.wallet.kind, t.wallet.kinds[account.kind]],
          [
            chooseWords.name,
            account.name === "" ? undefined : <Strange key="name" text={account.name} isName max={100} />,
          ],
          [accountWords.address, <Address key="address" text={address} />],
        ]}
      />
      {isLocal(account) && <LocalKey account={account} />}
      {account.lacks.text === "onlyTransactions" && <p class="notice">{t.wallet.lacks.onlyTransactions}</p>}
      <p>
        <button
          type="button"
          onClick={() => {
            if (isLocal(account)) account.lock();
            disconnect();
          }}
        >
          {t.wallet.disconnect}
        </button>
      </p>
      <Section title={t.wallet.send}>
        <SendForm />
      </Section>
      <Section title={t.wallet.claim}>
        <Claim address={address} />
      </Section>
      <Holdings address={address} />
    </>
  );
}

/** Parts of the account's page, which is loaded once an account is connected. */
function Holdings({ address }: { address: string }) {
  const page = useAsk(() => import("./account.tsx"), { key: "account" });
  return (
    <Known answer={page}>
      {({ Balances, Stake, Txs }) => (
        <>
          <Section title={accountWords.balances}>
            <Balances address={address} />
          </Section>
          <Stake address={address} />
          <Section title={accountWords.txs}>
            <Txs address={address} />
          </Section>
        </>
      )}
    </Known>
  );
}

/** State of the key, and the ways by which it leaves this browser. */
function LocalKey({ account }: { account: LocalWallet }) {
  const armor = useSignal("");
  const isLocked = walletState.value >= 0 && account.isLocked;
  return (
    <>
      {isLocked && (
        <Step label={chooseWords.unlock} run={(fields) => account.unlock(textOf(fields, "passphrase"))}>
          <p class="notice">{chooseWords.locked}</p>
          <Field name="passphrase" label={chooseWords.passphrase} isSecret />
        </Step>
      )}
      <details>
        <summary>{t.wallet.export}</summary>
        <Step
          label={t.wallet.export}
          run={async (fields) => {
            armor.value = await account.exportArmor(textOf(fields, "passphrase"), textOf(fields, "armor"));
          }}
        >
          <Field name="passphrase" label={chooseWords.passphrase} isSecret />
          <Field name="armor" label={chooseWords.armorPassphrase} isSecret />
        </Step>
        {armor.value !== "" && <pre class="armor">{armor}</pre>}
        <Step
          label={t.wallet.remove}
          run={async () => {
            await (await import("../wallet/stored/keys.ts")).removeKey(account.address);
            account.lock();
            disconnect();
          }}
        >
          <p class="notice">{t.wallet.removeWarning}</p>
        </Step>
      </details>
    </>
  );
}

function SendForm() {
  return (
    <Act
      label={t.wallet.send}
      command={(fields) => [
        "bank",
        "send",
        wallet.peek()?.address ?? "",
        textOf(fields, "to") || "ADDRESS",
        amountWord(fields),
      ]}
      messages={(fromAddress, fields) => {
        const toAddress = textOf(fields, "to");
        if (!isAddress(toAddress)) throw new Error(t.wallet.badAddress);
        return [packAny(MsgSendSchema, { fromAddress, toAddress, amount: [mustCoin(fields)] })];
      }}
    >
      <Field name="to" label={t.wallet.to} />
      <Field name="amount" label={t.wallet.amount} />
      <Field name="memo" label={t.tx.memo} isOptional />
    </Act>
  );
}

/** Claims the rewards of all delegations. */
function Claim({ address: delegatorAddress }: { address: string }) {
  return (
    <Act
      label={t.wallet.claim}
      command={() => ["distribution", "withdraw-all-rewards"]}
      messages={async () => {
        const { rewards } = await chain.query.call(DistributionQuery.method.delegationTotalRewards, {
          delegatorAddress,
        });
        if (rewards.length === 0) throw new Error(t.wallet.noRewards);
        return rewards.map(({ validatorAddress }) =>
          packAny(MsgWithdrawDelegatorRewardSchema, { delegatorAddress, validatorAddress }),
        );
      }}
    />
  );
}
