/** The settings of this installation, which the server writes to attributes of the page. */
const { base = '', signInUrl = '', stage = '', oidcIssuer = '', oidcClientId = '' } = document.body.dataset;

export const site = {
  /** Prefix of every route of the service, empty or like `/pay`. */
  basePath: base,
  /** Root of the console's pages. */
  root: `${base}/console`,
  /** If empty, users enter a session ID or a token. */
  signInUrl,
  /** The OpenID Connect issuer of the sign-in, and the console's client there; empty without such a sign-in. */
  oidcIssuer,
  oidcClientId,
  /** True on the local host, which has control routes, demo users and a clock. */
  isLocal: stage === 'local',
  /** What the user should know about this installation; empty where payments are real. */
  mode: { local: 'Local host, simulated money', prod: '' }[stage] ?? `Stage ${stage}`,
} as const;
