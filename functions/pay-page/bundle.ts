/** @module The files of the hosted page, bundled from `web/` as those of the console are. */

import { resolve } from 'node:path';
import { bundlePage } from '../../shared/http/bundle-page.ts';

const { entry, files } = await bundlePage(resolve(import.meta.dirname, 'web'));

export const payPageEntry = entry;
export const payPageFiles = files;
