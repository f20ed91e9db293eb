import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { waitFor } from "../support/index.ts";
import { referenceTool, temporaryFiles } from "./reference-tool.ts";
import { type SimdChain, startSimdChain } from "./simd-chain.ts";

/** `svc` as a client of a chain of the newer reference tool. */

const built = await referenceTool("simd53", "chains of it are not tested");
const file = temporaryFiles();

const MEMBERS = ["alice", "bob", "carol"];

describe.skipIf(built === undefined)("a chain of the reference tool", () => {
  let chain: SimdChain;
  const address = (name: string): string => chain.address(name);

  beforeAll(async () => {
    if (built === undefined) return;
    chain = await startSimdChain(built, { accounts: [...MEMBERS, "watcher"], unbondingSeconds: 2 });
    const multisig = ["keys", "add", "team", "--multisig", MEMBERS.join(","), "--multisig-threshold", "2"];
    await chain.ok(multisig);
    await chain.svcOk(multisig);
  });
  afterAll(() => chain?.stop());

  async function stake(holder: string): Promise<bigint> {
    const { balances } = await chain.rest(`bank/v1beta1/balances/${holder}`);
    const found = balances.find((coin: { denom: string }) => coin.denom === "stake");
    return BigInt(found?.amount ?? "0");
  }

  /** The amount that an account gets while `act` runs. */
  async function gain(holder: string, act: () => Promise<unknown>): Promise<bigint> {
    const before = await stake(holder);
    await act();
    return (await stake(holder)) - before;
  }

  test("both tools know the keys by the same addresses", async () => {
    const listed = async (json: string) =>
      JSON.parse(json)
        .map(({ name, type, address }: Record<string, string>) => `${name} ${type} ${address}`)
        .sort();
    const ours = await listed(await chain.svcOk(["keys", "list", "-o", "json"]));
    expect(ours).toEqual(await listed(await chain.ok(["keys", "list", "--output", "json"])));
    expect(ours).toHaveLength(6);
  });

  describe("broadcasting", () => {
    const send = (...flags: string[]) => ["tx", "bank", "send", "alice", address("watcher"), "7stake", "-y", ...flags];

    test("mode block waits for the block", async () => {
      const received = await gain(address("watcher"), async () => {
        const sent = JSON.parse(await chain.svcOk(send("-b", "block")));
        expect(sent).toMatchObject({ code: 0, gas_wanted: "200000" });
        const told = await chain.query("tx", sent.txhash);
        expect(told).toMatchObject({ code: 0, height: sent.height, gas_used: sent.gas_used });
      });
      expect(received).toBe(7n);
    });

    test.each(["sync", "async"])("mode %s does not", async (mode) => {
      const received = await gain(address("watcher"), async () => {
        const sent = await chain.svcOk(send("-b", mode));
        expect(JSON.parse(sent)).toMatchObject({ code: 0, height: "0" });
        await chain.committed(sent);
      });
      expect(received).toBe(7n);
    });

    test("gas is estimated, and paid for by its price", async () => {
      const flags = ["--gas", "auto", "--gas-adjustment", "1.3", "--gas-prices", "0.01stake", "-b", "block"];
      const { code, stdout, stderr } = await chain.svc(send(...flags));
      expect(code).toBe(0);
      const [, estimate = ""] = /^gas estimate: (\d+)$/m.exec(stderr) ?? [];
      const { gas_wanted: wanted, txhash } = JSON.parse(stdout);
      expect(wanted).toBe(estimate);
      const { tx } = await chain.svcQuery("tx", txhash);
      expect(tx.auth_info.fee.amount).toEqual([{ denom: "stake", amount: String((BigInt(wanted) + 99n) / 100n) }]);
    });

    test("signatures of mode amino-json are accepted", async () => {
      const sent = JSON.parse(
        await chain.svcOk(send("-b", "block", "--sign-mode", "amino-json", "--memo", 'a <&> "b" é')),
      );
      expect((await chain.query("tx", sent.txhash)).tx.body.memo).toBe('a <&> "b" é');
    });

    test("a refusal is reported with the chain's own code and words", async () => {
      const far = ["tx", "bank", "send", "alice", address("watcher"), "99999999999999stake", "-y", "-b", "block"];
      const { code, stdout, stderr } = await chain.svc(far);
      expect(code).toBe(1);
      expect(JSON.parse(stdout)).toMatchObject({ codespace: "sdk", code: 5 });
      expect(stderr).toContain("insufficient funds");
      const again = await chain.svc(send("-s", "99", "-a", "2"));
      expect(JSON.parse(again.stdout)).toMatchObject({ codespace: "sdk", code: 32 });
    });

    test.each([[[]], [["--split"]]])(
      "one transaction for several receivers, as the reference makes it: %j",
      async (flags) => {
        const words = [
          "tx",
          "bank",
          "multi-send",
          address("alice"),
          address("watcher"),
          address("bob"),
          "7stake",
          ...flags,
        ];
        const unsigned = async (text: Promise<string>) => JSON.parse(await text).body.messages;
        const ours = await unsigned(chain.svcOk([...words, "--generate-only"]));
        expect(ours).toEqual(await unsigned(chain.ok([...words, "--generate-only"])));
        const received = await gain(address("watcher"), () => chain.svcTx(...words.slice(1)));
        expect(received).toBe(flags.length === 0 ? 7n : 3n);
      },
    );

    test("a chain id that is not the node's is refused before anything is signed", async () => {
      const { code, stdout, stderr } = await chain.svc(send("--chain-id", "other-1"));
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr).toContain(`the node serves ${chain.chainId}`);
    });
  });

  describe("signing in steps", () => {
    /** Account number and sequence, which a machine without a network must be told. */
    async function numbers(name: string): Promise<string[]> {
      const { account_number: number, sequence } = await chain.svcQuery("account", address(name));
      return ["--offline", "-a", number, "-s", sequence, "--chain-id", chain.chainId];
    }

    test.each(["direct", "amino-json"])("generated, signed offline and broadcast, in mode %s", async (mode) => {
      const send = ["tx", "bank", "send", address("bob"), address("watcher"), "3stake", "--fees", "10stake"];
      const unsigned = file(await chain.svcOk([...send, "--generate-only"]));
      const sign = ["tx", "sign", unsigned, "--from", "bob", "--sign-mode", mode, ...(await numbers("bob"))];
      // Nothing is asked of a node.
      const signed = await chain.svcOk([...sign, "--node", "tcp://127.0.0.1:1"]);
      expect(await chain.svcOk(["tx", "validate-signatures", file(signed)])).toContain("[OK]");
      expect(await chain.ok(["tx", "validate-signatures", file(signed)])).toContain("[OK]");
      const encoded = await chain.svcOk(["tx", "encode", file(signed)]);
      expect(encoded).toBe(await chain.ok(["tx", "encode", file(signed)]));
      const received = await gain(address("watcher"), async () => {
        await chain.committed(await chain.svcOk(["tx", "broadcast", file(signed)]));
      });
      expect(received).toBe(3n);
      expect((await chain.svcOk(["tx", "decode", encoded.trim()])).trim()).toBe(signed.trim());
    });

    test("what one tool signs the other sends", async () => {
      const send = ["tx", "bank", "send", address("bob"), address("watcher"), "2stake", "--generate-only"];
      const received = await gain(address("watcher"), async () => {
        const theirs = file(await chain.ok(["tx", "sign", file(await chain.svcOk(send)), "--from", "bob"]));
        await chain.svcOk(["tx", "broadcast", theirs, "-b", "block"]);
        const ours = file(await chain.svcOk(["tx", "sign", file(await chain.ok(send)), "--from", "bob"]));
        await chain.committed(await chain.ok(["tx", "broadcast", ours]));
      });
      expect(received).toBe(4n);
    });

    test("a batch is signed line by line and every line is accepted", async () => {
      const send = ["tx", "bank", "send", address("carol"), address("watcher"), "1stake", "--generate-only"];
      const batch = file((await chain.svcOk(send)).repeat(2));
      const signed = await chain.svcOk([
        "tx",
        "sign-batch",
        batch,
        "--from",
        "carol",
        "--signature-only=false",
        ...(await numbers("carol")),
      ]);
      const received = await gain(address("watcher"), async () => {
        for (const line of signed.trim().split("\n")) {
          await chain.svcOk(["tx", "broadcast", file(line), "-b", "block"]);
        }
      });
      expect(received).toBe(2n);
    });

    test("a multisig of 2 of 3 has one signer on each tool, and either puts it together", async () => {
      const team = (await chain.svcOk(["keys", "show", "team", "-a"])).trim();
      expect((await chain.ok(["keys", "show", "team", "-a"])).trim()).toBe(team);
      await chain.svcTx("bank", "send", "carol", team, "1000000stake");
      const received = await gain(address("watcher"), async () => {
        for (const combines of ["we", "they"]) {
          const send = [
            "tx",
            "bank",
            "send",
            team,
            address("watcher"),
            "5stake",
            "--generate-only",
            "--fees",
            "10stake",
          ];
          const unsigned = file(await chain.svcOk(send));
          const shares = [
            file(await chain.svcOk(["tx", "sign", unsigned, "--multisig", team, "--from", "alice"])),
            file(await chain.ok(["tx", "sign", unsigned, "--multisig", team, "--from", "carol"])),
          ];
          const combine = ["tx", "multisign", unsigned, "team", ...shares];
          const signed = file(combines === "we" ? await chain.svcOk(combine) : await chain.ok(combine));
          await chain.svcOk(["tx", "broadcast", signed, "-b", "block"]);
        }
      });
      expect(received).toBe(10n);
    });

    test("the gas of a multisig is estimated, by its name and by its address alone", async () => {
      const team = (await chain.svcOk(["keys", "show", "team", "-a"])).trim();
      const to = [address("watcher"), "5stake"];
      const dryRun = await chain.svc(["tx", "bank", "send", "team", ...to, "--dry-run"]);
      const generated = await chain.svc(["tx", "bank", "send", team, ...to, "--generate-only", "--gas", "auto"]);
      const [told, limit] = [dryRun, generated].map(({ stderr }) => /^gas estimate: (\d+)$/m.exec(stderr)?.[1]);
      expect(told).toBe(limit);
      const unsigned = file(generated.stdout);
      const share = async (from: string) =>
        file(await chain.svcOk(["tx", "sign", unsigned, "--multisig", team, "--from", from]));
      const shares = [await share("alice"), await share("bob")];
      const signed = file(await chain.svcOk(["tx", "multisign", unsigned, "team", ...shares]));
      const sent = JSON.parse(await chain.svcOk(["tx", "broadcast", signed, "-b", "block"]));
      expect(sent).toMatchObject({ code: 0, gas_wanted: limit });
    });

    test("another account pays the fee: by an allowance, or by signing as well", async () => {
      await chain.tx("feegrant", "grant", "carol", address("bob"), "--spend-limit", "1000stake");
      const send = ["tx", "bank", "send", "bob", address("watcher"), "1stake", "--fees", "30stake"];
      const granted = await gain(address("carol"), () =>
        chain.svcOk([...send, "--fee-granter", address("carol"), "-y", "-b", "block"]),
      );
      expect(granted).toBe(-30n);
      const paid = await gain(address("carol"), async () => {
        const words = [...send.slice(0, 3), address("bob"), ...send.slice(4), "--fee-payer", address("carol")];
        const unsigned = file(await chain.svcOk([...words, "--generate-only"]));
        const sign = (path: string, from: string) =>
          chain.svcOk(["tx", "sign", path, "--from", from, "--sign-mode", "amino-json"]);
        const signed = await sign(file(await sign(unsigned, "bob")), "carol");
        await chain.svcOk(["tx", "broadcast", file(signed), "-b", "block"]);
      });
      expect(paid).toBe(-30n);
    });
  });

  test("what is unbonded is free when its time is over", async () => {
    const words = [chain.validator, "5000000stake", "--from", "bob", "--gas", "400000"];
    await chain.svcTx("staking", "delegate", ...words);
    const before = await stake(address("bob"));
    await chain.svcTx("staking", "unbond", ...words);
    const unbonding = async () => {
      const { unbonding_responses: found } = await chain.svcQuery("staking", "unbonding-delegations", address("bob"));
      return found.length;
    };
    await waitFor(async () => (await unbonding()) === 0, "the end of the unbonding");
    // Its earnings meanwhile are withdrawn as well.
    expect(await stake(address("bob"))).toBeGreaterThanOrEqual(before + 5_000_000n);
  });

  describe("queries", () => {
    test("pages of balances are those of the reference", async () => {
      const list = ["bank", "balances", address("watcher")];
      const first = await chain.svcQuery(...list, "--limit", "1");
      const theirs = await chain.query(...list, "--page-limit", "1");
      expect(first.balances).toEqual(theirs.balances);
      expect(first.pagination).toEqual({ next_key: theirs.pagination.next_key, total: "0" });
      const second = (await chain.query(...list, "--page-key", theirs.pagination.next_key)).balances;
      for (const flags of [
        ["--page-key", first.pagination.next_key],
        ["--offset", "1"],
        ["--limit", "1", "--page", "2"],
      ]) {
        expect((await chain.svcQuery(...list, ...flags)).balances).toEqual(second);
      }
      const counted = await chain.svcQuery(...list, "--limit", "1", "--count-total");
      const told = await chain.query(...list, "--page-limit", "1", "--page-count-total");
      expect(counted.pagination).toEqual({ next_key: told.pagination.next_key, total: told.pagination.total });
      expect((await chain.svcQuery(...list, "--reverse")).balances).toEqual([...second, ...first.balances]);
    });

    test("pages of accounts go through all of them once", async () => {
      const seen: string[] = [];
      let key: string | null = null;
      do {
        const page: Accounts = await chain.svcQuery(
          ...["auth", "accounts", "--limit", "4", ...(key === null ? [] : ["--page-key", key])],
        );
        seen.push(...page.accounts.map((account) => account.address ?? account.base_account?.address ?? ""));
        key = page.pagination.next_key;
      } while (key !== null);
      const all = await chain.rest("auth/v1beta1/accounts?pagination.limit=100");
      expect(seen).toEqual(
        all.accounts.map((account: Accounts["accounts"][number]) => account.address ?? account.base_account?.address),
      );
      expect(new Set(seen).size).toBe(seen.length);
    });

    test("--height reads the past, as the reference does", async () => {
      const height = String(await chain.height());
      const ask = ["bank", "balances", address("watcher")];
      const before = (await chain.query(...ask)).balances;
      await chain.svcTx("bank", "send", "alice", address("watcher"), "11stake");
      const past = (await chain.svcQuery(...ask, "--height", height)).balances;
      expect(past).toEqual(before);
      expect(past).toEqual((await chain.query(...ask, "--height", height)).balances);
      expect((await chain.svcQuery(...ask)).balances).not.toEqual(before);
      const future = await chain.svc(["query", ...ask, "--height", "9999999"]);
      expect({ code: future.code, out: future.stdout }).toEqual({ code: 1, out: "" });
      expect(future.stderr).toContain("cannot query with height in the future");
    });

    test("answers are those of the node's REST interface", async () => {
      const height = await chain.height();
      const rows: readonly (readonly [words: string, path: string, part?: string])[] = [
        [`account ${address("alice")}`, `auth/v1beta1/accounts/${address("alice")}`, "account"],
        ["bank total", "bank/v1beta1/supply?pagination.limit=100"],
        ["bank supply-of stake", "bank/v1beta1/supply/by_denom?denom=stake", "amount"],
        ["bank params", "bank/v1beta1/params", "params"],
        ["bank denom-owners uvec", "bank/v1beta1/denom_owners/uvec?pagination.limit=100"],
        ["bank send-enabled", "bank/v1beta1/send_enabled?pagination.limit=100"],
        ["bank send-enabled stake uvec", "bank/v1beta1/send_enabled?denoms=stake&denoms=uvec"],
        ["consensus params", "consensus/v1/params", "params"],
        [
          `distribution rewards-by-validator ${address("validator")} ${chain.validator}`,
          `distribution/v1beta1/delegators/${address("validator")}/rewards/${chain.validator}`,
          "rewards",
        ],
        [
          `bank spendable-balances ${address("alice")}`,
          `bank/v1beta1/spendable_balances/${address("alice")}?pagination.limit=100`,
        ],
      ];
      for (const [words, path, part] of rows) {
        const ours = await chain.svcQuery(...words.split(" "), "--height", String(height));
        const theirs = await chain.rest(path, height);
        expect({ words, answer: ours }).toEqual({ words, answer: part === undefined ? theirs : theirs[part] });
      }
    });

    test("a transaction is found by its hash, by its events and in its block", async () => {
      const sent = await chain.svcTx("bank", "send", "alice", address("watcher"), "1stake", "--memo", "find me");
      const told = await chain.svcQuery("tx", sent.txhash);
      expect(told).toMatchObject({ code: 0, height: sent.height, tx: { body: { memo: "find me" } } });
      const search = ["txs", "--query", `tx.height=${sent.height} AND message.action='/cosmos.bank.v1beta1.MsgSend'`];
      const found = await chain.svcQuery(...search);
      expect(found.txs.map(({ txhash }: { txhash: string }) => txhash)).toContain(sent.txhash);
      const { tx_response: theirs } = await chain.rest(`tx/v1beta1/txs/${sent.txhash}`);
      // The reference also prints fields that it got later; empty they mean nothing.
      expect(theirs.tx).toMatchObject(told.tx);
      expect(told.events).toEqual(theirs.events);
      const { block } = await chain.svcQuery("block", sent.height);
      const { header } = await chain.query("block", "--type", "height", sent.height);
      // Ours is the engine's JSON, as in the documented era; the newer tool prints hashes in base64.
      const app_hash = Buffer.from(header.app_hash, "base64").toString("hex").toUpperCase();
      expect(block.header).toMatchObject({ chain_id: chain.chainId, height: sent.height, app_hash });
    });

    test("the chain's state is shown in the reference's words", async () => {
      const { node_info: node, sync_info: sync } = JSON.parse(await chain.svcOk(["status"]));
      expect(node.network).toBe(chain.chainId);
      expect(Number(sync.latest_block_height)).toBeGreaterThan(1);
    });
  });
});

interface Accounts {
  readonly accounts: readonly { readonly address?: string; readonly base_account?: { readonly address: string } }[];
  readonly pagination: { readonly next_key: string | null };
}
