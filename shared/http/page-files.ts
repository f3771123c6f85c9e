/** @module The files of a web page served by the service itself. A file's name changes with its content. */

import { extname } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { DomainError } from '../core/errors.ts';
import { rowOf } from '../core/rows.ts';
import type { FileContent, Reply } from './request.ts';

export interface PageEntry {
  /** Names of the script and the style sheet; each contains a hash of its content. */
  readonly script: string;
  readonly style: string;
}

/** Files by name; content compressed with gzip, in base64. */
export type PageFiles = Readonly<Record<string, string>>;

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

interface AskedFile {
  readonly name: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** @throws DomainError ROUTE_NOT_FOUND for an unknown file */
export const fileReply = (files: PageFiles, { name, headers }: AskedFile): Reply => {
  const content = rowOf(files, name);
  if (content === undefined) throw new DomainError('ROUTE_NOT_FOUND');
  const compressed = Buffer.from(content, 'base64');
  const takesGzip = /\bgzip\b/.test(headers['accept-encoding'] ?? '');
  return replyOf({
    body: takesGzip ? compressed : gunzipSync(compressed),
    headers: {
      'content-type': TYPES[extname(name)] ?? 'application/octet-stream',
      // Caches forever, because a changed file gets a new name.
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'Accept-Encoding',
      ...(takesGzip && { 'content-encoding': 'gzip' }),
    },
  });
};

/** Browsers must revalidate the document on each use. @param policy its content security policy */
export const documentReply = (html: string, policy: string, headers: Readonly<Record<string, string>> = {}): Reply =>
  replyOf({
    body: Buffer.from(html),
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'content-security-policy': policy,
      ...headers,
    },
  });

const replyOf = (file: FileContent): Reply => ({ data: undefined, file });

/** Escapes a text for an attribute in double quotes. */
export const attribute = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
