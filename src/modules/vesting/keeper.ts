import type { Context } from "../../runtime/index.ts";
import { type IntCoin, sdkErrors } from "../../util/index.ts";
import { decodeAddress, vestingErrors as errors } from "../../wire/index.ts";
import { scheduleProblem, type Vesting, type VestingSchedule } from "../auth/index.ts";

/** Functions of the account keeper that the module needs. */
export interface VestingAccounts {
  has(ctx: Context, address: Uint8Array): boolean;
  addVesting(
    ctx: Context,
    account: { readonly address: Uint8Array; readonly sequence: bigint; readonly publicKey: undefined },
    vesting: Vesting,
  ): void;
}

/** Functions of the bank that the module needs. */
export interface VestingBank {
  checkSendEnabled(ctx: Context, coins: readonly IntCoin[]): void;
  isBlocked(address: Uint8Array): boolean;
  send(ctx: Context, from: Uint8Array, to: Uint8Array, coins: readonly IntCoin[]): void;
}

/** An account that will be created. */
export interface NewAccount {
  readonly fromAddress: string;
  readonly toAddress: string;
  readonly schedule: VestingSchedule;
}

/** Creates accounts with locked coins; the accounts module keeps the locks. */
export class VestingKeeper {
  readonly #accounts: VestingAccounts;
  readonly #bank: VestingBank;

  constructor(accounts: VestingAccounts, bank: VestingBank) {
    this.#accounts = accounts;
    this.#bank = bank;
  }

  /** Creates an account and gives it the coins of its schedule. Throws if it exists already, or belongs to a module. */
  create(ctx: Context, { fromAddress, toAddress, schedule }: NewAccount): void {
    const address = decodeAddress(toAddress);
    checkSchedule(schedule);
    this.#bank.checkSendEnabled(ctx, schedule.original);
    if (this.#bank.isBlocked(address)) throw sdkErrors.unauthorized(`${toAddress} is not allowed to receive funds`);
    if (this.#accounts.has(ctx, address)) throw sdkErrors.invalidRequest(`account ${toAddress} already exists`);
    const delegated = { free: [], vesting: [] };
    this.#accounts.addVesting(ctx, { address, sequence: 0n, publicKey: undefined }, { schedule, delegated });
    this.#bank.send(ctx, decodeAddress(fromAddress), address, schedule.original);
    ctx.events.emit("message", { module: "vesting" });
  }
}

/** Throws `vesting/2` for an invalid schedule. */
export function checkSchedule(schedule: VestingSchedule): void {
  const problem = scheduleProblem(schedule);
  if (problem !== undefined) throw errors.invalidSchedule(problem);
}
