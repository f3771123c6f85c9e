import * as z from 'zod';

/** Fields and formats that all of PayPal's objects share. */
export type PayPalObject = Readonly<Record<string, unknown>>;

export const API = 'https://api-m.paypal.com';

/** PayPal's times have no fraction of a second. */
export const timeView = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}Z`;

/** The merchant's own ids of an order, a capture or a refund. */
const merchantIds = z.object({ custom_id: z.string().optional(), invoice_id: z.string().optional() });
export const readMerchantIds = (document: { readonly wire: unknown }): z.infer<typeof merchantIds> =>
  merchantIds.parse(document.wire);
