/** @module The times that an operator gives. A time of day names its zone, because a zone that is assumed may be wrong by hours. */

import { NotReachable } from '../installation/control.ts';

const TIME = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2}))?$/;

/** ISO 8601 in UTC; a date alone is its midnight in UTC. @throws NotReachable */
export const parseTime = (text: string): string => {
  const at = TIME.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at)) throw new NotReachable(`${text} is not a time: use 2026-11-01 or 2026-11-01T10:00:00Z`);
  return new Date(at).toISOString();
};
