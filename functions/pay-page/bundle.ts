/** @module The hosted page's files, bundled from `web/` like the console's files. */

import { resolve } from 'node:path';
import { bundlePage } from '../../shared/http/bundle-page.ts';

const { entry, files } = await bundlePage(resolve(import.meta.dirname, 'web'));

export const payPageEntry = entry;
export const payPageFiles = files;
