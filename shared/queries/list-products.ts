/** @module The active products, newest first, with the fields that buyers see. */

import * as z from 'zod';
import { productRecord } from '../catalog/catalog-records.ts';
import { buyersProductView } from '../catalog/catalog-view.ts';
import { idSchema } from '../http/fields.ts';
import { cursorReply, runList, wholeNumberParameter } from '../http/paging.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import { decodePlace, encodePlace } from '../platform/cursor.ts';
import { listSort, referenceKey, referencePartition } from '../platform/keys.ts';
import { type Cursor, listRows } from '../platform/listing.ts';
import type { StoreDeps } from '../platform/table.ts';
import { cursorParameter } from './parameters.ts';

const MAX_PER_PAGE = 100;
const PER_PAGE = 25;

export const listProductsQuery = z.object({
  limit: wholeNumberParameter(1, MAX_PER_PAGE).default(PER_PAGE).describe('Products per page, 1 to 100; 25 if absent.'),
  cursor: cursorParameter,
});
type ListProductsQuery = z.output<typeof listProductsQuery>;

const LIST = 'products';

export const listProducts = async (
  { table }: StoreDeps,
  { query: { limit, cursor } }: ApiRequest<unknown, ListProductsQuery>,
): Promise<Reply> =>
  runList(table, {
    findPage: () =>
      listRows(table, {
        index: 'owner',
        partition: referencePartition('products'),
        descending: true,
        // Includes products without `f.a`, stored before this list existed. The record decides about those.
        filter: [{ any: [{ lacks: 'f.a' }, { equals: ['f.a', true] }] }],
        offset: 0,
        limit,
        ...(cursor !== undefined && { cursor: startOf(cursor) }),
      }),
    recordOf: (item) => {
      const product = productRecord.parse(item);
      return product?.is_active ? product : undefined;
    },
    viewsOf: (products) => products.map(buyersProductView),
    replyOf: (views, { next }) => cursorReply(views, { limit, cursor: next && encodePlace(placeOf(next), LIST) }),
  });

/** Splits at the first `#`, because an id may contain `#`. */
const placeOf = ({ sort }: Cursor): readonly [createdAt: string, id: string] => {
  const end = sort.indexOf('#');
  return [sort.slice(0, end), sort.slice(end + 1)];
};

const placeSchema = z.tuple([z.iso.datetime({ precision: 3 }), idSchema]);

/** @throws DomainError VALIDATION_ERROR for a text that is not a cursor of this list */
const startOf = (cursor: string): Cursor => {
  const [createdAt, id] = decodePlace(cursor, LIST, placeSchema);
  return { ...referenceKey('products', id), sort: listSort(createdAt, id) };
};
