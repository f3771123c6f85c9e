import { describe, expect, test } from 'vitest';
import { LINK_KINDS, type LinkTarget, linkTokens } from '../../shared/access/link-token.ts';
import { ID_PREFIX } from '../../shared/core/ids.ts';
import { DAY_MS } from '../../shared/core/time.ts';
import { NOON } from '../builders/payment.ts';
import { present } from '../builders/present.ts';

const SECRETS = ['the first secret of thirty-two bytes', 'the second secret of thirty-two bytes'];
let now = NOON;
const tokensOf = (secrets: readonly string[]) => linkTokens({ secrets: async () => secrets, now: () => now });
const tokens = tokensOf(SECRETS);

const TARGETS: readonly LinkTarget[] = LINK_KINDS.flatMap((kind) =>
  ['814fd0524add4278431c499b', '000000000000000000000000'].map((hex) => ({ kind, id: `${ID_PREFIX[kind]}_${hex}` })),
);

const issued = async (target: LinkTarget, until: number | undefined = NOON + DAY_MS) =>
  present(await tokens.issue(target, until));

describe('the token of a hosted page', () => {
  test.each(TARGETS)('opens only $id, and is the same if it is issued again', async (target) => {
    const token = await issued(target);
    expect(token).toMatch(/^plk_[\w-]{44}$/);
    expect(await tokens.read(token)).toEqual(target);
    expect(await issued(target)).toBe(token);
  });

  test('is refused with any bit flipped', async () => {
    let flips = 0;
    for (const target of TARGETS) {
      const bytes = Buffer.from((await issued(target)).slice(4), 'base64url');
      for (let bit = 0; bit < bytes.length * 8; bit += 1) {
        const flipped = Buffer.from(bytes);
        flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
        expect(await tokens.read(`plk_${flipped.toString('base64url')}`)).toBeUndefined();
        flips += 1;
      }
    }
    expect(flips).toBeGreaterThan(1_000);
  });

  test('expires at its stated time', async () => {
    const [target] = TARGETS;
    const token = await issued(present(target), NOON + 1_000);
    const forever = present(await tokens.issue(present(target), undefined));
    now = NOON + 1_000;
    expect([await tokens.read(token), await tokens.read(forever)]).toEqual([undefined, target]);
    now = NOON;
  });

  test('survives a rotation of the secret while the former secret is listed', async () => {
    const target = present(TARGETS[0]);
    const token = await issued(target);
    expect(await tokensOf(['a new secret of thirty-two bytes or so', ...SECRETS]).read(token)).toEqual(target);
    expect(await tokensOf(['a new secret of thirty-two bytes or so']).read(token)).toBeUndefined();
  });

  test('is neither issued nor accepted without a secret', async () => {
    const off = tokensOf([]);
    expect(await off.areOn()).toBe(false);
    expect(await off.issue(present(TARGETS[0]), undefined)).toBeUndefined();
    expect(await off.read(await issued(present(TARGETS[0])))).toBeUndefined();
  });

  test.each([
    '',
    'plk_',
    'plk',
    `plk_${'A'.repeat(43)}`,
    `plk_${'A'.repeat(45)}`,
    `plk_${'+'.repeat(44)}`,
    `psk_${'A'.repeat(44)}`,
  ])('is refused as %j', async (text) => {
    expect(await tokens.read(text)).toBeUndefined();
  });
});
