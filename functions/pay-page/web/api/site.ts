/** The settings of this installation, from attributes of the page. */
const { base = '', scripts = '{}', name = '', color = '' } = document.body.dataset;

export const site = {
  /** Prefix of every route of the service; empty or, for example, `/payments`. */
  basePath: base,
  /** The URLs of the vendors' scripts, by provider slot. */
  scripts: JSON.parse(scripts) as Readonly<Record<string, string>>,
  sellerName: name,
  color,
  /** The URL for the payer's return from a vendor. */
  ownAddress: `${location.origin}${base}/pay`,
} as const;
