/**
 * @module The vendors' scripts on the hosted page, and the sources required in its content policy for each script.
 * If a slot's base URL is not the vendor's own, the stand-in at that URL also serves the script.
 */

import type { SlotSettings } from '../core/settings.ts';
import { openSlots, type ProviderConfig } from '../queries/browser-config.ts';
import type { PageSettings } from './page-settings.ts';

/** Sources of a content policy, by directive. */
interface Sources {
  readonly script: readonly string[];
  readonly connect: readonly string[];
  readonly frame: readonly string[];
  readonly style?: readonly string[];
  readonly font?: readonly string[];
}

interface VendorScript {
  readonly url: string;
  readonly sources: Sources;
}

const STRIPE: VendorScript = {
  url: 'https://js.stripe.com/v3/',
  sources: {
    script: ['https://js.stripe.com'],
    connect: ['https://api.stripe.com'],
    frame: ['https://js.stripe.com', 'https://hooks.stripe.com'],
  },
};

/**
 * Square's fields set styles and fonts of the page around them. The bank hosts the frame of 3-D Secure, so any host may
 * be framed.
 */
const squareAt = (cdn: string, api: string): VendorScript => ({
  url: `${cdn}/v1/square.js`,
  sources: {
    script: [cdn],
    connect: [api, cdn],
    frame: ['https:'],
    style: [cdn, "'unsafe-inline'"],
    font: [cdn, 'https://square-fonts-production-f.squarecdn.com', 'https://d1g145x70srn7h.cloudfront.net'],
  },
});

const SQUARE = squareAt('https://web.squarecdn.com', 'https://pci-connect.squareup.com');
const SQUARE_SANDBOX = squareAt('https://sandbox.web.squarecdn.com', 'https://pci-connect.squareupsandbox.com');

/** The vendors' own API hosts. */
const OWN_HOSTS: readonly string[] = ['api.stripe.com', 'connect.squareup.com', 'connect.squareupsandbox.com'];

const FILES = { stripe: 'stripe.js', square: 'square.js' } as const;

const standIn = (baseUrl: string, file: string): VendorScript => {
  const { origin } = new URL(baseUrl);
  return { url: `${baseUrl}/${file}`, sources: { script: [origin], connect: [origin], frame: [origin] } };
};

/** @returns undefined for a provider that redirects payers to its own page */
const scriptOf = ({ provider, test }: ProviderConfig, { BASE_URL }: SlotSettings): VendorScript | undefined => {
  if (provider !== 'stripe' && provider !== 'square') return undefined;
  if (BASE_URL !== '' && !OWN_HOSTS.includes(new URL(BASE_URL).host)) return standIn(BASE_URL, FILES[provider]);
  if (provider === 'stripe') return STRIPE;
  return test ? SQUARE_SANDBOX : SQUARE;
};

export interface SlotScript extends VendorScript {
  readonly slot: string;
}

/** The scripts of the enabled slots. */
export const vendorScripts = (pages: PageSettings): readonly SlotScript[] =>
  openSlots(pages).flatMap((config) => {
    const script = scriptOf(config, pages.slots[config.provider_id]);
    return script ? [{ ...script, slot: config.provider_id }] : [];
  });

/** The page's content policy allows its own files and the enabled vendors' sources. No other page may frame it. */
export const pagePolicy = (scripts: readonly SlotScript[]): string => {
  const sources = (directive: keyof Sources): readonly string[] => [
    ...new Set(scripts.flatMap(({ sources: of }) => of[directive] ?? [])),
  ];
  const line = (name: string, own: readonly string[], more: readonly string[]): string =>
    [name, ...(own.length + more.length === 0 ? ["'none'"] : own), ...more].join(' ');
  return [
    "default-src 'none'",
    line('script-src', ["'self'"], sources('script')),
    line('style-src', ["'self'"], sources('style')),
    line('font-src', [], sources('font')),
    line('connect-src', ["'self'"], sources('connect')),
    line('frame-src', [], sources('frame')),
    "img-src 'self' data:",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
};
