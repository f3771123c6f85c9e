/** @module Users and sessions of the local identity service, kept between runs. */

import * as z from 'zod';
import type { State } from '../machine/sqlite.ts';

const personSchema = z.object({
  id: z.string(),
  email: z.string(),
  name: z.string().nullable(),
  last_name: z.string().nullable(),
  picture: z.string().nullable(),
});
export type LocalUser = z.infer<typeof personSchema>;

const sessionSchema = z.object({
  id: z.string(),
  user_id: z.string(),
  email: z.string(),
  organization_id: z.string().nullable(),
  is_admin: z.number(),
  staff_role: z.string().nullable(),
  /** Epoch ms. */
  expires_at: z.number(),
});
export type SessionRow = z.infer<typeof sessionSchema>;

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS people (id TEXT PRIMARY KEY, email TEXT NOT NULL, name TEXT, last_name TEXT, picture TEXT);
  CREATE INDEX IF NOT EXISTS people_by_email ON people (lower(email));
  CREATE TABLE IF NOT EXISTS sessions (id TEXT PRIMARY KEY, user_id TEXT NOT NULL, organization_id TEXT,
    is_admin INTEGER NOT NULL, expires_at INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS staff (session_id TEXT PRIMARY KEY, staff_role TEXT NOT NULL);`;

export interface UserInput {
  readonly id: string;
  readonly email: string;
  readonly name?: string | undefined;
  readonly last_name?: string | undefined;
  readonly picture?: string | undefined;
}

export const openUsers = (state: State) => {
  state.define(SCHEMA);
  const byId = state.read('SELECT * FROM people WHERE id = ?', personSchema);
  const byEmail = state.read('SELECT * FROM people WHERE lower(email) = lower(?) ORDER BY rowid LIMIT 1', personSchema);
  const save = state.write(
    `INSERT INTO people (id, email, name, last_name, picture) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET email = excluded.email, name = coalesce(excluded.name, name),
       last_name = coalesce(excluded.last_name, last_name), picture = coalesce(excluded.picture, picture)`,
  );
  const session = state.read(
    `SELECT sessions.id, user_id, email, organization_id, is_admin, staff_role, expires_at
     FROM sessions JOIN people ON people.id = user_id LEFT JOIN staff ON session_id = sessions.id
     WHERE sessions.id = ?`,
    sessionSchema,
  );
  const open = state.write(
    'INSERT INTO sessions (id, user_id, organization_id, is_admin, expires_at) VALUES (?, ?, ?, ?, ?)',
  );

  const employ = state.write('INSERT OR REPLACE INTO staff (session_id, staff_role) VALUES (?, ?)');

  return {
    byId: (id: string): LocalUser | undefined => byId.first(id),
    byEmail: (email: string): LocalUser | undefined => byEmail.first(email),
    /** Creates the user, or updates the given fields. */
    save: (person: UserInput): UserInput => {
      save(person.id, person.email, person.name ?? null, person.last_name ?? null, person.picture ?? null);
      return person;
    },
    session: (id: string): SessionRow | undefined => session.first(id),
    open: (row: SessionRow): SessionRow => {
      open(row.id, row.user_id, row.organization_id, row.is_admin, row.expires_at);
      if (row.staff_role !== null) employ(row.id, row.staff_role);
      return row;
    },
  };
};
