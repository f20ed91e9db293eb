import { meaningOf, remedyOf } from "../../client/index.ts";

/** Meanings and remedies of errors, with the tables of every module: loaded with the first error. */
export { meaningOf, remedyOf };
