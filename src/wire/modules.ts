// Written by npm run gen.

/** What the help says of a module's commands; nothing where it has none. */
export interface ModuleRow {
  readonly module: string;
  readonly Msg?: string;
  readonly Query?: string;
}

/** Modules with commands, from the options of their services: to list them no descriptor has to be built. */
export const MODULES: readonly ModuleRow[] = [
  { module: "audit", Msg: "Sign attributes of providers", Query: "Audited attributes of providers" },
  { module: "auth", Query: "Accounts" },
  { module: "authz", Query: "What accounts let others do", Msg: "Let other accounts act for yours" },
  { module: "bank", Query: "Balances and supply", Msg: "Send coins" },
  { module: "cert", Msg: "Make, publish and revoke certificates", Query: "Certificates" },
  { module: "consensus", Query: "Limits of blocks" },
  { module: "deployment", Query: "Deployments and their groups", Msg: "Create, fund, change and close deployments" },
  { module: "distribution", Query: "Rewards of delegations", Msg: "Withdraw rewards of delegations" },
  { module: "escrow", Query: "Deposits and payments" },
  { module: "feegrant", Query: "Allowances for fees", Msg: "Let other accounts pay fees from yours" },
  { module: "gov", Query: "Proposals, deposits and votes", Msg: "Submit proposals, fund them, vote" },
  { module: "market", Query: "Orders, bids and leases", Msg: "Bid on orders, take bids, end leases" },
  { module: "mint", Query: "New coins" },
  { module: "params", Query: "Parameters by subspace and key, of releases before 0.47" },
  { module: "provider", Msg: "Register and change your provider", Query: "Providers" },
  { module: "slashing", Query: "Penalties of validators", Msg: "Bring a validator back" },
  { module: "staking", Query: "Validators and delegations", Msg: "Delegate to validators, or become one" },
  { module: "upgrade", Query: "Upgrades of the chain" },
  { module: "vesting", Msg: "Give coins that come free with time" },
];
