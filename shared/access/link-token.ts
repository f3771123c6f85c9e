/**
 * @module Issues and reads the tokens of hosted pages. A token opens one record until it expires. Tokens are signed but
 * not stored, so the same token can be issued again. The first secret signs, and every listed secret verifies.
 */

import { createHmac, timingSafeEqual } from 'node:crypto';
import { ID_PREFIX, type IdKind } from '../core/ids.ts';
import { epochSeconds, type Instant, type Now, SECOND_MS } from '../core/time.ts';

/** The possible kinds of a token's record. A kind's index is its number in the token, so the order must not change. */
export const LINK_KINDS = ['payment', 'payment_link', 'subscription'] as const satisfies readonly IdKind[];
export type LinkKind = (typeof LINK_KINDS)[number];

export interface LinkTarget {
  readonly kind: LinkKind;
  readonly id: string;
}

interface LinkTokenOptions {
  /** Empty if hosted pages are off. */
  readonly secrets: () => Promise<readonly string[]>;
  readonly now: Now;
}

export type LinkTokens = ReturnType<typeof linkTokens>;

const PREFIX = 'plk_';
/** Kind and expiry (5 bytes), id and MAC make 33 bytes, which base64url encodes without padding. */
const FORM = /^plk_[\w-]{44}$/;
export const LONGEST_LINK_TOKEN = 48;

/**
 * The length of a token's head in bytes. The head holds the expiry in epoch seconds, and the kind in the 4 bits above
 * it.
 */
const HEAD_BYTES = 5;
const KIND_UNIT = 2 ** 36;
const ID_BYTES = 12;
const MAC_AT = HEAD_BYTES + ID_BYTES;
const MAC_BYTES = 16;
const NEVER = KIND_UNIT - 1;

const macOf = (secret: string, said: Buffer): Buffer =>
  createHmac('sha256', secret).update('payments:link-token\n').update(said).digest().subarray(0, MAC_BYTES);

const saidOf = ({ kind, id }: LinkTarget, expiry: number): Buffer => {
  const said = Buffer.alloc(MAC_AT);
  said.writeUIntBE(LINK_KINDS.indexOf(kind) * KIND_UNIT + expiry, 0, HEAD_BYTES);
  said.write(id.slice(ID_PREFIX[kind].length + 1), HEAD_BYTES, ID_BYTES, 'hex');
  return said;
};

export const linkTokens = ({ secrets, now }: LinkTokenOptions) => {
  /** @param expiresAt undefined for a token without an expiry @returns undefined if hosted pages are off */
  const issue = async (target: LinkTarget, expiresAt: Instant | undefined): Promise<string | undefined> => {
    const [secret] = await secrets();
    if (secret === undefined) return undefined;
    const said = saidOf(target, expiresAt === undefined ? NEVER : epochSeconds(expiresAt));
    return `${PREFIX}${Buffer.concat([said, macOf(secret, said)]).toString('base64url')}`;
  };

  /** @returns undefined for a forged or expired token, and if hosted pages are off */
  const read = async (token: string): Promise<LinkTarget | undefined> => {
    if (!FORM.test(token)) return undefined;
    const bytes = Buffer.from(token.slice(PREFIX.length), 'base64url');
    const [said, mac] = [bytes.subarray(0, MAC_AT), bytes.subarray(MAC_AT)];
    const isSigned = (await secrets()).some((secret) => timingSafeEqual(macOf(secret, said), mac));
    const head = said.readUIntBE(0, HEAD_BYTES);
    const kind = LINK_KINDS[Math.floor(head / KIND_UNIT)];
    const expiry = head % KIND_UNIT;
    const isOver = expiry !== NEVER && expiry * SECOND_MS <= now();
    if (!isSigned || kind === undefined || isOver) return undefined;
    return { kind, id: `${ID_PREFIX[kind]}_${said.subarray(HEAD_BYTES).toString('hex')}` };
  };

  /** True if hosted pages are on and have a secret. */
  const areOn = async (): Promise<boolean> => (await secrets()).length > 0;

  return { issue, read, areOn };
};
