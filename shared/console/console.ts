/** @module The console, a web page that calls the public API. Its script selects the view from the URL's path. */

import { attribute, documentReply, fileReply, type PageEntry, type PageFiles } from '../http/page-files.ts';
import type { ApiRequest, Reply } from '../http/request.ts';

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

/** The page may call only this host and the issuer and run only its own script. No other page may frame it. */
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

export const showConsole =
  (entry: PageEntry) =>
  async (deps: ConsoleDeps): Promise<Reply> =>
    documentReply(documentOf(deps, entry), policyOf(await deps.signInOrigins()));

const FILES = 'assets/';

/** Serves a file of the console; every other path is a page. @throws DomainError ROUTE_NOT_FOUND for an unknown file */
export const showConsoleFile =
  (entry: PageEntry, files: PageFiles) =>
  async (deps: ConsoleDeps, { params, http }: ApiRequest<{ path: string }>): Promise<Reply> => {
    const { path } = params;
    if (!path.startsWith(FILES)) return showConsole(entry)(deps);
    return fileReply(files, { name: path.slice(FILES.length), headers: http.headers });
  };

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' rx='7' fill='%23245bdb'/%3E%3Cpath d='M9 11h14v10H9zM9 14.5h14' fill='none' stroke='white' stroke-width='2.4'/%3E%3C/svg%3E";

const documentOf = (
  { basePath, signInUrl, stage, oidcIssuer, oidcClientId }: ConsoleDeps,
  { script, style }: PageEntry,
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
