import type { Reply } from '../http/reply.ts';
import type { PageQuery } from './requests.ts';

export const offsetOf = ({ page, limit }: PageQuery): number => (page - 1) * limit;

/** Pages by number, with the total of all. */
export const pageReply = (data: readonly unknown[], total: number, { page, limit }: PageQuery): Reply => ({
  data,
  meta: { pagination: { total, page, pageSize: limit, totalPages: Math.ceil(total / limit) } },
});
