/** @module Parses times from an operator. A time of day needs a zone, because an assumed zone may be wrong by hours. */

import { NotReachable } from '../installation/control.ts';

const TIME = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2}))?$/;

/** @returns ISO 8601 in UTC. A date alone means midnight UTC. @throws NotReachable */
export const parseTime = (text: string): string => {
  const at = TIME.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at)) throw new NotReachable(`${text} is not a time: use 2026-11-01 or 2026-11-01T10:00:00Z`);
  return new Date(at).toISOString();
};
