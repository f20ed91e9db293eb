/** The binary file of all descriptors, by its path beside the scripts. */
declare module "virtual:descriptors.bin" {
  const path: string;
  // biome-ignore lint/style/noDefaultExport: the bundler exports paths of files so.
  export default path;
}
/** Examples are bundled as texts. */
declare module "*.yaml" {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: the bundler exports texts so.
  export default text;
}
/** The bundler makes a file of the style sheets. */
declare module "*.css";
/** The script of the worker that derives keys, by its path beside the others. */
declare module "virtual:argon2-worker.js" {
  const path: string;
  // biome-ignore lint/style/noDefaultExport: the bundler exports paths of files so.
  export default path;
}
/** The script of the worker that follows new blocks. */
declare module "virtual:blocks-worker.js" {
  const path: string;
  // biome-ignore lint/style/noDefaultExport: the bundler exports paths of files so.
  export default path;
}
