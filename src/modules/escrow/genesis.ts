import { create } from "@bufbuild/protobuf";
import { defineGenesis, type GenesisPart } from "../../runtime/index.ts";
import { GenesisStateSchema, type Params, ParamsSchema } from "../../wire/gen/svc/escrow/v1beta1/escrow_pb.js";
import { errors } from "./errors.ts";
import { type EscrowKeeper, STORE } from "./keeper.ts";
import { accountKey, paymentKey } from "./keys.ts";
import { accountMessage, accountOf, paymentMessage, paymentOf } from "./records.ts";

/** About one day at six seconds a block. */
const LOW_BALANCE_BLOCKS = 14_400n;
const MAX_ENDBLOCK_RECORDS = 200;

export function defaultParams(): Params {
  return create(ParamsSchema, { maxEndblockRecords: MAX_ENDBLOCK_RECORDS, lowBalanceBlocks: LOW_BALANCE_BLOCKS });
}

export function escrowGenesis(keeper: EscrowKeeper): GenesisPart {
  return defineGenesis({
    schema: GenesisStateSchema,
    defaults: () => create(GenesisStateSchema, { params: defaultParams() }),
    init(ctx, state) {
      const store = ctx.store(STORE);
      keeper.params.set(store, checked(state.params ?? defaultParams()));
      for (const account of state.accounts.map(accountOf)) {
        const key = accountKey(account.id);
        if (keeper.accounts.has(store, key)) throw errors.accountExists(key);
        keeper.restore(ctx, account);
      }
      for (const payment of state.payments.map(paymentOf)) {
        const key = paymentKey(payment.account, payment.id);
        if (keeper.payments.has(store, key)) throw errors.paymentExists(key);
        if (!keeper.account(ctx, payment.account).open && payment.open) throw errors.invalidPayment(key);
        keeper.restorePayment(ctx, payment);
      }
    },
    export(ctx) {
      const store = ctx.store(STORE);
      return create(GenesisStateSchema, {
        accounts: [...keeper.accounts.values(store)].map(accountMessage),
        payments: [...keeper.payments.values(store)].map((each) => paymentMessage(each)),
        params: keeper.getParams(ctx),
      });
    },
  });
}

function checked(params: Params): Params {
  if (params.maxEndblockRecords < 1) throw errors.invalidAccount("max_endblock_records must be at least 1");
  if (params.lowBalanceBlocks < 0n) throw errors.invalidAccount("low_balance_blocks must not be negative");
  return params;
}
