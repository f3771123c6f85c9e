import * as z from 'zod';
import { invalid } from '../core/errors.ts';
import type { Cursor } from './listing.ts';

/** `next_cursor` is the position after a row: opaque to callers, and validated when a caller sends it. */
const cursorSchema = z.tuple([z.string().max(200), z.string().max(100), z.string().max(200)]);

export const encodeCursor = ({ pk, sk, sort }: Cursor): string =>
  Buffer.from(JSON.stringify([pk, sk, sort])).toString('base64url');

/** @throws DomainError VALIDATION_ERROR */
export const decodeCursor = (text: string): Cursor => {
  try {
    const [pk, sk, sort] = cursorSchema.parse(JSON.parse(Buffer.from(text, 'base64url').toString('utf8')));
    return { pk, sk, sort };
  } catch {
    throw invalid([{ path: 'cursor', rule: 'cursor', message: 'must be the next_cursor of an earlier answer' }]);
  }
};
