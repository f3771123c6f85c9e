/** The settings of this installation, from the page attributes set by the server. */
const { base = '', signInUrl = '', stage = '', oidcIssuer = '', oidcClientId = '' } = document.body.dataset;

export const site = {
  /** Prefix of every route of the service; empty or, for example, `/pay`. */
  basePath: base,
  /** Root of the console's pages. */
  root: `${base}/console`,
  /** If empty, users enter a session ID or a token. */
  signInUrl,
  /** The OpenID Connect issuer and the console's client ID; empty without OpenID Connect. */
  oidcIssuer,
  oidcClientId,
  /** True on the local host, which has control routes, demo users and a clock. */
  isLocal: stage === 'local',
  /** A notice about this installation, such as test mode; empty if payments are real. */
  mode: { local: 'Local host, simulated money', prod: '' }[stage] ?? `Stage ${stage}`,
} as const;
