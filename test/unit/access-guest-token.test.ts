import { SignJWT, UnsecuredJWT } from 'jose';
import { describe, expect, test } from 'vitest';
import { guestTokens } from '../../shared/access/guest-token.ts';
import { DAY_MS, iso, SECOND_MS } from '../../shared/core/time.ts';
import { NOON } from '../builders/payment.ts';
import { refusalIn } from '../builders/refusal.ts';

const ada = { email: 'ada@example.com', guestId: 'gst_1' };
const WEEK_SECONDS = 604_800;

const service = (...secrets: readonly string[]) => {
  const state = { at: NOON, secrets };
  const tokens = guestTokens({ secrets: async () => state.secrets, ttlSeconds: WEEK_SECONDS, now: () => state.at });
  const issue = async (guest = ada): Promise<string> => (await tokens.issue(guest))?.token ?? '';
  return { state, tokens, issue };
};
const readCode = async (read: Promise<unknown>): Promise<string> => (await refusalIn(read)).code;

describe('a guest token', () => {
  test('names the guest for seven days', async () => {
    const { tokens } = service('secret-one');
    const issued = await tokens.issue(ada);
    expect(issued?.expiresAt).toBe(iso(NOON + 7 * DAY_MS));
    expect(await tokens.read(issued?.token ?? '')).toEqual(ada);
  });

  test('expires exactly after seven days', async () => {
    const { state, tokens, issue } = service('secret-one');
    const token = await issue();
    state.at = NOON + 7 * DAY_MS - 1;
    expect(await tokens.read(token)).toEqual(ada);
    state.at = NOON + 7 * DAY_MS;
    expect(await readCode(tokens.read(token))).toBe('SESSION_INVALID');
  });

  test('is accepted if any listed secret signed it, and is signed with the first secret', async () => {
    const { state, tokens, issue } = service('old');
    const before = await issue();
    state.secrets = ['new', 'old'];
    const after = await issue();
    expect([await tokens.read(before), await tokens.read(after)]).toEqual([ada, ada]);
    state.secrets = ['new'];
    expect(await tokens.read(after)).toEqual(ada);
    expect(await readCode(tokens.read(before))).toBe('SESSION_INVALID');
  });

  test.each([
    [['old'], ['old', 'new']],
    [
      ['old', 'new'],
      ['new', 'old'],
    ],
  ])(
    'issued by an instance with the secrets %j is accepted by an instance with %j, and vice versa',
    async (earlier, later) => {
      const [one, other] = [service(...earlier), service(...later)];
      expect(await one.tokens.read(await other.issue())).toEqual(ada);
      expect(await other.tokens.read(await one.issue())).toEqual(ada);
    },
  );

  test('is refused by an instance that lacks its secret, so a rotation must first add the new secret in second place', async () => {
    const token = await service('new', 'old').issue();
    expect(await readCode(service('old').tokens.read(token))).toBe('SESSION_INVALID');
  });

  test('is neither issued nor read without a secret', async () => {
    const { state, tokens, issue } = service('secret-one');
    const token = await issue();
    state.secrets = [];
    expect(await tokens.issue(ada)).toBeUndefined();
    expect((await refusalIn(tokens.read(token))).message).toBe('The guest token is not valid');
    expect(await readCode(tokens.read(token))).toBe('SESSION_INVALID');
  });

  test('does not reveal its secret', async () => {
    const token = await service('secret-one').issue();
    expect(Buffer.from(token.replaceAll('.', ''), 'base64url').toString('latin1')).not.toContain('secret-one');
  });

  describe('a forged guest token', () => {
    const at = NOON / SECOND_MS;
    const kidOf = async (secret: string): Promise<string> => {
      const [head = ''] = (await service(secret).issue()).split('.');
      return String(JSON.parse(Buffer.from(head, 'base64url').toString('utf8')).kid);
    };
    const signed = async (claims: Record<string, unknown>, secret = 'secret-one', issuer = 'payments:guest') =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: 'HS256', kid: await kidOf('secret-one') })
        .setIssuer(issuer)
        .setExpirationTime(at + 60)
        .sign(new TextEncoder().encode(secret));
    const claims = { email: ada.email, guest_id: ada.guestId };

    test('is valid if all of its parts are valid', async () => {
      expect(await service('secret-one').tokens.read(await signed(claims))).toEqual(ada);
    });

    test.each<[string, () => Promise<string> | string]>([
      ['signed by another secret', () => signed(claims, 'secret-two')],
      ['of another issuer', () => signed(claims, 'secret-one', 'payments')],
      ['without a guest_id', () => signed({ email: ada.email })],
      ['without an e-mail', () => signed({ guest_id: ada.guestId })],
      ['with a guest_id that is not a string', () => signed({ ...claims, guest_id: ['gst_1'] })],
      [
        'not signed at all',
        () =>
          new UnsecuredJWT(claims)
            .setIssuer('payments:guest')
            .setExpirationTime(at + 60)
            .encode(),
      ],
      ['empty', () => ''],
      ['a guest_id instead of a token', () => 'gst_1'],
      ['only dots', () => '..'],
    ])('is refused: %s', async (_, forged) => {
      expect(await readCode(service('secret-one').tokens.read(await forged()))).toBe('SESSION_INVALID');
    });

    test('is refused after a change of a single character', async () => {
      const { tokens, issue } = service('secret-one');
      const token = await issue();
      const signatureAt = token.lastIndexOf('.') + 1;
      // Leaves out the last character, because a change of its unused bits would change nothing.
      const places = Array.from({ length: token.length - 1 }, (_, index) => index).filter((index) => index % 5 === 0);
      for (const place of [...places, signatureAt]) {
        const other = token[place] === 'A' ? 'B' : 'A';
        const forged = `${token.slice(0, place)}${other}${token.slice(place + 1)}`;
        expect(await readCode(tokens.read(forged))).toBe('SESSION_INVALID');
      }
    });

    test('is refused if it combines one token’s guest with another token’s signature', async () => {
      const { tokens, issue } = service('secret-one');
      const [head, body] = (await issue({ ...ada, guestId: 'gst_2' })).split('.');
      const [, , signature] = (await issue()).split('.');
      expect(await readCode(tokens.read([head, body, signature].join('.')))).toBe('SESSION_INVALID');
    });
  });
});
