/** @module The session and clock commands, for the local host only. */

import * as z from 'zod';
import { DEMO_SESSIONS } from '../../local/identity/identity.ts';
import { type Control, NotReachable } from '../installation/control.ts';
import type { Installation } from '../installation/installation.ts';
import { columns, type Report } from './report.ts';

const requireControl = ({ control, name }: Installation): Control => {
  if (control) return control;
  throw new NotReachable(`${name} is a deployed stage: the commands sessions and clock work on the local host only`);
};

export const listDemoSessions = async (installation: Installation): Promise<Report> => {
  requireControl(installation);
  const sessions = DEMO_SESSIONS.map(({ session_id, user_id, email, is_admin }) => ({
    session_id,
    user_id,
    email,
    is_admin,
  }));
  return {
    json: { sessions },
    lines: columns(
      sessions.map((one) => [one.session_id, one.user_id, one.email, one.is_admin ? 'platform admin' : '']),
    ),
    exitCode: 0,
  };
};

export interface SessionOptions {
  readonly email: string;
  readonly userId?: string | undefined;
  readonly organizationId?: string | undefined;
  readonly admin?: boolean | undefined;
}

const madeSchema = z.object({ session_id: z.string(), user_id: z.string(), token: z.string() });

export const makeSession = async (
  installation: Installation,
  { email, userId, organizationId, admin }: SessionOptions,
): Promise<Report> => {
  const body = { email, user_id: userId, organization_id: organizationId, is_admin: admin };
  const made = madeSchema.parse(await requireControl(installation)('POST', '/sessions', body));
  return {
    json: made,
    lines: [`X-Session-ID: ${made.session_id}`, `Authorization: Bearer ${made.token}`, `user ${made.user_id}`],
    exitCode: 0,
  };
};

const clockSchema = z.object({ now: z.string(), frozen: z.boolean() });

/** @param move `{set}`, `{advance}` in seconds or `{freeze}`; undefined to only show the clock. */
export const showOrMoveClock = async (
  installation: Installation,
  move?: Readonly<Record<string, unknown>>,
): Promise<Report> => {
  const control = requireControl(installation);
  const { now, frozen } = clockSchema.parse(await (move ? control('POST', '/clock', move) : control('GET', '/clock')));
  return { json: { now, frozen }, lines: [`${now}${frozen ? ', frozen' : ''}`], exitCode: 0 };
};

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };

/** Converts `90`, `15m` or `3d` to seconds. @throws NotReachable */
export const parseSeconds = (text: string): number => {
  const [, number, unit = 's'] = /^(\d+)([smhdw])?$/.exec(text) ?? [];
  const seconds = Number(number) * (UNITS[unit] ?? Number.NaN);
  if (Number.isFinite(seconds)) return seconds;
  throw new NotReachable(`${text} is not a duration: use 90, 15m, 3h, 2d or 1w`);
};
