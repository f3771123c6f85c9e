/** @module `npm run client [-- <folder>]` writes the typed client package. */
import { resolve } from 'node:path';
import { argv, stdout } from 'node:process';
import { CLIENT_FOLDER, writeClient } from './package.ts';

const folder = resolve(argv[2] ?? CLIENT_FOLDER);
await writeClient(folder);
stdout.write(`The client is in ${folder}. Pack it with: npm pack ${folder}\n`);
