/** Name of the account, the roles and, where nothing else is wanted, the namespace of the provider itself. */
export const PROVIDER_NAME = "svc-provider";
/** Annotation of installed objects: the version of their form. */
export const FORM = "svc.form";
/** Raised with every change of the installation that this program needs. */
export const INSTALLED_FORM = "4";
