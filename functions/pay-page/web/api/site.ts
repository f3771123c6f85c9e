/** The settings of this installation, from attributes of the page. */
const { base = '', scripts = '{}', name = '', color = '' } = document.body.dataset;

export const site = {
  /** Prefix of every route of the service, empty or like `/payments`. */
  basePath: base,
  /** The addresses of the vendors' scripts, by provider slot. */
  scripts: JSON.parse(scripts) as Readonly<Record<string, string>>,
  sellerName: name,
  color,
  /** Where a vendor sends the payer back to. */
  ownAddress: `${location.origin}${base}/pay`,
} as const;
