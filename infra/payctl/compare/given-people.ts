/** @module Reads an operator's file of people, one per line. Empty lines and lines that start with # are skipped. */

import { readFileSync } from 'node:fs';
import type { KnownOfRestored } from '../../../shared/payments/restore-payment.ts';
import type { Subject } from '../../../shared/removal/erasure-job.ts';
import { NotReachable } from '../installation/control.ts';
import type { Owners } from './lost-payments.ts';

const linesOf = (file: string): readonly string[] => {
  try {
    return readFileSync(file, 'utf8')
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '' && !line.startsWith('#'));
  } catch (error) {
    throw new NotReachable(`${file} cannot be read`, { cause: error });
  }
};

const OWNED = /^(pay_[0-9a-f]{24})\s+(user|organization|guest):(\S+)(?:\s+(\S+@\S+))?$/;

/** @throws NotReachable naming the first invalid line */
export const readOwners = (file: string): Owners =>
  new Map(
    linesOf(file).map((line) => {
      const [, paymentId, kind, id, email] = OWNED.exec(line) ?? [];
      if (paymentId === undefined || (kind === 'guest') !== (email !== undefined)) {
        throw new NotReachable(`${line}: use pay_… user:<id>, organization:<id>, or guest:<id> <e-mail>`);
      }
      return [paymentId, ownerOf(kind, id, email)];
    }),
  );

const ownerOf = (kind: string | undefined, id: string | undefined, email: string | undefined): KnownOfRestored => {
  if (kind === 'guest') return { guestId: id, guestEmail: email };
  return kind === 'user' ? { userId: id } : { organizationId: id };
};

const PERSON = /^(user|email):(\S+)$/;

/** The people in a list of erasures. @throws NotReachable naming the first invalid line */
export const readErased = (file: string): readonly Subject[] =>
  linesOf(file).map((line) => {
    const [, kind, value] = PERSON.exec(line) ?? [];
    if (value === undefined) throw new NotReachable(`${line}: use user:<id> or email:<address>`);
    return kind === 'user' ? { kind: 'user', userId: value } : { kind: 'email', email: value.toLowerCase() };
  });
