/**
 * @module Exits with one line if this Node version cannot run the project's TypeScript scripts. Every script preloads
 * this file (`node --require`), so it must run in older versions of Node.
 */

const LEAST = 24;
const { node } = process.versions;

if (Number(node.split('.')[0]) < LEAST) {
  process.stderr.write(
    `This project needs Node ${LEAST} or newer, and this is Node ${node}. On Linux (x64 and arm64), "npm ci" installs Node ${LEAST} for it, unless optional packages are omitted. Elsewhere, install Node ${LEAST} (https://nodejs.org).\n`,
  );
  process.exit(1);
}
