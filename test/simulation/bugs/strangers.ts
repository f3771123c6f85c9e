import type { Bug } from './bug.ts';

/** Mistakes that help strangers who know e-mail addresses, Idempotency-Keys and ids. */
export const STRANGER_BUGS: readonly Bug[] = [
  {
    name: 'network-ignored',
    what: 'A guest continues from any network',
    file: 'shared/access/continue-guest.ts',
    text: ' && network !== undefined && network === guests;',
    replacement: ';',
  },
  {
    name: 'provider-id-proves',
    what: 'A guest continues by the id that the provider gave to a record',
    file: 'shared/access/continue-guest.ts',
    text: '  isOurId && seconds',
    replacement: '  seconds',
  },
  {
    name: 'ids-are-plain-hashes',
    what: 'An id is the hash of what callers send',
    file: 'shared/core/ids.ts',
    text: "drawnId(kind, (draw) => keyedHash(secret, 'id', kind, String(draw), ...parts));",
    replacement: 'idOfHex(kind, fingerprint(...parts));',
  },
  {
    name: 'repeat-gives-a-token',
    what: 'The repeat of a create from another network gets a guest token',
    file: 'shared/access/guest-token.ts',
    text: '  if (!caller.byToken && (guestNetwork === undefined || guestNetwork !== caller.network)) return {};\n',
    replacement: '',
  },
  {
    name: 'continued-token-opens-all',
    what: 'The token of a guest who continues without a token opens every record of that guest',
    file: 'shared/access/guest-token.ts',
    text: 'onlyRecord: caller.proven && id });',
    replacement: 'onlyRecord: undefined });',
  },
  {
    name: 'limits-of-tokens-ignored',
    what: 'A token that opens one record opens every record of its guest',
    file: 'shared/access/access.ts',
    text: 'caller.onlyRecord === undefined || caller.onlyRecord === id;',
    replacement: 'true;',
  },
];
