import * as z from 'zod';
import type { NamedRecord } from '../access/record-kind.ts';
import type { ReferenceKind } from '../table/keys.ts';
import type { Item } from '../table/table.ts';
import { inviteSchema, productSchema, projectRecord, projectSchema, tierSchema } from './records.ts';
import { REFERENCE_BODIES } from './requests.ts';
import { inviteView, productView, wholeProjectView, wholeTierView } from './view.ts';

/** Stored fields of the reference records of every kind. */
export interface StoredReference {
  readonly id: string;
  readonly version: number;
  readonly created_at: string;
  readonly updated_at: string;
}

/** How records of a kind are checked, stored and shown. */
export interface CatalogKind {
  /** The name in errors. */
  readonly resource: string;
  readonly body: z.ZodType;
  parse(item: Item): StoredReference;
  view(item: Item): unknown;
  /** The fields that lists filter by, under short names. */
  listFields(item: Item): Readonly<Record<string, boolean>>;
}

export const REFERENCES: Readonly<Record<ReferenceKind, CatalogKind>> = {
  products: {
    resource: 'product',
    body: REFERENCE_BODIES.products,
    parse: (item) => productSchema.parse(item),
    view: (item) => productView(productSchema.parse(item)),
    listFields: () => ({}),
  },
  projects: {
    resource: 'project',
    body: REFERENCE_BODIES.projects,
    parse: (item) => projectSchema.parse(item),
    view: (item) => wholeProjectView(projectSchema.parse(item)),
    listFields: () => ({}),
  },
  tiers: {
    resource: 'tier',
    body: REFERENCE_BODIES.tiers,
    parse: (item) => tierSchema.parse(item),
    view: (item) => wholeTierView(tierSchema.parse(item)),
    listFields: (item) => ({ a: item['is_active'] === true }),
  },
  invites: {
    resource: 'invite',
    body: REFERENCE_BODIES.invites,
    parse: (item) => inviteSchema.parse(item),
    view: (item) => inviteView(inviteSchema.parse(item)),
    listFields: () => ({}),
  },
};

/** The project that the query of a list names. */
export const projectNamed = (query: unknown): readonly NamedRecord[] => {
  const parsed = projectQuery.safeParse(query);
  return parsed.success ? [{ kind: projectRecord, id: parsed.data.project_id }] : [];
};

const projectQuery = z.looseObject({ project_id: z.string() });
