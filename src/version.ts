/** The version of the package; a test holds it equal to package.json. A constant, so that `--version` reads no file. */
export const VERSION = '0.2.0';
