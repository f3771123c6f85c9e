/**
 * @module The console's files, bundled from `web/` when this file is loaded, which the local host does at the first
 * request. The build replaces this file with the finished files, so that a deployed function bundles nothing.
 */

import { resolve } from 'node:path';
import { bundlePage } from '../../shared/http/bundle-page.ts';

const { entry, files } = await bundlePage(resolve(import.meta.dirname, 'web'));

export const consoleEntry = entry;
export const consoleFiles = files;
