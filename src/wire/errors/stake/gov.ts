import { defineErrors } from "../../../util/index.ts";

const LIST = "list them: svc query gov proposals";

/** Errors of codespace `gov`. Numbers never change; up to 23 they equal release 0.53 of the ecosystem. */
export const govErrors = defineErrors(
  "gov",
  {
    unknownProposal: [2, "proposal not found", LIST],
    inactiveProposal: [
      3,
      "inactive proposal",
      "see which can be voted on: svc query gov proposals --status voting-period",
    ],
    invalidContent: [5, "invalid proposal content"],
    invalidType: [6, "invalid proposal type"],
    invalidVote: [7, "invalid vote option"],
    genesis: [8, "invalid genesis state"],
    noHandler: [9, "no handler exists for proposal type"],
    unroutable: [10, "proposal message not recognized by router"],
    noMessages: [11, "no messages proposed"],
    invalidMessage: [12, "invalid proposal message"],
    invalidSigner: [
      13,
      "expected gov account as only signer for proposal message",
      "its address: svc query auth module-account gov",
    ],
    metadataTooLong: [15, "metadata too long"],
    depositTooSmall: [16, "minimum deposit is too small", "see the minimum: svc query gov params"],
    invalidProposer: [18, "invalid proposer"],
    votingEnded: [20, "voting period already ended"],
    invalidProposal: [21, "invalid proposal"],
    summaryTooLong: [22, "summary too long"],
    depositDenom: [23, "invalid deposit denom", "see the accepted denominations: svc query gov params"],
    invalidParams: [40, "invalid parameters of governance"],
    touchesDeposits: [41, "the messages of a proposal may not move deposits"],
    voteNotFound: [42, "vote not found"],
    depositNotFound: [43, "deposit not found"],
  },
  ["unknownProposal", "voteNotFound", "depositNotFound"],
);
