/** Routes by module, behind `/cosmos/`; `{a}` is an account, `{v}` the validator, `{h}` a height. */
const ROUTES: Readonly<Record<string, readonly string[]>> = {
  auth: ["v1beta1/accounts/{a}", "v1beta1/accounts", "v1beta1/params"],
  bank: [
    "v1beta1/balances/{a}?pagination.limit=1000",
    "v1beta1/spendable_balances/{a}",
    "v1beta1/params",
    "v1beta1/supply",
    "v1beta1/supply/by_denom?denom=utoken",
    "v1beta1/denoms_metadata",
  ],
  staking: [
    "v1beta1/delegations/{a}",
    "v1beta1/delegators/{a}/unbonding_delegations",
    "v1beta1/delegators/{a}/validators",
    "v1beta1/delegators/{a}/redelegations",
    "v1beta1/validators",
    "v1beta1/validators/{v}",
    "v1beta1/validators/{v}/delegations",
    "v1beta1/validators/{v}/delegations/{a}",
    "v1beta1/pool",
    "v1beta1/params",
  ],
  distribution: [
    "v1beta1/delegators/{a}/rewards",
    "v1beta1/params",
    "v1beta1/community_pool",
    "v1beta1/validators/{v}/commission",
    "v1beta1/validators/{v}/outstanding_rewards",
    "v1beta1/validators/{v}/slashes",
  ],
  slashing: ["v1beta1/params", "v1beta1/signing_infos"],
  mint: ["v1beta1/params", "v1beta1/inflation", "v1beta1/annual_provisions"],
  "base/tendermint": [
    "v1beta1/node_info",
    "v1beta1/syncing",
    "v1beta1/blocks/latest",
    "v1beta1/blocks/{h}",
    "v1beta1/validatorsets/latest",
    "v1beta1/validatorsets/{h}",
  ],
  authz: ["v1beta1/grants/granter/{a}", "v1beta1/grants/grantee/{a}"],
  feegrant: ["v1beta1/allowances/{a}"],
  gov: [
    ...["v1beta1/params/voting", "v1beta1/params/tallying", "v1beta1/params/deposit", "v1beta1/proposals"],
    ...["v1/params/voting", "v1/proposals"],
  ],
  tx: ["v1beta1/txs?query=tx.height>0&limit=1", "v1beta1/txs/block/{h}"],
};

/** Paths behind `/cosmos/` that wallets and explorers ask for. */
export const REST_PATHS = Object.entries(ROUTES).flatMap(([module, routes]) =>
  routes.map((route) => `${module}/${route}`),
);
