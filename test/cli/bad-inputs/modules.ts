import type { Row, TestHome } from "./home.ts";

/** Modules that other chains of the ecosystem have: proposals, votes, grants, allowances. */
export function moduleRows(testHome: TestHome): readonly Row[] {
  return [
    ...proposalRows(testHome),
    ...voteRows(),
    ...authzRows(testHome),
    ...feegrantRows(testHome),
    ...queryRows(testHome),
  ];
}

const FROM = ["--from", "a"];

function proposalRows({ none, root, file }: TestHome): readonly Row[] {
  const submit = (...words: readonly string[]): string[] => ["tx", "gov", "submit-proposal", ...words, ...FROM];
  const legacy = (...words: readonly string[]): string[] => ["tx", "gov", "submit-legacy-proposal", ...words, ...FROM];
  const proposal = (name: string, text: string, expected: string): Row => [
    submit(file(`proposal-${name}.json`, text)),
    1,
    expected,
  ];
  const good = { title: "t", summary: "s" };
  const withMessage = (message: object): string => JSON.stringify({ ...good, messages: [message] });
  return [
    [submit(), 2, "missing required argument 'file'"],
    [submit(none), 1, "cannot read the proposal file"],
    [submit(root), 1, "cannot read the proposal file"],
    [submit(none, "--title", "x"), 2, "--title repeats what is in the file"],
    proposal("empty", "", "a value was expected"),
    proposal("list", "[]", "proposal file"),
    proposal("untitled", '{"summary":"s"}', "title"),
    proposal("blank", '{"title":" ","summary":"s"}', "title"),
    proposal("mute", '{"title":"t"}', "summary"),
    proposal("nothing", JSON.stringify(good), "it needs messages or metadata"),
    proposal("stray", JSON.stringify({ ...good, extra: 1 }), "extra"),
    proposal("deposit", JSON.stringify({ ...good, metadata: "m", deposit: "many" }), 'invalid coin "many"'),
    proposal("untyped", withMessage({ from_address: "x" }), 'the field "@type" is missing'),
    proposal("unknown", withMessage({ "@type": "/no.Such" }), "unable to resolve type URL /no.Such"),
    proposal("wrong", withMessage({ "@type": "/sdk.bank.v1beta1.MsgSend", to: "x" }), 'unknown field "to"'),
    proposal("twice", '{"title":"a","title":"b","summary":"s"}', 'the key "title" appears twice'),
    [submit("--title", "t"), 2, "required flag --description is not set"],
    [submit("--title", "t", "--description", "d", "--deposit", "x"), 2, "--deposit: invalid coin"],
    [submit("--title", "t", "--description", "d", "--deposit", "0stake"), 2, "not an amount above zero"],
    [submit("--title", "t", "--description", "d", "--type", "SoftwareUpgrade"), 2, 'type "SoftwareUpgrade"'],
    [legacy(), 2, "required flag --title is not set"],
    [legacy("--proposal", none), 1, "cannot read the proposal file"],
    [legacy("--proposal", none, "--title", "t"), 2, "--title and --proposal cannot be used together"],
    [legacy("--proposal", file("older.json", '{"title":"t"}')), 1, "description"],
    [legacy("--proposal", file("typed.json", '{"title":"t","description":"d","type":"X"}')), 2, 'type "X"'],
  ];
}

function voteRows(): readonly Row[] {
  const vote = (id: string, option: string, ...flags: readonly string[]): string[] => [
    ...["tx", "gov", "vote", id, option],
    ...FROM,
    ...flags,
  ];
  const split = (options: string, expected: string): Row => [
    ["tx", "gov", "weighted-vote", "1", options, ...FROM],
    2,
    expected,
  ];
  return [
    [["tx", "gov", "vote", "1", "yes"], 2, "required flag --from"],
    [vote("0", "yes"), 2, '<proposal-id>: "0" is not a whole number from 1'],
    [vote("x", "yes"), 2, "<proposal-id>"],
    [vote("18446744073709551616", "yes"), 2, "<proposal-id>"],
    [vote("1", "perhaps"), 2, '<option> takes yes, abstain, no, no-with-veto, not "perhaps"'],
    [vote("1", "unspecified"), 2, "<option> takes"],
    [vote("1", ""), 2, "<option> takes"],
    [vote("1", "yes", "--legacy", "--metadata", "why"), 2, "--metadata cannot be used with --legacy"],
    split("yes", "no part above 0"),
    split("yes=0.5", "add up to 0.5, not to 1"),
    split("yes=0.6,no=0.6", "add up to 1.2, not to 1"),
    split("yes=0.5,yes=0.5", "a name appears twice"),
    split("yes=1.5,no=-0.5", "no part above 0"),
    split("yes=x", "no part above 0"),
    split("yes=1=2", "no part above 0"),
    split("", "<weighted-options>"),
    [["tx", "gov", "deposit", "1", "0stake", ...FROM], 2, "<amount>"],
    [["tx", "gov", "deposit", "1", ...FROM], 2, "missing required argument 'amount'"],
    [["tx", "gov", "deposit", "-1", "1stake", ...FROM], 2, "<proposal-id>"],
    [["tx", "gov", "cancel-proposal", "x", ...FROM], 2, "<proposal-id>"],
    [["tx", "slashing", "unjail"], 2, "required flag --from"],
    [["tx", "slashing", "unjail", "--from", "nobody"], 1, "nobody"],
  ];
}

function authzRows({ A, B, none, file }: TestHome): readonly Row[] {
  const grant = (kind: string, ...flags: readonly string[]): string[] => [
    ...["tx", "authz", "grant", B, kind],
    ...FROM,
    ...flags,
  ];
  const validator = "svcvaloper1qyqszqgpqyqszqgpqyqszqgpqyqszqgpmnpc9t";
  const delegate = (...flags: readonly string[]): string[] => grant("delegate", ...flags);
  const allowed = ["--allowed-validators", validator];
  return [
    [["tx", "authz", "grant", "x", "send", ...FROM], 2, "<grantee>: invalid Bech32 prefix"],
    [grant("everything"), 2, "<authorization> is send, deposit, generic, delegate, unbond, redelegate"],
    [grant("send"), 2, "required flag --spend-limit is not set"],
    [grant("send", "--spend-limit", "x"), 2, "--spend-limit: invalid coin"],
    [grant("send", "--spend-limit", "0stake"), 2, "not an amount above zero"],
    [grant("send", "--spend-limit", "1stake", "--allow-list", "x"), 2, "--allow-list: invalid Bech32 prefix"],
    [grant("send", "--spend-limit", "1stake", "--allow-list", `${A},${A}`), 2, "is given twice"],
    [grant("send", "--spend-limit", "1stake", "--msg-type", "/a.B"), 2, "--msg-type does not apply"],
    [grant("generic"), 2, "required flag --msg-type is not set"],
    [grant("generic", "--msg-type", "MsgSend"), 2, "not a type URL of a message"],
    [grant("generic", "--msg-type", "/a.B", "--spend-limit", "1stake"), 2, "--spend-limit does not apply"],
    [delegate(), 2, "give either --allowed-validators or --deny-validators"],
    [delegate(...allowed, "--deny-validators", validator), 2, "give either --allowed-validators or --deny-validators"],
    [delegate("--allowed-validators", A), 2, "--allowed-validators: invalid Bech32 prefix"],
    [delegate(...allowed, "--spend-limit", "1stake,2utoken"), 2, "one denomination"],
    [grant("send", "--spend-limit", "1stake", "--expiration", "soon"), 2, "--expiration takes a time"],
    [grant("send", "--spend-limit", "1stake", "--expiration", "1000000000"), 2, "1000000000 is in the past"],
    [grant("send", "--spend-limit", "1stake", "--expiration", "2001-01-01T00:00:00Z"), 2, "is in the past"],
    [grant("send", "--spend-limit", "1stake", "--expiration", "999999999999"), 2, "--expiration takes a time"],
    [["tx", "authz", "revoke", B, "send", ...FROM], 2, "<msg-type-url>"],
    [["tx", "authz", "revoke", "x", "/a.B", ...FROM], 2, "<grantee>"],
    [["tx", "authz", "exec", none, ...FROM], 1, "cannot read the transaction file"],
    [["tx", "authz", "exec", file("nothing.json", "{}"), ...FROM], 1, "it has no messages"],
  ];
}

function feegrantRows({ B }: TestHome): readonly Row[] {
  const grant = (...flags: readonly string[]): string[] => ["tx", "feegrant", "grant", "a", B, ...flags];
  return [
    [["tx", "feegrant", "grant", "a", "x"], 2, "<grantee>: invalid Bech32 prefix"],
    [["tx", "feegrant", "grant", "a"], 2, "missing required argument 'grantee'"],
    [["tx", "feegrant", "grant", "nobody", B], 1, "nobody"],
    [grant("--spend-limit", "x"), 2, "--spend-limit: invalid coin"],
    [grant("--period", "60"), 2, "--period-limit is missing"],
    [grant("--period-limit", "1stake"), 2, "--period takes the seconds of a period"],
    [grant("--period", "x", "--period-limit", "1stake"), 2, "--period takes a whole number"],
    [grant("--period", "99999999999", "--period-limit", "1stake"), 2, "--period takes the seconds of a period"],
    [grant("--expiration", "yesterday"), 2, "--expiration takes a time"],
    [grant("--allowed-messages", "MsgSend"), 2, "not a type URL of a message"],
    [["tx", "feegrant", "revoke", "a", "x"], 2, "<grantee>"],
  ];
}

function queryRows({ A }: TestHome): readonly Row[] {
  const signing = (validator: string): string[] => ["query", "slashing", "signing-info", validator];
  return [
    [["query", "gov", "proposal", "x"], 2, "<proposal-id>"],
    [["query", "gov", "proposals", "--status", "asleep"], 2, "--status takes deposit-period"],
    [["query", "gov", "proposals", "--voter", "x"], 2, "--voter: invalid Bech32 prefix"],
    [["query", "gov", "proposals", "--limit", "1001"], 2, "at most 1000 rows"],
    [["query", "gov", "vote", "1", "x"], 2, "<voter>"],
    [["query", "gov", "deposit", "1", "x"], 2, "<depositor>"],
    [["query", "gov", "param", "everything"], 2, '<type> is voting, deposit, tallying, not "everything"'],
    [signing(A), 2, "<validator>: invalid Bech32 prefix"],
    [signing("{}"), 2, "<validator>"],
    [signing("{"), 2, "<validator>"],
    [signing("svcvalconspub1x"), 2, "<validator>"],
    [["query", "authz", "grants", A, "x"], 2, "<grantee>"],
    [["query", "authz", "grants", A, A, "send"], 2, "<msg-type-url>"],
    [["query", "authz", "grants-by-granter", "x"], 2, "<granter>"],
    [["query", "feegrant", "grant", A, "x"], 2, "<grantee>"],
  ];
}
