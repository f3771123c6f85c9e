import { describe, expect, test } from 'vitest';
import { guestTokens } from '../../shared/access/guest-token.ts';
import { normalizedEmail } from '../../shared/core/text.ts';
import { emailSchema } from '../../shared/http/fields.ts';
import { guestPartition } from '../../shared/platform/keys.ts';
import { NOON } from '../builders/payment.ts';

describe('an e-mail address', () => {
  test.each([
    ['ada@example.com', 'ada@example.com'],
    [' Ada.Lovelace+Shop@Example.COM ', 'ada.lovelace+shop@example.com'],
    ["o'neil@example.ie", "o'neil@example.ie"],
    ['jörg@müller.example', 'jörg@müller.example'],
    ['JÖRG@Müller.Example', 'jörg@müller.example'],
    ['jo\u0308rg@example.com', 'jörg@example.com'],
    ['用户@例子.公司', '用户@例子.公司'],
    ['пользователь@пример.рф', 'пользователь@пример.рф'],
    ['अजय@डाटा.भारत', 'अजय@डाटा.भारत'],
    [`${'a'.repeat(242)}@example.com`, `${'a'.repeat(242)}@example.com`],
  ])('is accepted and lower-cased: %j', (sent, taken) => {
    expect(emailSchema.parse(sent)).toBe(taken);
  });

  test.each([
    '',
    'ada',
    'ada@',
    '@example.com',
    'ada@example',
    'ada@@example.com',
    'ada@b@example.com',
    'ada@example..com',
    'ada@.example.com',
    'ada@example.com.',
    '.ada@example.com',
    'ada.@example.com',
    'a..b@example.com',
    'a da@example.com',
    'ada@exam ple.com',
    'ada\n@example.com',
    'ada@example.com\r\nBcc: eve@example.com',
    'ada\u0000@example.com',
    'ada\u202e@example.com',
    'ada,eve@example.com',
    'Ada <ada@example.com>',
    '"ada"@example.com',
    'ada@[127.0.0.1]',
    `${'a'.repeat(243)}@example.com`,
  ])('is refused as %j', (sent) => {
    expect(emailSchema.safeParse(sent).success).toBe(false);
  });
});

/** Spellings of one e-mail address that differ in case, composition or spaces. */
const SPELLINGS = ['J\u030coe@example.com', 'j\u030coe@example.com', '\u01f0oe@example.com', ' J\u030cOE@EXAMPLE.COM '];

describe('a normalized e-mail address', () => {
  test('does not change in a second normalization, for every letter with every mark', () => {
    const letters = Array.from({ length: 0x11_00_00 }, (_, point) => point)
      .filter((point) => point < 0xd8_00 || point > 0xdf_ff)
      .map((point) => String.fromCodePoint(point));
    const marks = Array.from({ length: 0x70 }, (_, at) => String.fromCodePoint(0x3_00 + at));
    const marked = letters
      .filter((letter) => /\p{Lu}/u.test(letter))
      .flatMap((letter) => marks.map((mark) => letter + mark));
    const unstable = [...letters, ...marked].filter((text) => {
      const once = normalizedEmail(`${text}a@example.com`);
      return normalizedEmail(once) !== once;
    });
    expect(unstable).toEqual([]);
  });

  test.each(SPELLINGS)('is the same for %j in a body, in a key and in a guest token', async (sent) => {
    expect(emailSchema.parse(sent)).toBe('\u01f0oe@example.com');
    expect(guestPartition(sent, 'PAY')).toBe(guestPartition('\u01f0oe@example.com', 'PAY'));
    const tokens = guestTokens({ secrets: async () => ['s'.repeat(32)], ttlSeconds: 60, now: () => NOON });
    const issued = await tokens.issue({ email: sent, guestId: 'guest_1' });
    expect(await tokens.read(issued?.token ?? '')).toEqual({ email: '\u01f0oe@example.com', guestId: 'guest_1' });
  });
});
