import { defineErrors } from "../util/index.ts";

/** Errors of a node's home and start. */
export const nodeErrors = defineErrors("node", {
  badKey: [1, "the key file cannot be used"],
  openKey: [2, "other users can read the key file"],
  noGenesis: [3, "there is no genesis file", "run svc init <moniker> first"],
  accountExists: [4, "the genesis file already has the account"],
  started: [5, "the chain has started", "send tokens with svc tx bank send"],
  invalidGenesis: [6, "invalid genesis file"],
  genesisExists: [
    7,
    "the home is already initialised",
    "use another --home, or --overwrite to write a new genesis file",
  ],
  badChainId: [8, "invalid chain id", "write 3 to 50 letters, digits, dots, dashes or underscores, such as svc-1"],
  badMoniker: [9, "invalid moniker", "write a name of 1 to 70 characters"],
  noSignState: [
    10,
    "the record of the validator's last vote is missing",
    "restore it from the backup the data came from; without it the validator could sign twice",
  ],
  noState: [11, "there is no state to export", "start the node first, and let it make a block"],
  genesisInUse: [
    12,
    "its genesis file cannot be replaced",
    "use another --home; or move data/ away to start a new chain with the same keys",
  ],
  cannotRollBack: [13, "the last block cannot be rolled back", "start the node; or restore a backup of the whole home"],
  badGenesisTx: [14, "it is not a genesis transaction", "make it again with svc gentx"],
  noGenesisTxs: [15, "there are no genesis transactions"],
  noSnapshot: [17, "no snapshot can be taken of this height"],
  cannotRestore: [
    18,
    "the validator would vote twice",
    "dump the snapshot again where the validator last ran, so that the archive holds its last block",
  ],
  heightNotKept: [19, "the state of this height is not kept"],
  ownJailed: [
    20,
    "the validator of this home would be jailed, and the new chain would have no blocks",
    "add its operator to --jail-allowed-addrs: svc query staking validators shows it",
  ],
  twoGenesisTxs: [21, "a validator has one genesis transaction", "remove one of the files from the folder"],
  embeddedOnly: [22, "this is for the embedded engine alone", "use a home whose blocks the embedded engine makes"],
  ownProgram: [
    23,
    "--proxy_app and --cometbft-rpc are for a CometBFT that you run yourself",
    "add --with-cometbft=false, or leave them out",
  ],
  noTrust: [
    24,
    "a block that you trust is missing",
    "add --state-sync.trust-height and --state-sync.trust-hash: svc query block on a node that you trust shows both",
  ],
  notHere: [25, "state sync fetches snapshots with CometBFT", "add --engine cometbft"],
  unsigned: [
    26,
    "these validators vote in this state, and this node does not sign for them",
    "name the validators that stay, with --for-zero-height --jail-allowed-addrs; all others are jailed",
  ],
  cannotFollow: [
    27,
    "--follow executes the blocks of a chain of one validator",
    "leave out --engine cometbft, which fetches blocks from its peers, or leave out --follow",
  ],
  badVesting: [16, "the locked coins of the account are invalid", "correct the amounts and times"],
});
