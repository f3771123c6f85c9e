/** @module The reference page at /docs, which loads /openapi.json. All its files are local. */

import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { rowOf } from '../../../shared/core/rows.ts';
import type { GatewayAnswer } from './gateway-answer.ts';

const ASSETS: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

const page = (base: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Payments: API reference</title>
<link rel="stylesheet" href="${base}/docs/swagger-ui.css">
<link rel="icon" href="${base}/docs/favicon-32x32.png">
</head>
<body>
<div id="reference"></div>
<script src="${base}/docs/swagger-ui-bundle.js"></script>
<script src="${base}/docs/start.js"></script>
</body>
</html>`;

/** Credentials by the document's security scheme. */
type Credentials = Readonly<Record<string, string>>;

/**
 * Turns the validator off, because it would send the document's address to another server. The given credentials apply
 * until the reader enters others or logs out, and the browser remembers both.
 */
const start = (base: string, credentials: Credentials): string => `const reference = SwaggerUIBundle({
  ...${JSON.stringify({
    url: `${base}/openapi.json`,
    dom_id: '#reference',
    deepLinking: true,
    persistAuthorization: true,
    displayOperationId: true,
    validatorUrl: null,
  })},
  onComplete: () => {
    if (localStorage.getItem('authorized') !== null) return;
    for (const [scheme, value] of ${JSON.stringify(Object.entries(credentials))}) {
      reference.preauthorizeApiKey(scheme, value);
    }
  },
});`;

/**
 * Allows inline styles and embedded images, because the page's scripts set inline styles and its style sheet embeds
 * images.
 */
const POLICY = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'";

const answer = (contentType: string, body: string | Buffer): GatewayAnswer => ({
  status: 200,
  headers: { 'content-type': contentType, 'x-content-type-options': 'nosniff', 'content-security-policy': POLICY },
  body: Buffer.from(body),
});

export type Reference = (path: string) => Promise<GatewayAnswer | undefined>;

/** @param credentials used by "Try it out" until the reader enters others */
export const createReference = (basePath: string, credentials: Credentials): Reference => {
  const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  return async (path) => {
    const local = path.startsWith(basePath) ? path.slice(basePath.length) : path;
    if (local === '/docs' || local === '/docs/') return answer('text/html; charset=utf-8', page(basePath));
    if (local === '/docs/start.js') return answer('text/javascript; charset=utf-8', start(basePath, credentials));
    const asset = local.startsWith('/docs/') ? local.slice('/docs/'.length) : '';
    const contentType = rowOf(ASSETS, asset);
    return contentType ? answer(contentType, await readFile(join(folder, asset))) : undefined;
  };
};
