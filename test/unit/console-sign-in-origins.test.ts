import { describe, expect, test } from 'vitest';
import { signInOrigins } from '../../shared/console/sign-in-origins.ts';
import { HOUR_MS, MINUTE_MS } from '../../shared/core/time.ts';

const ISSUER = 'https://id.example.com/tenant';
const DOCUMENT = { issuer: ISSUER, token_endpoint: 'https://tokens.example.com/oauth/token' };

const opened = (issuer = ISSUER) => {
  const clock = { at: 0 };
  const asked: string[] = [];
  const state: { document: unknown; ok: boolean } = { document: DOCUMENT, ok: true };
  const origins = signInOrigins({
    issuer,
    timeoutMs: 100,
    now: () => clock.at,
    fetch: async (url) => {
      asked.push(url);
      return { ok: state.ok, json: async () => state.document };
    },
  });
  return { clock, asked, state, origins };
};

describe('the origins of the sign-in', () => {
  test('include the issuer and its token endpoint, and are read once an hour', async () => {
    const { clock, asked, origins } = opened();
    expect(await origins()).toEqual(['https://id.example.com', 'https://tokens.example.com']);
    clock.at = HOUR_MS - 1;
    await origins();
    expect(asked).toEqual(['https://id.example.com/tenant/.well-known/openid-configuration']);
    clock.at = HOUR_MS;
    await origins();
    expect(asked).toHaveLength(2);
  });

  test.each<[string, unknown, boolean]>([
    ['cannot be read', {}, false],
    ['is of another issuer', { ...DOCUMENT, issuer: 'https://other.example' }, true],
    ['names no token endpoint', { issuer: ISSUER }, true],
    ['names an endpoint that is no URL', { issuer: ISSUER, token_endpoint: 'x; script-src *' }, true],
  ])('include only the issuer for a minute if the document %s', async (_, document, ok) => {
    const { clock, asked, state, origins } = opened();
    Object.assign(state, { document, ok });
    expect(await origins()).toEqual(['https://id.example.com']);
    clock.at = MINUTE_MS - 1;
    await origins();
    expect(asked).toHaveLength(1);
    Object.assign(state, { document: DOCUMENT, ok: true });
    clock.at = MINUTE_MS;
    expect(await origins()).toEqual(['https://id.example.com', 'https://tokens.example.com']);
  });

  test('stay unchanged if the document cannot be read again', async () => {
    const { clock, state, origins } = opened();
    await origins();
    state.ok = false;
    clock.at = HOUR_MS;
    expect(await origins()).toEqual(['https://id.example.com', 'https://tokens.example.com']);
  });

  test('are empty without an issuer', async () => {
    const { asked, origins } = opened('');
    expect(await origins()).toEqual([]);
    expect(asked).toEqual([]);
  });
});
