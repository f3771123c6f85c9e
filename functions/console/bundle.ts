/**
 * @module The console's files, bundled from `web/` when this file is loaded. The local host loads it at the first
 * request. The build replaces this file with the bundled files, so a deployed function bundles nothing.
 */

import { resolve } from 'node:path';
import { bundlePage } from '../../shared/http/bundle-page.ts';

const { entry, files } = await bundlePage(resolve(import.meta.dirname, 'web'));

export const consoleEntry = entry;
export const consoleFiles = files;
