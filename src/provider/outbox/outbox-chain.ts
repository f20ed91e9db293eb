import {
  accountInfo,
  bodyFor,
  broadcastTx,
  type ChainClient,
  feeFor,
  type PreparedTx,
  signTx,
  simulateGas,
  type TxSigner,
} from "../../client/index.ts";
import { type Dec, decCeil, type IntCoin, SvcError } from "../../util/index.ts";
import { type Any, makeAny, SignMode, txHash } from "../../wire/index.ts";
import { type OutboxChain, type OutMessage, Rejected, type SignRequest } from "./outbox.ts";

export interface OutboxChainOptions {
  readonly client: ChainClient;
  readonly signer: TxSigner;
  /** Fee of an ordinary transaction (`--fees`). */
  readonly fee: IntCoin;
  /** Price of gas in the fee's denomination, for batches that need more than the ordinary fee pays. */
  readonly gasPrice: Dec;
}

/** The outbox's calls over a node and a key of the keyring. */
export function outboxChain({ client, signer, fee, gasPrice }: OutboxChainOptions): OutboxChain {
  const feeOf = (gas: bigint): IntCoin => {
    const priced = decCeil(gasPrice * gas);
    return { denom: fee.denom, amount: priced > fee.amount ? priced : fee.amount };
  };
  const prepare = async (request: SignRequest): Promise<PreparedTx> => ({
    bodyBytes: bodyFor(request.messages.map(toAny), { timeoutHeight: request.timeoutHeight }, client.namespace),
    fee: feeFor(request.gas, { fees: [feeOf(request.gas)] }),
    signMode: SignMode.DIRECT,
    signer: { chainId: await client.chainId(), accountNumber: request.accountNumber, sequence: request.sequence },
    namespace: client.namespace,
  });
  return {
    height: async () => (await client.node.status()).latestHeight,
    async account() {
      const { accountNumber, sequence } = await accountInfo(client.query, signer.address);
      return { number: accountNumber, sequence };
    },
    async simulate(messages, sequence) {
      const request = { messages, accountNumber: 0n, sequence, gas: 0n, timeoutHeight: 0n };
      try {
        return await simulateGas(client, await prepare(request), signer.publicKey);
      } catch (error) {
        throw refusalOf(error);
      }
    },
    async sign(request) {
      const bytes = await signTx(await prepare(request), signer);
      return { bytes, hash: txHash(bytes) };
    },
    async broadcast(bytes) {
      const { code, codespace, rawLog: log } = await broadcastTx(client, bytes, "sync");
      return { code, codespace, log };
    },
  };
}

/** An answer of the chain is a refusal; any other error means that the chain could not be asked. */
function refusalOf(error: unknown): unknown {
  if (!(error instanceof SvcError) || error.codespace === "client") return error;
  return new Rejected({ code: error.code, codespace: error.codespace, log: error.message });
}

function toAny({ typeUrl, value }: OutMessage): Any {
  return makeAny(typeUrl, value);
}
