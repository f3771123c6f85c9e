/** What the server says of this installation, in attributes of the page. */
const { base = '', signInUrl = '', stage = '' } = document.body.dataset;

export const site = {
  /** Prefix of every route of the service; empty or like `/pay`. */
  basePath: base,
  /** Root of the console's pages. */
  root: `${base}/console`,
  /** Empty: users enter a session ID or token. */
  signInUrl,
  /** The local host has control routes, demo users and a clock. */
  isLocal: stage === 'local',
} as const;
