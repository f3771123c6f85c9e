import { documentedEndpoints, endpoints } from '../../../functions/api/catalogue.ts';
import { SCOPE_TEXTS } from '../../../shared/access/scope-texts.ts';
import { rolesOfScope, SCOPES, STAFF_ROLES, scopesOfRoute } from '../../../shared/access/scopes.ts';
import { ERRORS } from '../../../shared/core/errors.ts';
import type { Endpoint } from '../../../shared/http/endpoint.ts';
import { ERROR_CODES } from '../../../shared/openapi/error-responses.ts';
import { groupOf, groups } from '../../../shared/openapi/groups.ts';

/** The parts of docs/routes.md, with one line per route and per error status. The API document has the full texts. */
export const routeParts = () => ({
  scopes: scopeTable(),
  routes: [...groups.map(sectionOf), ...pageSections()].join('\n\n'),
  errors: errorList(),
});

const sectionOf = ({ name }: (typeof groups)[number]): string =>
  section(
    name,
    documentedEndpoints.filter((endpoint) => groupOf(endpoint) === name),
  );

const PAGES = [
  ['console', 'Console'],
  ['pages', 'Hosted page'],
] as const;

/** Pages for browsers, which the API document does not list. */
const pageSections = (): readonly string[] =>
  PAGES.map(([page, name]) =>
    section(
      name,
      endpoints.filter(({ serves }) => serves === page),
    ),
  );

const section = (name: string, own: readonly Endpoint[]): string => `## ${name}\n\n${tableOf(own)}`;

const tableOf = (own: readonly Endpoint[]): string =>
  [
    '| Route | Who, scopes | Does |',
    '|---|---|---|',
    ...own.map((endpoint) => {
      const { method, path, auth, summary } = endpoint;
      return `| \`${method} ${path}\` | ${[auth, ...scopesOf(endpoint)].join(', ')} | ${summary} |`;
    }),
  ].join('\n');

/** The scope for acting as a payer (X-Act-For) and the merchant's scopes. One scope may be both. */
const scopesOf = ({ id, auth }: Endpoint): readonly string[] => {
  const { payer, merchant, held } = scopesOfRoute(id) ?? {};
  const isOne = payer === merchant || auth === 'platform-admin';
  const named: readonly (readonly [whose: string, scope: string | undefined])[] = isOne
    ? [['', merchant]]
    : [
        ['payer ', payer],
        ['merchant ', merchant],
        ['for a hold ', held],
      ];
  return named.flatMap(([whose, scope]) => (scope === undefined ? [] : [`${whose}\`${scope}\``]));
};

const scopeTable = (): string =>
  [
    '| Scope | Permits | Staff |',
    '|---|---|---|',
    ...SCOPES.map((scope) => {
      const roles = STAFF_ROLES.filter((role) => rolesOfScope(scope).includes(role));
      return `| \`${scope}\` | ${SCOPE_TEXTS[scope]} | ${roles.join(', ')} |`;
    }),
  ].join('\n');

const errorList = (): string => {
  const byStatus = [...Map.groupBy(ERROR_CODES, (code) => ERRORS[code][0])].toSorted(([one], [other]) => one - other);
  return byStatus.map(([status, codes]) => `- ${status}: ${codes.map((code) => `\`${code}\``).join(', ')}`).join('\n');
};
