/** @module The console, a web page that calls the public API. It is one HTML document, whose script reads the path. */

import { extname } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { DomainError } from '../core/errors.ts';
import { rowOf } from '../core/rows.ts';
import type { ApiRequest, FileContent, Reply } from '../http/request.ts';

export interface ConsoleEntry {
  /** Names of the script and the style sheet; each contains a hash of its content. */
  readonly script: string;
  readonly style: string;
}

/** Files by name, compressed with gzip, as base64. */
export type ConsoleFiles = Readonly<Record<string, string>>;

export interface ConsoleDeps {
  readonly basePath: string;
  /** If empty, users enter a session ID or token. */
  readonly signInUrl: string;
  readonly stage: string;
  /** The OpenID Connect issuer and client ID of the sign-in. Without an issuer, users sign in by session ID or token. */
  readonly oidcIssuer: string;
  readonly oidcClientId: string;
  /** The origins that the sign-in calls (sign-in-origins.ts). */
  readonly signInOrigins: () => Promise<readonly string[]>;
}

/** The page may call only this host and the issuer, run only its own script, and no other page may frame it. */
const policyOf = (origins: readonly string[]): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    ["connect-src 'self'", ...origins].join(' '),
    "img-src 'self' data:",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

export const showConsole =
  (entry: ConsoleEntry) =>
  async (deps: ConsoleDeps): Promise<Reply> =>
    documentReply(deps, entry);

const FILES = 'assets/';

/** Serves a file of the console; every other path is a page. @throws DomainError ROUTE_NOT_FOUND for an unknown file */
export const showConsoleFile =
  (entry: ConsoleEntry, files: ConsoleFiles) =>
  async (deps: ConsoleDeps, { params, http }: ApiRequest<{ path: string }>): Promise<Reply> => {
    const { path } = params;
    if (!path.startsWith(FILES)) return documentReply(deps, entry);
    const name = path.slice(FILES.length);
    const content = rowOf(files, name);
    if (content === undefined) throw new DomainError('ROUTE_NOT_FOUND');
    return fileReply(name, Buffer.from(content, 'base64'), /\bgzip\b/.test(http.headers['accept-encoding'] ?? ''));
  };

const fileReply = (name: string, compressed: Buffer, takesGzip: boolean): Reply =>
  replyOf({
    body: takesGzip ? compressed : gunzipSync(compressed),
    headers: {
      'content-type': TYPES[extname(name)] ?? 'application/octet-stream',
      // A changed file gets a new name.
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'Accept-Encoding',
      ...(takesGzip && { 'content-encoding': 'gzip' }),
    },
  });

const documentReply = async (deps: ConsoleDeps, entry: ConsoleEntry): Promise<Reply> =>
  replyOf({
    body: Buffer.from(documentOf(deps, entry)),
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'content-security-policy': policyOf(await deps.signInOrigins()),
    },
  });

const replyOf = (file: FileContent): Reply => ({ data: undefined, file });

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' rx='7' fill='%23245bdb'/%3E%3Cpath d='M9 11h14v10H9zM9 14.5h14' fill='none' stroke='white' stroke-width='2.4'/%3E%3C/svg%3E";

const documentOf = (
  { basePath, signInUrl, stage, oidcIssuer, oidcClientId }: ConsoleDeps,
  { script, style }: ConsoleEntry,
): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>Payments console</title>
<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="${basePath}/console/assets/${style}">
<script type="module" src="${basePath}/console/assets/${script}"></script>
</head>
<body data-base="${attribute(basePath)}" data-sign-in-url="${attribute(signInUrl)}" data-stage="${attribute(stage)}" data-oidc-issuer="${attribute(oidcIssuer)}" data-oidc-client-id="${attribute(oidcClientId)}">
<div id="app"></div>
<noscript>The console needs JavaScript.</noscript>
</body>
</html>
`;

const attribute = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
