// Written by npm run gen.

/** The help of a module's commands; nothing if it has none. */
export interface ModuleRow {
  readonly module: string;
  readonly Msg?: string;
  readonly Query?: string;
}

/** Modules with commands, from the options of their services: to list them no descriptor is built. */
export const MODULES: readonly ModuleRow[] = [
  { module: "audit", Msg: "Sign attributes of providers", Query: "Audited attributes of providers" },
  { module: "auth", Query: "Accounts" },
  {
    module: "authz",
    Query: "Grants from one account to another",
    Msg: "Grant other accounts the right to act for yours",
  },
  { module: "bank", Query: "Balances and supply", Msg: "Send coins" },
  { module: "cert", Msg: "Create, publish and revoke certificates", Query: "Certificates" },
  { module: "consensus", Query: "Consensus parameters" },
  { module: "deployment", Query: "Deployments and their groups", Msg: "Create, fund, change and close deployments" },
  { module: "distribution", Query: "Rewards and the community pool", Msg: "Withdraw rewards of delegations" },
  { module: "escrow", Query: "Deposits and payments" },
  { module: "feegrant", Query: "Fee allowances", Msg: "Grant other accounts fee allowances from yours" },
  { module: "gov", Query: "Proposals, deposits and votes", Msg: "Submit proposals, deposit on them and vote" },
  { module: "market", Query: "Orders, bids and leases", Msg: "Bid on orders, accept bids, close leases" },
  { module: "mint", Query: "Minting and inflation" },
  { module: "params", Query: "Parameters by subspace and key, for releases before 0.47" },
  { module: "provider", Msg: "Register and change your provider", Query: "Providers" },
  { module: "slashing", Query: "Slashing and jailing of validators", Msg: "Unjail your validator" },
  {
    module: "staking",
    Query: "Validators and delegations",
    Msg: "Delegate, redelegate and unbond tokens; create and edit validators",
  },
  { module: "upgrade", Query: "Upgrades of the chain" },
  { module: "vesting", Msg: "Create vesting accounts" },
];
