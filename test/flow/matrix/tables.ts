/**
 * @module Access rules as tables, written by hand and not read from the service. A row is a caller, a column is a
 * record, and a cell is the expected status. `ok` is the success status of the route, and only a request with `ok` may
 * change anything. `-` means that the table has no request for this caller and column.
 */

export const CALLERS = [
  'anonymous',
  'bad session',
  'expired session',
  'guest_data',
  "other's guest_data",
  'own guest token',
  "other's guest token",
  'user without organization',
  'member',
  'billing',
  'admin',
  'owner',
  'owner of another organization',
  'platform admin',
] as const;
export type CallerName = (typeof CALLERS)[number];

/** The owner of the record in the path, or of the record or organization in the request. */
export const COLUMNS = ['own', "another's", 'organization', 'another organization', 'guest'] as const;
export type Column = (typeof COLUMNS)[number];

export type ExpectedCell = 'ok' | '-' | number;
export type MatrixTable = Readonly<Record<CallerName, Readonly<Record<Column, ExpectedCell>>>>;

const tableOf = (text: string): MatrixTable => {
  const rows = text
    .trim()
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()));
  const cellOf = (cell: string | undefined): ExpectedCell => (cell === 'ok' || cell === '-' ? cell : Number(cell));
  const table = Object.fromEntries(
    rows.map(([caller = '', ...cells]) => [
      caller,
      Object.fromEntries(COLUMNS.map((column, index) => [column, cellOf(cells[index])])),
    ]),
  );
  for (const caller of CALLERS) {
    const cells = Object.values(table[caller] ?? {});
    const complete = cells.length === COLUMNS.length && !cells.some((cell) => Number.isNaN(cell));
    if (!complete) throw new Error(`the row of ${caller} is not complete`);
  }
  return table as MatrixTable;
};

/** Reads of a record, for which only a session counts. */
export const READ = tableOf(`
anonymous                     | 401 | 401 | 401 | 401 | 401
bad session                   | 401 | 401 | 401 | 401 | 401
expired session               | 401 | 401 | 401 | 401 | 401
guest_data                    | 401 | 401 | 401 | 401 | 401
other's guest_data            | 401 | 401 | 401 | 401 | 401
own guest token               | 401 | 401 | 401 | 401 | 401
other's guest token           | 401 | 401 | 401 | 401 | 401
user without organization     | ok  | 404 | 403 | 403 | 404
member                        | ok  | 404 | ok  | 403 | 404
billing                       | ok  | 404 | ok  | 403 | 404
admin                         | ok  | 404 | ok  | 403 | 404
owner                         | ok  | 404 | ok  | 403 | 404
owner of another organization | ok  | 404 | 403 | ok  | 404
platform admin                | ok  | ok  | ok  | ok  | ok
`);

/** A guest token opens the guest's own record only. */
const BY_TOKEN = {
  'own guest token': { own: 404, "another's": 404, organization: 404, 'another organization': 404, guest: 'ok' },
  "other's guest token": { own: 404, "another's": 404, organization: 404, 'another organization': 404, guest: 404 },
} as const satisfies Partial<MatrixTable>;

/** Reading a record that a guest may read by token. */
export const READ_BY_TOKEN: MatrixTable = { ...READ, ...BY_TOKEN };

/** Changes of a record, for which only a session counts. */
export const WRITE = tableOf(`
anonymous                     | 401 | 401 | 401 | 401 | 401
bad session                   | 401 | 401 | 401 | 401 | 401
expired session               | 401 | 401 | 401 | 401 | 401
guest_data                    | 401 | 401 | 401 | 401 | 401
other's guest_data            | 401 | 401 | 401 | 401 | 401
own guest token               | 401 | 401 | 401 | 401 | 401
other's guest token           | 401 | 401 | 401 | 401 | 401
user without organization     | ok  | 404 | 403 | 403 | 404
member                        | ok  | 404 | 403 | 403 | 404
billing                       | ok  | 404 | ok  | 403 | 404
admin                         | ok  | 404 | ok  | 403 | 404
owner                         | ok  | 404 | ok  | 403 | 404
owner of another organization | ok  | 404 | 403 | ok  | 404
platform admin                | ok  | 403 | 403 | 403 | 403
`);

/** Actions of owners on their record, and of platform admins on every record. */
export const WRITE_OR_ADMIN: MatrixTable = {
  ...WRITE,
  'platform admin': { own: 'ok', "another's": 'ok', organization: 'ok', 'another organization': 'ok', guest: 'ok' },
};

/** Confirmations of a payment. A guest may confirm a payment of their own by token. */
export const WRITE_BY_TOKEN: MatrixTable = { ...WRITE, ...BY_TOKEN };

/**
 * Creates of a record. The columns are a personal record, a record with another user's address, a record in each of the
 * two organizations, and a record with the guest's address. The guest's address is new, so a request with the same
 * e-mail may name the address.
 */
export const CREATE = tableOf(`
anonymous                     | 401 | 401 | 401 | 401 | 401
bad session                   | 401 | 401 | 401 | 401 | 401
expired session               | 401 | 401 | 401 | 401 | 401
guest_data                    | ok  | 404 | 403 | 403 | ok
other's guest_data            | ok  | 404 | 403 | 403 | 404
own guest token               | ok  | 404 | 403 | 403 | ok
other's guest token           | ok  | 404 | 403 | 403 | 404
user without organization     | ok  | 404 | 403 | 403 | 404
member                        | ok  | 404 | 403 | 403 | 404
billing                       | ok  | 404 | ok  | 403 | 404
admin                         | ok  | 404 | ok  | 403 | 404
owner                         | ok  | 404 | ok  | 403 | 404
owner of another organization | ok  | 404 | 403 | ok  | 404
platform admin                | ok  | 403 | 403 | 403 | 403
`);

/** Creating a record that also names the caller's own records, or a stranger's if the caller has only guest_data. */
export const CREATE_FROM_OWN: MatrixTable = {
  ...CREATE,
  guest_data: { ...CREATE.guest_data, own: 404, guest: 404 },
  "other's guest_data": { ...CREATE["other's guest_data"], own: 404 },
};

/** Creating a record that names no other record. */
export const CREATE_ALONE = tableOf(`
anonymous                     | 401 | - | 401 | 401 | -
bad session                   | 401 | - | 401 | 401 | -
expired session               | 401 | - | 401 | 401 | -
guest_data                    | ok  | - | 403 | 403 | -
other's guest_data            | ok  | - | 403 | 403 | -
own guest token               | ok  | - | 403 | 403 | -
other's guest token           | ok  | - | 403 | 403 | -
user without organization     | ok  | - | 403 | 403 | -
member                        | ok  | - | 403 | 403 | -
billing                       | ok  | - | ok  | 403 | -
admin                         | ok  | - | ok  | 403 | -
owner                         | ok  | - | ok  | 403 | -
owner of another organization | ok  | - | 403 | ok  | -
platform admin                | ok  | - | 403 | 403 | -
`);

/** Requests for the payer that the credential names. */
export const ASK_AS_PAYER = tableOf(`
anonymous                     | 401 | - | - | - | -
bad session                   | 401 | - | - | - | -
expired session               | 401 | - | - | - | -
guest_data                    | ok  | - | - | - | -
other's guest_data            | ok  | - | - | - | -
own guest token               | ok  | - | - | - | -
other's guest token           | ok  | - | - | - | -
user without organization     | ok  | - | - | - | -
member                        | ok  | - | - | - | -
billing                       | ok  | - | - | - | -
admin                         | ok  | - | - | - | -
owner                         | ok  | - | - | - | -
owner of another organization | ok  | - | - | - | -
platform admin                | ok  | - | - | - | -
`);

/** Listing the caller's own records, or those of an organization. */
export const LIST = tableOf(`
anonymous                     | 401 | - | 401 | 401 | -
bad session                   | 401 | - | 401 | 401 | -
expired session               | 401 | - | 401 | 401 | -
guest_data                    | 401 | - | 401 | 401 | -
other's guest_data            | 401 | - | 401 | 401 | -
own guest token               | 401 | - | 401 | 401 | -
other's guest token           | 401 | - | 401 | 401 | -
user without organization     | ok  | - | 403 | 403 | -
member                        | ok  | - | ok  | 403 | -
billing                       | ok  | - | ok  | 403 | -
admin                         | ok  | - | ok  | 403 | -
owner                         | ok  | - | ok  | 403 | -
owner of another organization | ok  | - | 403 | ok  | -
platform admin                | ok  | - | ok  | ok  | -
`);

/** Listing the records of the caller, another user or an organization. */
export const LIST_OF_ENTITY = tableOf(`
anonymous                     | 401 | 401 | 401 | 401 | -
bad session                   | 401 | 401 | 401 | 401 | -
expired session               | 401 | 401 | 401 | 401 | -
guest_data                    | 401 | 401 | 401 | 401 | -
other's guest_data            | 401 | 401 | 401 | 401 | -
own guest token               | 401 | 401 | 401 | 401 | -
other's guest token           | 401 | 401 | 401 | 401 | -
user without organization     | ok  | 404 | 403 | 403 | -
member                        | ok  | 404 | ok  | 403 | -
billing                       | ok  | 404 | ok  | 403 | -
admin                         | ok  | 404 | ok  | 403 | -
owner                         | ok  | 404 | ok  | 403 | -
owner of another organization | ok  | 404 | 403 | ok  | -
platform admin                | ok  | ok  | ok  | ok  | -
`);

/** Listing the caller's own records, or those of an organization. A guest may list by token. */
export const LIST_BY_TOKEN = tableOf(`
anonymous                     | 401 | - | 401 | 401 | -
bad session                   | 401 | - | 401 | 401 | -
expired session               | 401 | - | 401 | 401 | -
guest_data                    | 401 | - | 401 | 401 | -
other's guest_data            | 401 | - | 401 | 401 | -
own guest token               | ok  | - | 403 | 403 | -
other's guest token           | ok  | - | 403 | 403 | -
user without organization     | ok  | - | 403 | 403 | -
member                        | ok  | - | ok  | 403 | -
billing                       | ok  | - | ok  | 403 | -
admin                         | ok  | - | ok  | 403 | -
owner                         | ok  | - | ok  | 403 | -
owner of another organization | ok  | - | 403 | ok  | -
platform admin                | ok  | - | ok  | ok  | -
`);

/** Actions of every signed-in user, but of no guest. */
export const SIGNED_IN = tableOf(`
anonymous                     | 401 | - | - | - | -
bad session                   | 401 | - | - | - | -
expired session               | 401 | - | - | - | -
guest_data                    | 401 | - | - | - | -
other's guest_data            | 401 | - | - | - | -
own guest token               | 401 | - | - | - | -
other's guest token           | 401 | - | - | - | -
user without organization     | ok  | - | - | - | -
member                        | ok  | - | - | - | -
billing                       | ok  | - | - | - | -
admin                         | ok  | - | - | - | -
owner                         | ok  | - | - | - | -
owner of another organization | ok  | - | - | - | -
platform admin                | ok  | - | - | - | -
`);

/** Reads of an organization's members. */
export const ORGANIZATION_READ = tableOf(`
anonymous                     | - | - | 401 | 401 | -
bad session                   | - | - | 401 | 401 | -
expired session               | - | - | 401 | 401 | -
guest_data                    | - | - | 401 | 401 | -
other's guest_data            | - | - | 401 | 401 | -
own guest token               | - | - | 401 | 401 | -
other's guest token           | - | - | 401 | 401 | -
user without organization     | - | - | 403 | 403 | -
member                        | - | - | ok  | 403 | -
billing                       | - | - | ok  | 403 | -
admin                         | - | - | ok  | 403 | -
owner                         | - | - | ok  | 403 | -
owner of another organization | - | - | 403 | ok  | -
platform admin                | - | - | ok  | ok  | -
`);

/** Actions of the owner only. */
export const OWNER_ONLY = tableOf(`
anonymous                     | - | - | 401 | 401 | -
bad session                   | - | - | 401 | 401 | -
expired session               | - | - | 401 | 401 | -
guest_data                    | - | - | 401 | 401 | -
other's guest_data            | - | - | 401 | 401 | -
own guest token               | - | - | 401 | 401 | -
other's guest token           | - | - | 401 | 401 | -
user without organization     | - | - | 403 | 403 | -
member                        | - | - | 403 | 403 | -
billing                       | - | - | 403 | 403 | -
admin                         | - | - | 403 | 403 | -
owner                         | - | - | ok  | 403 | -
owner of another organization | - | - | 403 | ok  | -
platform admin                | - | - | 403 | 403 | -
`);

/** Leaving, which every member except the owner may do. */
export const LEAVE = tableOf(`
anonymous                     | - | - | 401 | 401 | -
bad session                   | - | - | 401 | 401 | -
expired session               | - | - | 401 | 401 | -
guest_data                    | - | - | 401 | 401 | -
other's guest_data            | - | - | 401 | 401 | -
own guest token               | - | - | 401 | 401 | -
other's guest token           | - | - | 401 | 401 | -
user without organization     | - | - | 403 | 403 | -
member                        | - | - | ok  | 403 | -
billing                       | - | - | ok  | 403 | -
admin                         | - | - | ok  | 403 | -
owner                         | - | - | 400 | 403 | -
owner of another organization | - | - | 403 | 400 | -
platform admin                | - | - | 403 | 403 | -
`);

/** Actions of platform admins only. */
export const PLATFORM_ADMIN = tableOf(`
anonymous                     | 401 | - | - | - | -
bad session                   | 401 | - | - | - | -
expired session               | 401 | - | - | - | -
guest_data                    | 401 | - | - | - | -
other's guest_data            | 401 | - | - | - | -
own guest token               | 401 | - | - | - | -
other's guest token           | 401 | - | - | - | -
user without organization     | 403 | - | - | - | -
member                        | 403 | - | - | - | -
billing                       | 403 | - | - | - | -
admin                         | 403 | - | - | - | -
owner                         | 403 | - | - | - | -
owner of another organization | 403 | - | - | - | -
platform admin                | ok  | - | - | - | -
`);

/** Only platform admins refund and capture, and never a payment that they have made. */
export const REFUND = tableOf(`
anonymous                     | 401 | 401 | 401 | 401 | 401
bad session                   | 401 | 401 | 401 | 401 | 401
expired session               | 401 | 401 | 401 | 401 | 401
guest_data                    | 401 | 401 | 401 | 401 | 401
other's guest_data            | 401 | 401 | 401 | 401 | 401
own guest token               | 401 | 401 | 401 | 401 | 401
other's guest token           | 401 | 401 | 401 | 401 | 401
user without organization     | 403 | 403 | 403 | 403 | 403
member                        | 403 | 403 | 403 | 403 | 403
billing                       | 403 | 403 | 403 | 403 | 403
admin                         | 403 | 403 | 403 | 403 | 403
owner                         | 403 | 403 | 403 | 403 | 403
owner of another organization | 403 | 403 | 403 | 403 | 403
platform admin                | 403 | ok  | ok  | ok  | ok
`);

/** Reading log entries, by sessions without an organization. Callers see their own, and platform admins see all. */
export const LOG_READ = tableOf(`
anonymous                     | 401 | 401 | 401 | 401 | 401
bad session                   | 401 | 401 | 401 | 401 | 401
expired session               | 401 | 401 | 401 | 401 | 401
guest_data                    | 401 | 401 | 401 | 401 | 401
other's guest_data            | 401 | 401 | 401 | 401 | 401
own guest token               | 401 | 401 | 401 | 401 | 401
other's guest token           | 401 | 401 | 401 | 401 | 401
user without organization     | ok  | 404 | 404 | 404 | 404
member                        | ok  | 404 | 404 | 404 | 404
billing                       | ok  | 404 | 404 | 404 | 404
admin                         | ok  | 404 | 404 | 404 | 404
owner                         | ok  | 404 | 404 | 404 | 404
owner of another organization | ok  | 404 | 404 | 404 | 404
platform admin                | ok  | ok  | ok  | ok  | ok
`);

/** Resending the delivery of a log entry. No user may resend their own entries. */
export const LOG_REPLAY = tableOf(`
anonymous                     | 401 | 401 | 401 | 401 | 401
bad session                   | 401 | 401 | 401 | 401 | 401
expired session               | 401 | 401 | 401 | 401 | 401
guest_data                    | 401 | 401 | 401 | 401 | 401
other's guest_data            | 401 | 401 | 401 | 401 | 401
own guest token               | 401 | 401 | 401 | 401 | 401
other's guest token           | 401 | 401 | 401 | 401 | 401
user without organization     | 403 | 404 | 404 | 404 | 404
member                        | 403 | 404 | 404 | 404 | 404
billing                       | 403 | 404 | 404 | 404 | 404
admin                         | 403 | 404 | 404 | 404 | 404
owner                         | 403 | 404 | 404 | 404 | 404
owner of another organization | 403 | 404 | 404 | 404 | 404
platform admin                | ok  | ok  | ok  | ok  | ok
`);

const everybody = (cell: string): MatrixTable =>
  tableOf(CALLERS.map((caller) => `${caller} | ${cell} | - | - | - | -`).join('\n'));

/** Routes that need no credential and ignore every credential. */
export const PUBLIC = everybody('ok');
/** Routes that require the token of a hosted page, and give every other caller the same response. */
export const LINK_TOKEN = everybody('404');
/** Routes that require a provider's signature. */
export const SIGNATURE = everybody('401');
