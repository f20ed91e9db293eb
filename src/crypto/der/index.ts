/** Encodings of ASN.1: DER, signatures in it, and PEM around it. */
export { DER, type DerElement, derBitString, derChildren, derContent, derInteger, readDer } from "./der.ts";
export { decodePem, encodePem } from "./pem.ts";
export { signatureFromDer } from "./signature.ts";
