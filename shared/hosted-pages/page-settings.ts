/** @module The settings of hosted pages, the URLs of their links, and the check of return URLs. */

import type { LinkTarget, LinkTokens } from '../access/link-token.ts';
import { DomainError, invalid } from '../core/errors.ts';
import type { Settings } from '../core/settings.ts';
import type { Instant } from '../core/time.ts';
import type { ConfigDeps } from '../queries/browser-config.ts';

export interface PageSettings extends ConfigDeps {
  readonly publicBaseUrl: string;
  /** The prefix of every route. */
  readonly basePath: string;
  /** The allowed hosts of a `return_url`. */
  readonly returnHosts: readonly string[];
  readonly seller: {
    readonly name: string;
    readonly color: string;
    readonly termsUrl: string;
    readonly privacyUrl: string;
  };
}

export const pageSettings = (settings: Settings): PageSettings => ({
  publicBaseUrl: settings.PUBLIC_BASE_URL,
  basePath: settings.BASE_PATH,
  returnHosts: settings.PAGE_RETURN_HOSTS,
  seller: {
    name: settings.PAGE_NAME,
    color: settings.PAGE_COLOR,
    termsUrl: settings.PAGE_TERMS_URL,
    privacyUrl: settings.PAGE_PRIVACY_URL,
  },
  slots: settings.slots,
  stage: settings.STAGE,
});

export interface LinkDeps {
  readonly linkTokens: LinkTokens;
  readonly pages: PageSettings;
}

/** The page that every link opens. Providers send the payer back to it, without the token. */
export const pageUrl = ({ publicBaseUrl }: Pick<PageSettings, 'publicBaseUrl'>): string => `${publicBaseUrl}/pay`;

/**
 * The URL with the token in its fragment, which no browser sends to a server.
 * @throws DomainError RESOURCE_NOT_FOUND if hosted pages are off
 */
export const linkUrl = async (
  { linkTokens, pages }: LinkDeps,
  target: LinkTarget,
  expiresAt: Instant | undefined,
): Promise<string> => `${pageUrl(pages)}#${await linkToken({ linkTokens }, target, expiresAt)}`;

/** @throws DomainError RESOURCE_NOT_FOUND if hosted pages are off */
export const linkToken = async (
  { linkTokens }: Pick<LinkDeps, 'linkTokens'>,
  target: LinkTarget,
  expiresAt: Instant | undefined,
): Promise<string> => {
  const token = await linkTokens.issue(target, expiresAt);
  if (token === undefined) throw pagesAreOff();
  return token;
};

/** @throws DomainError RESOURCE_NOT_FOUND if hosted pages are off */
export const requirePages = async ({ linkTokens }: Pick<LinkDeps, 'linkTokens'>): Promise<void> => {
  if (!(await linkTokens.areOn())) throw pagesAreOff();
};

const pagesAreOff = (): DomainError =>
  new DomainError('RESOURCE_NOT_FOUND', {
    message: 'Hosted pages are off; they need HOSTED_PAGES=on and GUEST_TOKEN_SECRET',
  });

/** @throws DomainError VALIDATION_ERROR unless PAGE_RETURN_HOSTS has the URL's host */
export const requireReturnUrl = (pages: PageSettings, returnUrl: string | null | undefined): void => {
  if (returnUrl == null || mayReturnTo(pages, returnUrl)) return;
  const message = 'must be an https URL of a host that the setting PAGE_RETURN_HOSTS lists';
  throw invalid([{ path: 'return_url', rule: 'return_host', message }]);
};

/**
 * True if the page may send the payer to this URL. Compares the whole host. The stage `local` also allows http. Refuses
 * a backslash, because browsers read it as a slash and other clients may see another host.
 */
export const mayReturnTo = ({ returnHosts, stage }: PageSettings, returnUrl: string): boolean => {
  if (returnUrl.includes('\\') || !URL.canParse(returnUrl)) return false;
  const { protocol, host, username, password } = new URL(returnUrl);
  const isAllowed = protocol === 'https:' || (protocol === 'http:' && stage === 'local');
  return isAllowed && username === '' && password === '' && returnHosts.includes(host);
};
