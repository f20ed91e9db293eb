/** Words of a query, the path of REST with the same content, and the part of its answer that the command prints. */
export type QueryRow = readonly [words: string, path: string, part?: string];

export interface QuerySubject {
  readonly delegator: string;
  /** Operator address of a validator that the account has delegated to. */
  readonly validator: string;
  readonly height: number;
}

/** The queries of staking and distribution; the reference prints redelegations in a form of their own. */
export function stakingQueries({ delegator, validator, height }: QuerySubject): readonly QueryRow[] {
  const pages = "pagination.limit=100";
  return [
    ["staking validators", `staking/v1beta1/validators?${pages}`],
    ["staking validators --status bonded", `staking/v1beta1/validators?status=BOND_STATUS_BONDED&${pages}`],
    ["staking validators --status unbonded", `staking/v1beta1/validators?status=BOND_STATUS_UNBONDED&${pages}`],
    [`staking validator ${validator}`, `staking/v1beta1/validators/${validator}`, "validator"],
    [
      `staking delegation ${delegator} ${validator}`,
      `staking/v1beta1/validators/${validator}/delegations/${delegator}`,
      "delegation_response",
    ],
    [`staking delegations ${delegator}`, `staking/v1beta1/delegations/${delegator}?${pages}`],
    [`staking delegations-to ${validator}`, `staking/v1beta1/validators/${validator}/delegations?${pages}`],
    [
      `staking unbonding-delegation ${delegator} ${validator}`,
      `staking/v1beta1/validators/${validator}/delegations/${delegator}/unbonding_delegation`,
      "unbond",
    ],
    [
      `staking unbonding-delegations ${delegator}`,
      `staking/v1beta1/delegators/${delegator}/unbonding_delegations?${pages}`,
    ],
    [
      `staking unbonding-delegations-from ${validator}`,
      `staking/v1beta1/validators/${validator}/unbonding_delegations?${pages}`,
    ],
    [`staking delegator-validators ${delegator}`, `staking/v1beta1/delegators/${delegator}/validators?${pages}`],
    [
      `staking delegator-validator ${delegator} ${validator}`,
      `staking/v1beta1/delegators/${delegator}/validators/${validator}`,
      "validator",
    ],
    [`staking historical-info ${height}`, `staking/v1beta1/historical_info/${height}`, "hist"],
    ["staking pool", "staking/v1beta1/pool", "pool"],
    ["staking params", "staking/v1beta1/params", "params"],
    [
      `distribution rewards ${delegator} ${validator}`,
      `distribution/v1beta1/delegators/${delegator}/rewards/${validator}`,
      "rewards",
    ],
    [`distribution rewards ${delegator}`, `distribution/v1beta1/delegators/${delegator}/rewards`],
    ["distribution params", "distribution/v1beta1/params", "params"],
    [`distribution validator-distribution-info ${validator}`, `distribution/v1beta1/validators/${validator}`],
    [
      `distribution validator-outstanding-rewards ${validator}`,
      `distribution/v1beta1/validators/${validator}/outstanding_rewards`,
      "rewards",
    ],
    [`distribution commission ${validator}`, `distribution/v1beta1/validators/${validator}/commission`, "commission"],
    [
      `distribution slashes ${validator} 1 ${height}`,
      `distribution/v1beta1/validators/${validator}/slashes?starting_height=1&ending_height=${height}&${pages}`,
    ],
    [`distribution delegator-validators ${delegator}`, `distribution/v1beta1/delegators/${delegator}/validators`],
    [
      `distribution delegator-withdraw-address ${delegator}`,
      `distribution/v1beta1/delegators/${delegator}/withdraw_address`,
    ],
    ["distribution community-pool", "distribution/v1beta1/community_pool"],
  ];
}
