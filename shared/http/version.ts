import { invalid } from '../core/errors.ts';

/** Dated versions of the API, oldest first. A breaking change is a new date; the old one stays for 12 months. */
export const API_VERSIONS = ['2026-11-01'] as const;

/** The version asked for by X-API-Version; missing means the oldest supported. */
export const apiVersion = (header: string | undefined): string => {
  if (header === undefined) return API_VERSIONS[0];
  if (!/^\d{4}-\d{2}-\d{2}$/.test(header) || Number.isNaN(Date.parse(header))) {
    throw invalid([{ path: 'X-API-Version', rule: 'date', message: 'must be a date, YYYY-MM-DD' }]);
  }
  return header;
};
