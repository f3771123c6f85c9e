import { documentedEndpoints, endpoints } from '../../../functions/api/catalogue.ts';
import { rolesOfScope, SCOPE_TABLE, SCOPES, STAFF_ROLES, scopesOfRoute } from '../../../shared/access/scopes.ts';
import { ERRORS } from '../../../shared/core/errors.ts';
import type { Endpoint } from '../../../shared/http/endpoint.ts';
import { prose } from '../../../shared/openapi/api-document.ts';
import { ERROR_CODES, meaningOfCode } from '../../../shared/openapi/error-responses.ts';
import { groupOf, groups } from '../../../shared/openapi/groups.ts';

/** The parts of docs/routes.md, with the same groups and texts as in the API document. */
export const routeParts = () => ({
  scopes: scopeTable(),
  routes: [...groups.map(sectionOf), ...pageSections()].join('\n\n'),
  errors: errorTable(),
});

const sectionOf = ({ name, description }: (typeof groups)[number]): string =>
  section(
    { name, description },
    documentedEndpoints.filter((endpoint) => groupOf(endpoint) === name),
  );

const PAGES = [
  ['console', 'Console', 'The [console](console.md): a page for browsers. The API document leaves it out.'],
  ['pages', 'Hosted page', 'The [page](guides/hosted-pages.md) that links open. The API document leaves it out.'],
] as const;

/** For browsers only, so the API document does not list them. */
const pageSections = (): readonly string[] =>
  PAGES.map(([page, name, description]) =>
    section(
      { name, description },
      endpoints.filter(({ serves }) => serves === page),
    ),
  );

const section = ({ name, description }: (typeof groups)[number], own: readonly Endpoint[]): string =>
  [`## ${name}`, prose(description), tableOf(own), ...own.flatMap(textOf)].join('\n\n');

const tableOf = (own: readonly Endpoint[]): string =>
  [
    '| Route | Who | Scopes | Does |',
    '|---|---|---|---|',
    ...own.map(
      ({ id, method, path, auth, summary }) => `| \`${method} ${path}\` | ${auth} | ${scopesOf(id)} | ${summary} |`,
    ),
  ].join('\n');

/** The scope for the payer of X-Act-For, and the scopes for the merchant. One scope may be both. */
const scopesOf = (endpointId: string): string => {
  const { payer, merchant, held } = scopesOfRoute(endpointId) ?? {};
  if (payer === merchant) return payer === undefined ? '' : `\`${payer}\``;
  return [
    ...(payer === undefined ? [] : [`payer: \`${payer}\``]),
    ...(merchant === undefined ? [] : [`merchant: \`${merchant}\``]),
    ...(held === undefined ? [] : [`merchant, for a hold: \`${held}\``]),
  ].join(', ');
};

const scopeTable = (): string =>
  [
    `| Scope | Permits | ${STAFF_ROLES.join(' | ')} |`,
    `|---|---|${STAFF_ROLES.map(() => '---|').join('')}`,
    ...SCOPES.map((scope) => {
      const roles = STAFF_ROLES.map((role) => (rolesOfScope(scope).includes(role) ? 'yes' : ''));
      return `| \`${scope}\` | ${SCOPE_TABLE[scope].words} | ${roles.join(' | ')} |`;
    }),
  ].join('\n');

const textOf = ({ method, path, description }: Endpoint): readonly string[] =>
  description === undefined ? [] : [`**\`${method} ${path}\`**: ${prose(description)}`];

const errorTable = (): string =>
  [
    '| Status | Code | When, and what to do |',
    '|---|---|---|',
    ...ERROR_CODES.map((code) => `| ${ERRORS[code][0]} | \`${code}\` | ${prose(meaningOfCode(code))} |`),
  ].join('\n');
