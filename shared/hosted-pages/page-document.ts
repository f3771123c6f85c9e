/**
 * @module The hosted page as a document. The document is the same for every link. The token is in the URL's fragment,
 * which only the page's script reads.
 */

import type { LinkTokens } from '../access/link-token.ts';
import { DomainError } from '../core/errors.ts';
import { attribute, documentReply, fileReply, type PageEntry, type PageFiles } from '../http/page-files.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import type { PageSettings } from './page-settings.ts';
import { pagePolicy, vendorScripts } from './vendor-scripts.ts';

export interface DocumentDeps {
  readonly linkTokens: Pick<LinkTokens, 'areOn'>;
  readonly pages: PageSettings;
}

/** The referrer policy of the page. The vendors' scripts need only the origin and must not see the rest of the URL. */
const HEADERS = { 'referrer-policy': 'strict-origin' } as const;

/** @throws DomainError ROUTE_NOT_FOUND if link tokens are off */
export const showDocument =
  (entry: PageEntry) =>
  async (deps: DocumentDeps): Promise<Reply> => {
    if (!(await deps.linkTokens.areOn())) throw new DomainError('ROUTE_NOT_FOUND');
    const scripts = vendorScripts(deps.pages);
    const urls = Object.fromEntries(scripts.map(({ slot, url }) => [slot, url]));
    return documentReply(documentOf(deps, entry, urls), pagePolicy(scripts), HEADERS);
  };

/** @throws DomainError ROUTE_NOT_FOUND for an unknown file */
export const showDocumentFile =
  (files: PageFiles) =>
  async (_deps: unknown, { params, http }: ApiRequest<{ file: string }>): Promise<Reply> =>
    fileReply(files, { name: params.file, headers: http.headers });

const documentOf = (
  { pages: { basePath, seller } }: DocumentDeps,
  { script, style }: PageEntry,
  scripts: Readonly<Record<string, string>>,
): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${attribute(seller.name) || 'Payment'}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${basePath}/pay/assets/${style}">
<script type="module" src="${basePath}/pay/assets/${script}"></script>
</head>
<body data-base="${attribute(basePath)}" data-name="${attribute(seller.name)}" data-color="${attribute(seller.color)}" data-scripts="${attribute(JSON.stringify(scripts))}">
<div id="app"></div>
<noscript>This page needs JavaScript.</noscript>
</body>
</html>
`;
