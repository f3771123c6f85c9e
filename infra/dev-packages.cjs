/**
 * @module Exits with one line if a script needs packages that `npm ci --omit=dev` leaves out. Such a script preloads
 * this file (`node --require`) or runs it first.
 */

const { existsSync } = require('node:fs');
const { join } = require('node:path');
const { argv, env, exit, stderr } = require('node:process');

/** Scripts that need these packages only with this option. */
const ONLY_WITH = { payctl: '--stage' };

const root = join(__dirname, '..');
const { devDependencies } = require(join(root, 'package.json'));
const script = env.npm_lifecycle_event ?? '';
const option = ONLY_WITH[script];
const isNeeded = option === undefined || argv.some((given) => given === option || given.startsWith(`${option}=`));
const missing = Object.keys(devDependencies).find(
  (name) => !existsSync(join(root, 'node_modules', name, 'package.json')),
);

if (isNeeded && missing !== undefined) {
  const command = script === '' ? 'this command' : `npm run ${script}`;
  stderr.write(`${command} needs the packages for development (${missing} is missing): run npm ci\n`);
  exit(1);
}
